// What `evaluate` and `analyze` share: their data, and finders as JSON.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/bench/recorded_run.hpp"
#include "cli/options/option_table.hpp"
#include "evaluate/finder_choice.hpp"
#include "format/format.hpp"

namespace hemstitch::cli {

struct NamedData {
  std::string name;  // of the file, without its folder
  std::vector<std::byte> bytes;
};

// Throws ToolError, also for an empty file, since there is nothing to measure.
NamedData read_named_data(const std::string& path);

// Throws ToolError with the description.
std::vector<FinderChoice> choose_finders(const std::vector<std::string>& descriptions);
// Adds --format, which says whose costs count: `format` stays null without it.
void add_judging_format_option(OptionTable& table, const FrameFormat*& format);
// The names of the processor and of the GPU, if they are used.
std::string devices_of(const std::vector<FinderChoice>& choices);
Json parameters_json(const FinderChoice& choice);

// 152089 -> "152,089".
std::string grouped(std::uint64_t number);
// Rounds to six digits for records, so that equal results look equal.
double rounded(double value);

}  // namespace hemstitch::cli
