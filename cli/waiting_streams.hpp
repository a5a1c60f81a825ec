// Streams that are non-blocking, because a program that shares them made them so: instead of failing, we wait.
#pragma once

namespace hemstitch::cli {

// For a read() or write() that failed with `errno`: true where it is to be tried again, after waiting for `events` (POLLIN, POLLOUT)
// if the descriptor was not ready.
bool may_be_tried_again(int descriptor, short events);

// Lets all that is printed to stdout wait where it is non-blocking. Call it before the first output.
void let_stdout_wait();

}  // namespace hemstitch::cli
