// The help of the whole tool. Its options come from the tables that are used for reading them.
#pragma once

#include <string_view>

namespace hemstitch::cli {

// All options of all commands, with their defaults.
void print_help();
// A screen: for -h, and for a call without arguments on a terminal.
void print_short_help();
// The options of one command, by itself.
void print_command_help(std::string_view command);

}  // namespace hemstitch::cli
