// A limit of threads, as 'ulimit -u' and pids.max set it.
#pragma once

namespace hemstitch::testing {

// From now on so many threads may run at once, besides those that run already.
void allow_threads(int count);
// How often one could not be started.
int refused_threads();

}  // namespace hemstitch::testing
