// Streams that are non-blocking because another program that shares them made them so: we wait instead of
// failing.
#pragma once

namespace hemstitch::cli {

// For a read() or write() that failed with `errno`: true if it should be tried again, after waiting for
// `events` (POLLIN, POLLOUT) if the descriptor was not ready.
bool may_be_tried_again(int descriptor, short events);

// Makes all output to stdout wait if it is non-blocking. Call it before the first output.
void let_stdout_wait();

}  // namespace hemstitch::cli
