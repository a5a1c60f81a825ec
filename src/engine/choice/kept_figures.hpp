// What `hemstitch backends --calibrate` measured on this machine, stored in the user's cache folder for
// `auto`.
//
// The file is $XDG_CACHE_HOME/hemstitch/figures, or ~/.cache/hemstitch/figures, and has lines of words and
// numbers. A wrong file can cost speed, but never correctness: numbers are clamped, and a file is ignored if
// it is incomplete or may not belong to the user. It is read and written only if the process's user owns the
// cache folder, the folder in it and the file, and if neither of the last two is a link. So under sudo,
// nothing is left in another user's home, and no other user's file is trusted.
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
    std::string device;  // the device that was measured; other devices have other figures
    BackendFigures figures;
  };

  unsigned cores = 0;  // with which host and processor were measured
  HostFigures host;
  std::vector<Row> rows;

  const Row* of(std::string_view backend) const;
};

std::string figures_text(const KeptFigures& kept);
// Nothing if `text` is incomplete.
std::optional<KeptFigures> parse_figures(std::string_view text);

// Nothing if there is no file that can be trusted. Does not throw.
std::optional<KeptFigures> load_figures() noexcept;
// Replaces the stored figures by renaming a new file, so a concurrent reader sees either the old or the new
// file whole. Returns the path. Throws kWriteFailed.
std::string keep_figures(const KeptFigures& kept);

}  // namespace hemstitch
