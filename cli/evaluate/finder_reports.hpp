// What `evaluate` and `analyze` share: data to look at, and finders as JSON.
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

// Throws ToolError, also for a file without a byte: there is nothing to measure.
NamedData read_named_data(const std::string& path);

// Throws ToolError that names the description.
std::vector<FinderChoice> choose_finders(const std::vector<std::string>& descriptions);
// Adds --format, whose costs are to count: `format` stays null where it is not given.
void add_judging_format_option(OptionTable& table, const FrameFormat*& format);
// The names of the processor and the GPU, as far as they search.
std::string devices_of(const std::vector<FinderChoice>& choices);
Json parameters_json(const FinderChoice& choice);

// 152089 -> "152,089".
std::string grouped(std::uint64_t number);
// Rounded for records: figures to six digits, so that equal results look equal.
double rounded(double value);

}  // namespace hemstitch::cli
