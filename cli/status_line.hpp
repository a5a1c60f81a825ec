// The line on a terminal that is drawn again and again: the progress bar. The process has one, on stderr.
#pragma once

#include <string_view>

namespace hemstitch::cli {

// Replaces what was drawn before. Cut at the terminal's width, since only one row can be cleared.
void draw_status_line(std::string_view text);

// After this nothing is drawn: the terminal shows content instead.
void give_up_status_line();

// Clears the row, if anything was drawn.
void clear_status_line();

// The same for the last time, while other threads may be drawing. After it nothing is drawn. Does not wait
// for a terminal that is stopped.
void end_status_line();

}  // namespace hemstitch::cli
