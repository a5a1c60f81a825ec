#pragma once

namespace hemstitch::cli {

// All options with their defaults.
extern const char* const kHelp;
// Half a screen, for a call without arguments on a terminal.
extern const char* const kShortHelp;

}  // namespace hemstitch::cli
