// Trials with a failing malloc, each in a process of its own: what crashes or hangs there is seen here.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <tbb/cache_aligned_allocator.h>
#include <tbb/info.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>

#include "failing_malloc.hpp"

namespace hemstitch::testing {

// What became of a trial.
struct Ended {
  int signal = 0;  // 0: none
  int status = 0;  // of its exit
  long allocations = 0;

  std::string text() const {
    if (signal == SIGALRM) return "it hung";
    return signal != 0 ? "it ended by signal " + std::to_string(signal) : "exit " + std::to_string(status);
  }
};

// Far more than a trial takes on a busy machine.
inline constexpr unsigned kTrialSeconds = 30;

// Where trials begin behind oneTBB's own start, which happens once in a process: it loads its allocator and asks what machine this is.
// A start that fails is reported, but 2021.8 takes no second one and waits for ever instead; and where all memory is gone, glibc's
// dlopen() crashes (2.36, _dlerror_run).
inline void start_tbb() {
  tbb::cache_aligned_allocator<char> memory;
  memory.deallocate(memory.allocate(1), 1);
  tbb::info::default_concurrency();
}

// Runs prepare(failing), and with the n-th allocation failing run(), which returns an exit status; n of 0: none fails.
template <class Prepare, class Run>
Ended try_once(long n, Failing failing, const Prepare& prepare, const Run& run) {
  static auto* const count = [] {
    void* const page = mmap(nullptr, sizeof(long), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) throw std::bad_alloc();
    return static_cast<long*>(page);
  }();
  *count = 0;
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    alarm(kTrialSeconds);
    prepare(failing);
    std::atexit([] { *count = allocation_count(); });
    fail_allocation(n == 0 ? LONG_MAX : n, failing);
    std::exit([&]() noexcept { return run(); }());  // GoogleTest would catch what leaves it
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) ADD_FAILURE() << "no process for a trial";
  if (WIFSIGNALED(status)) return {WTERMSIG(status), 0, *count};
  return {0, WEXITSTATUS(status), *count};
}

// With the n-th allocation failing, for every n from `first` on until a whole run asks for fewer, in steps of `step` below
// `every_from`. `judge` is told of each end: (ended, whether any allocation may have failed).
template <class Prepare, class Run, class Judge>
void try_every_allocation(const Prepare& prepare, const Run& run, const Judge& judge, long every_from = 0,
                          long step = 1) {
  for (const Failing failing : {Failing::kOne, Failing::kRest}) {
    for (long n = 1;; n += n < every_from ? step : 1) {
      SCOPED_TRACE("allocation " + std::to_string(n) + (failing == Failing::kOne ? "" : " and all after it"));
      const Ended ended = try_once(n, failing, prepare, run);
      ASSERT_EQ(ended.signal, 0) << ended.text();
      judge(ended, ended.allocations >= n);
      if (ended.allocations < n || ::testing::Test::HasFatalFailure()) break;
    }
  }
}

}  // namespace hemstitch::testing
