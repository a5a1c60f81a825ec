// What the tool's messages advise: its options and commands, where the library can only name its own.
#pragma once

namespace hemstitch::cli {

// Call it before anything else.
void give_advice_of_the_tool();

}  // namespace hemstitch::cli
