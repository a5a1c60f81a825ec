// Splits a command's words into options and files.
#pragma once

#include <deque>
#include <span>
#include <string>
#include <vector>

#include "cli/options/option_table.hpp"

namespace hemstitch::cli {

struct GivenOption {
  const OptionRow* row;
  std::string value;  // empty if it takes none
};

struct SplitWords {
  std::vector<GivenOption> options;  // in the order of the words
  std::vector<std::string> files;
};

// Throws UsageError.
SplitWords split_words(const std::deque<OptionRow>& rows, OptionTable::Habits habits,
                       std::span<const std::string> words);

}  // namespace hemstitch::cli
