// The line on a terminal that is drawn over and over: the progress bar. There is one for the process, on stderr.
#pragma once

#include <string_view>

namespace hemstitch::cli {

// Takes the place of what was drawn before; cut where the terminal ends, since only one row can be cleared.
void draw_status_line(std::string_view text);

// Nothing is drawn from here on: a terminal shows content instead, which a bar would be in the middle of.
void give_up_status_line();

// Leaves an empty row, if anything was drawn.
void clear_status_line();

// The same for the last time, while other threads may be drawing: nothing is drawn any more. Does not wait for a
// terminal that takes nothing.
void end_status_line();

}  // namespace hemstitch::cli
