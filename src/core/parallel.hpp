// Runs work on a chosen number of threads, with oneTBB. All code that divides work uses it.
//
// Debian's oneTBB is not built for ThreadSanitizer, which therefore cannot see how oneTBB hands work from
// thread to thread. It would report each loop as a race, and suppressing these reports would hide our own
// races, which have the same stacks. So a build with ThreadSanitizer runs the same work on plain threads
// (plain_threads.hpp), and our code needs no annotations.
#pragma once

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/parallel_sort.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/options.hpp"
#include "core/plain_threads.hpp"
#include "core/thread_limit.hpp"

namespace hemstitch {

// Arenas that are not in use. oneTBB frees an arena only when a worker visits it once more. So the arenas of
// many short calls, 7 KB each, would pile up.
class IdleArenas {
 public:
  static IdleArenas& instance() {
    static auto* const idle = new IdleArenas;  // never destroyed: threads may work while the process ends
    return *idle;
  }

  std::unique_ptr<tbb::task_arena> take(unsigned threads) {
    const std::scoped_lock lock(mutex_);
    const auto found = std::ranges::find(idle_, threads, &Idle::first);
    if (found == idle_.end()) {
      idle_.reserve(made_ + 1);  // so that give_back() needs no memory
      auto arena = std::make_unique<tbb::task_arena>(static_cast<int>(threads));
      ++made_;
      return arena;
    }
    std::swap(*found, idle_.back());
    auto arena = std::move(idle_.back().second);
    idle_.pop_back();
    return arena;
  }

  void give_back(unsigned threads, std::unique_ptr<tbb::task_arena> arena) noexcept {
    const std::scoped_lock lock(mutex_);
    idle_.emplace_back(threads, std::move(arena));
  }

 private:
  using Idle = std::pair<unsigned, std::unique_ptr<tbb::task_arena>>;

  std::mutex mutex_;
  std::vector<Idle> idle_;
  std::size_t made_ = 0;
};

// A number of threads, including the calling one; fewer if so many cannot be started. oneTBB must be told if
// it is more than the number of cores.
class Threads {
 public:
  explicit Threads(unsigned count)
      : allowed_(tbb::global_control::max_allowed_parallelism, std::max(count, resolve_threads(0))),
        count_(count == 1 ? 1 : std::min(count, startable_threads(std::max(count, resolve_threads(0))))),
        arena_(IdleArenas::instance().take(count_)) {}
  ~Threads() { IdleArenas::instance().give_back(count_, std::move(arena_)); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  tbb::task_arena& arena() { return *arena_; }

 private:
  tbb::global_control allowed_;
  unsigned count_;
  std::unique_ptr<tbb::task_arena> arena_;
};

// Whether the caller's arena has other threads. A thread that is in no arena gets oneTBB's own, which has one
// for each core; so here, too, they must be startable.
inline bool has_other_threads() {
  return tbb::this_task_arena::max_concurrency() > 1 && startable_threads(resolve_threads(0)) > 1;
}

// Calls `run` with `threads` threads at its disposal, including this one.
template <class Run>
void run_on_threads(unsigned threads, Run run) {
  Threads(threads).arena().execute(run);
}

// Calls body(i) for every i below `count` on the threads of the caller's arena, `grain` of them in a row. It
// may be called within a stage of run_stages(): a thread that waits for other threads' parts takes no other
// item meanwhile. An exception of a body is rethrown.
template <class Body>
void run_in_parallel(std::size_t count, std::size_t grain, const Body& body) {
  if (count <= grain || !has_other_threads()) {
    for (std::size_t i = 0; i < count; ++i) body(i);
    return;
  }
#if defined(HEMSTITCH_THREAD_SANITIZER)
  run_in_parallel_on_plain_threads(count, grain, body);
#else
  tbb::this_task_arena::isolate([&] {
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count, grain), [&](const auto& range) {
      for (std::size_t i = range.begin(); i < range.end(); ++i) body(i);
    });
  });
#endif
}

// The same on `threads` threads, including this one, outside an arena. Starts none for work that one thread does in a row.
template <class Body>
void for_pieces(unsigned threads, std::size_t count, std::size_t grain, const Body& body) {
  if (count <= grain || threads == 1) {
    for (std::size_t i = 0; i < count; ++i) body(i);
    return;
  }
  run_on_threads(threads, [&] { run_in_parallel(count, grain, body); });
}

// memcpy() with the threads of the caller's arena: one thread copies 5 GB/s on the host of an H200, sixteen
// copy 38.
inline void copy_in_parallel(std::byte* to, const std::byte* from, std::size_t bytes) {
  constexpr std::size_t kCopiedPieceBytes = std::size_t{1} << 20;
  run_in_parallel((bytes + kCopiedPieceBytes - 1) / kCopiedPieceBytes, 1, [&](std::size_t i) {
    const std::size_t at = i * kCopiedPieceBytes;
    std::memcpy(to + at, from + at, std::min(kCopiedPieceBytes, bytes - at));
  });
}

// std::sort() with the threads of the caller's arena. A thread that waits for a part takes no other work
// meanwhile.
template <class Iterator, class Compare>
void sort_in_parallel(Iterator begin, Iterator end, const Compare& compare) {
#if defined(HEMSTITCH_THREAD_SANITIZER)
  std::sort(begin, end, compare);
#else
  if (!has_other_threads()) return std::sort(begin, end, compare);
  tbb::this_task_arena::isolate([&] { tbb::parallel_sort(begin, end, compare); });
#endif
}

// Starts `task`, which must not throw, on a free thread of the arena (or on a thread of its own). It may
// never begin. Throws an exception derived from std::exception if there is no memory or no thread.
template <class Task>
void enqueue(tbb::task_arena& arena, Task task) {
#if defined(HEMSTITCH_THREAD_SANITIZER)
  if (arena.max_concurrency() > 1) enqueue_on_plain_thread(std::move(task));
#else
  arena.enqueue(std::move(task));
#endif
}

// Takes items, works on many at once, and emits them in the order in which they were taken, on the threads of
// the caller's arena. `take` returns an item, or nothing if there are no more; `work` turns it into the
// argument of `emit`. Calls of `take`, calls of `emit` and, with `work_in_order`, calls of `work` do not
// overlap each other. At most `most_in_flight` items are taken and not yet emitted. An exception in a stage
// ends the run and is rethrown.
template <class Take, class Work, class Emit>
void run_stages(std::size_t most_in_flight, bool work_in_order, const Take& take, const Work& work,
                const Emit& emit) {
#if defined(HEMSTITCH_THREAD_SANITIZER)
  run_stages_on_plain_threads(most_in_flight, work_in_order, take, work, emit);
#else
  using Item = typename std::invoke_result_t<Take>::value_type;
  using Done = std::invoke_result_t<Work, Item>;
  using tbb::filter_mode;
  tbb::parallel_pipeline(
      most_in_flight,
      tbb::make_filter<void, Item>(filter_mode::serial_in_order,
                                   [&](tbb::flow_control& flow) {
                                     std::optional<Item> item = take();
                                     if (item) return std::move(*item);
                                     flow.stop();
                                     return Item{};
                                   }) &
          tbb::make_filter<Item, Done>(work_in_order ? filter_mode::serial_in_order : filter_mode::parallel,
                                       [&](Item item) { return work(std::move(item)); }) &
          tbb::make_filter<Done, void>(filter_mode::serial_in_order,
                                       [&](Done done) { emit(std::move(done)); }));
#endif
}

}  // namespace hemstitch
