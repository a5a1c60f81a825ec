// Whether a standard stream is a terminal. It decides about help, refusals and the progress bar, never about
// bytes.
#pragma once

#include <cstddef>

namespace hemstitch::cli {

// `descriptor` is 0, 1 or 2. For tests, HEMSTITCH_PRETEND_TERMINAL names streams that count as terminals,
// e.g. "stdin,stdout".
bool is_terminal(int descriptor);

// How many characters a row has; very many if the terminal does not say.
std::size_t terminal_columns(int descriptor);

}  // namespace hemstitch::cli
