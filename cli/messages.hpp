// Lines on stderr: "hemstitch: FILE: what (what to do)". A message is always one line of readable length, and
// holds no codes that a terminal obeys, whatever stands in a file's name, a word of the command line or a
// variable.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "cli/options/option_values.hpp"

namespace hemstitch::cli {

// An error of the tool's own; its text is the whole message.
struct ToolError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// "WHAT: No such file or directory", from errno.
ToolError tool_error_from_errno(std::string_view what);

// The text with escapes for what a terminal would obey: control characters, also those from U+0080 on, and
// marks that change the direction of the text.
std::string escaped(std::string_view text);
// A file's name as in messages: "-" is stdin, the rest is escaped; of a long name, the beginning and the end.
std::string shown_name(std::string_view path);

// Prints "hemstitch: ", the text, escaped, and a line break. If memory is too short to put a path before it, only the
// text is printed: there is always a message.
void print_message(std::string_view text) noexcept;
void print_message(std::string_view path, std::string_view text) noexcept;
// "... (HELP_COMMAND lists the options)".
void print_usage_error(const UsageError& error, std::string_view help_command) noexcept;

}  // namespace hemstitch::cli
