// How many threads this process can have. Limits of processes (ulimit -u, pids.max), of memory and of the
// system may leave fewer than there are cores.
//
// oneTBB starts its workers when they are wanted, and from each other. If one cannot be started there, it
// ends the process (2021.8). So work is divided among no more threads than could be started before.
#pragma once

namespace hemstitch {

// The most threads, at least 1 and at most `wanted`, among which work may be divided, including the calling
// thread. The first call starts so many threads and ends them again, 25 us of processor time each: no limit
// has to be read, and all of them count. If not all can be started, a quarter of those that can are left to
// others, oneTBB is told for as long as that holds, and a call a second later tries again. Throws
// std::bad_alloc. Any thread may call it.
unsigned startable_threads(unsigned wanted);

}  // namespace hemstitch
