// Lines on stderr: "hemstitch: FILE: what (what to do)", one line each whatever a file's name holds.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "cli/options/option_values.hpp"

namespace hemstitch::cli {

// An error of the tool's own, whose text says all there is to say.
struct ToolError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// "WHAT: No such file or directory", from errno.
ToolError tool_error_from_errno(std::string_view what);

// The name of a file as messages show it: "-" is stdin, control characters are escaped.
std::string shown_name(std::string_view path);

// Ends with a line break; `text` stands after "hemstitch: ". Where memory is too short to put a path before it, the text alone is
// printed: there is always something to read.
void print_message(std::string_view text) noexcept;
void print_message(std::string_view path, std::string_view text) noexcept;
// "... (HELP_COMMAND lists the options)".
void print_usage_error(const UsageError& error, std::string_view help_command) noexcept;

}  // namespace hemstitch::cli
