// Splits a command's words into options, in CLI11's form, and files.
#pragma once

#include <deque>
#include <span>
#include <string>
#include <vector>

#include "cli/options/option_table.hpp"

namespace hemstitch::cli {

struct SplitWords {
  std::vector<std::string> options;  // each option by its name, followed by its value
  std::vector<std::string> files;
};

// Throws UsageError.
SplitWords split_words(const std::deque<OptionRow>& rows, OptionTable::Habits habits,
                       std::span<const std::string> words);

}  // namespace hemstitch::cli
