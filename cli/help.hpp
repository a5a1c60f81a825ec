// The help of the whole tool. Its options come from the tables that are used for reading them.
#pragma once

namespace hemstitch::cli {

// All options of all commands, with their defaults.
void print_help();
// Half a screen, for a call without arguments on a terminal.
void print_short_help();

}  // namespace hemstitch::cli
