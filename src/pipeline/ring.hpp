// A ring of slots in flight: filled in order by one thread at a time, worked on by many, emitted in order.
//
// At most slots.size() batches are in flight, so a slot is free again when its turn comes round. What a stage
// throws ends the run and is thrown to the caller.
#pragma once

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>

#include <cstddef>
#include <vector>

#include "core/options.hpp"
#include "core/thread_sanitizer.hpp"

namespace hemstitch {

// Calls `run` where it may use `threads` threads, this one among them.
template <class Run>
void run_on_threads(unsigned threads, Run run) {
  // Beyond the number of cores TBB has to be told.
  tbb::global_control allowed(tbb::global_control::max_allowed_parallelism,
                              std::max(threads, resolve_threads(0)));
  tbb::task_arena arena(static_cast<int>(threads));
  arena.execute(run);
}

// Released before a ring or a loop runs, and acquired by its stages before they read anything of the caller's: even the address
// of an object of its own would be such a read.
inline std::byte ring_begun{};

// Calls body(i) for every i below `count`, from the threads of the caller's arena, `grain` of them in a row. Also inside a
// ring's stage: a thread that waits for the others' part takes no other slot meanwhile.
template <class Body>
void run_in_parallel(std::size_t count, std::size_t grain, const Body& body) {
  if (count <= grain) {
    for (std::size_t i = 0; i < count; ++i) body(i);
    return;
  }
  std::byte ended{};
  tsan_release(&ring_begun);
  tbb::this_task_arena::isolate([&] {
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count, grain), [&](const auto& range) {
      tsan_acquire(&ring_begun);
      for (std::size_t i = range.begin(); i < range.end(); ++i) body(i);
      tsan_release(&ended);
    });
  });
  tsan_acquire(&ended);
}

// fill(slot) returns false when there was nothing left to fill it with.
template <class Slot, class Fill, class Work, class Emit>
void run_ring(unsigned threads, std::vector<Slot>& slots, bool work_in_order, Fill fill, Work work,
              Emit emit) {
  if (threads == 1 || slots.size() == 1) {
    while (fill(slots[0])) {
      work(slots[0]);
      emit(slots[0]);
    }
    return;
  }
  // The order that parallel_pipeline makes, for ThreadSanitizer: between the caller and every stage, between the
  // calls of a serial stage, and along each slot's way.
  std::byte ended{}, filling{}, working{}, emitting{};
  struct ReleaseAtEnd {
    std::byte* object;
    ~ReleaseAtEnd() { tsan_release(object); }
  };

  std::size_t next = 0;
  const auto filled = [&](tbb::flow_control& flow) {
    tsan_acquire(&ring_begun);
    const ReleaseAtEnd at_end{&ended};
    const TsanHold turn(&filling);
    Slot& slot = slots[next++ % slots.size()];
    const TsanHold hold(&slot);
    if (!fill(slot)) flow.stop();
    return &slot;
  };
  const auto worked = [&](Slot* slot) {
    tsan_acquire(&ring_begun);
    const ReleaseAtEnd at_end{&ended};
    const TsanHold turn(work_in_order ? static_cast<void*>(&working) : slot), hold(slot);
    work(*slot);
    return slot;
  };
  const auto emitted = [&](Slot* slot) {
    tsan_acquire(&ring_begun);
    const ReleaseAtEnd at_end{&ended};
    const TsanHold turn(&emitting), hold(slot);
    emit(*slot);
  };
  struct AcquireAtEnd {
    std::byte* object;
    ~AcquireAtEnd() { tsan_acquire(object); }
  };

  const AcquireAtEnd after_run{&ended};
  tsan_release(&ring_begun);
  using tbb::filter_mode;
  run_on_threads(threads, [&] {
    tbb::parallel_pipeline(
        slots.size(), tbb::make_filter<void, Slot*>(filter_mode::serial_in_order, filled) &
                          tbb::make_filter<Slot*, Slot*>(
                              work_in_order ? filter_mode::serial_in_order : filter_mode::parallel, worked) &
                          tbb::make_filter<Slot*, void>(filter_mode::serial_in_order, emitted));
  });
}

}  // namespace hemstitch
