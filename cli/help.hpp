// The help of the tool as a whole; its options are those of the tables that words are read by.
#pragma once

namespace hemstitch::cli {

// All options of all commands, with their defaults.
void print_help();
// Half a screen, for a call without arguments on a terminal.
void print_short_help();

}  // namespace hemstitch::cli
