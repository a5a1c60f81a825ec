// Does on plain threads what parallel.hpp does with oneTBB, for builds with ThreadSanitizer, which
// understands plain threads. Simple, and fast enough for tests.
#pragma once

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HEMSTITCH_THREAD_SANITIZER
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define HEMSTITCH_THREAD_SANITIZER
#endif

#if defined(HEMSTITCH_THREAD_SANITIZER)

#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace hemstitch {

// Runs `work` on `threads` threads at once, including this one, or on as many as can be started. An exception
// is rethrown once all have ended.
template <class Work>
void run_on_plain_threads(std::size_t threads, const Work& work) {
  std::vector<std::future<void>> others;
  try {
    while (others.size() + 1 < threads) others.push_back(std::async(std::launch::async, std::ref(work)));
  } catch (const std::system_error&) {
  }
  work();
  for (std::future<void>& other : others) other.get();
}

template <class Body>
void run_in_parallel_on_plain_threads(std::size_t count, std::size_t grain, const Body& body) {
  std::atomic<std::size_t> next = 0;
  run_on_plain_threads(static_cast<std::size_t>(tbb::this_task_arena::max_concurrency()), [&] {
    for (std::size_t begin; (begin = next.fetch_add(grain)) < count;)
      for (std::size_t i = begin; i < std::min(begin + grain, count); ++i) body(i);
  });
}

// Starts `task` on a thread of its own, unless enough of them are running. Throws std::system_error if no
// thread can be started.
template <class Task>
void enqueue_on_plain_thread(Task task) {
  static std::atomic<int> running = 0;
  constexpr int kMostRunning = 4;
  if (running.fetch_add(1) >= kMostRunning) {
    --running;
    return;
  }
  try {
    std::thread([task = std::move(task)] {
      task();
      --running;
    }).detach();
  } catch (...) {
    --running;
    throw;
  }
}

// Each thread carries one item at a time from taking to emitting, so at most as many items as threads are in
// flight.
template <class Take, class Work, class Emit>
void run_stages_on_plain_threads(std::size_t most_in_flight, bool work_in_order, const Take& take,
                                 const Work& work, const Emit& emit) {
  std::mutex taking, turns;
  std::size_t taken = 0;             // guarded by `taking`
  std::condition_variable moved_on;  // guarded by `turns`, like the variables after it
  std::size_t worked = 0, emitted = 0;
  std::exception_ptr error;
  const auto await = [&](const auto& condition) {
    std::unique_lock lock(turns);
    moved_on.wait(lock, [&] { return condition() || error; });
    return !error;
  };
  const auto change = [&](const auto& changed) {
    const std::scoped_lock lock(turns);
    changed();
    moved_on.notify_all();
  };
  const auto carry_one = [&] {
    std::unique_lock turn_to_take(taking);
    const std::size_t number = taken;
    if (!await([&] { return number < emitted + most_in_flight; })) return false;
    auto item = take();
    if (!item) return false;
    ++taken;
    turn_to_take.unlock();

    if (work_in_order && !await([&] { return worked == number; })) return false;
    auto done = work(std::move(*item));
    change([&] { ++worked; });
    if (!await([&] { return emitted == number; })) return false;
    emit(std::move(done));
    change([&] { ++emitted; });
    return true;
  };
  const auto threads = static_cast<std::size_t>(tbb::this_task_arena::max_concurrency());
  run_on_plain_threads(std::min(most_in_flight, threads), [&] {
    try {
      while (carry_one()) {
      }
    } catch (...) {
      change([&] {
        if (!error) error = std::current_exception();
      });
    }
  });
  if (error) std::rethrow_exception(error);
}

}  // namespace hemstitch

#endif
