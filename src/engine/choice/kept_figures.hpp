// What `hemstitch backends --calibrate` measured on this machine, kept in the user's cache folder for the choice by `auto`.
//
// The file is $XDG_CACHE_HOME/hemstitch/figures, or ~/.cache/hemstitch/figures: lines of words and numbers. It can cost speed, never
// correctness: numbers are clamped, and a file that is not whole, or not surely the user's own, counts as none. It is read and written
// only where the cache folder, the folder in it and the file belong to the process's own user, and neither of the last two is a link; so under
// sudo nothing is left in another user's home, and nothing of his is believed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hemstitch/choice.hpp"

namespace hemstitch {

struct KeptFigures {
  struct Row {
    std::string backend;
    std::string device;  // whose they are; another one has others
    BackendFigures figures;
  };

  unsigned cores = 0;  // by which host and processor were measured
  HostFigures host;
  std::vector<Row> rows;

  const Row* of(std::string_view backend) const;
};

std::string figures_text(const KeptFigures& kept);
// Nothing where `text` is not whole.
std::optional<KeptFigures> parse_figures(std::string_view text);

// Nothing where there are none that may be believed. Does not throw.
std::optional<KeptFigures> load_figures() noexcept;
// In place of those that are there, by another file's rename; whoever reads meanwhile reads one of both whole. Returns the path. Throws
// kWriteFailed.
std::string keep_figures(const KeptFigures& kept);

}  // namespace hemstitch
