// A ring of slots in flight: filled in order by one thread at a time, worked on by many, emitted in order.
//
// At most slots.size() batches are in flight, so a slot is free again when its turn comes round. What a stage
// throws ends the run and is thrown to the caller.
#pragma once

#include <tbb/global_control.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>

#include <cstddef>
#include <vector>

#include "core/options.hpp"

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
  run_on_threads(threads, [&] {
    std::size_t next = 0;
    tbb::parallel_pipeline(
        slots.size(), tbb::make_filter<void, Slot*>(tbb::filter_mode::serial_in_order,
                                                    [&](tbb::flow_control& flow) -> Slot* {
                                                      Slot& slot = slots[next++ % slots.size()];
                                                      if (!fill(slot)) flow.stop();
                                                      return &slot;
                                                    }) &
                          tbb::make_filter<Slot*, Slot*>(
                              work_in_order ? tbb::filter_mode::serial_in_order : tbb::filter_mode::parallel,
                              [&](Slot* slot) {
                                work(*slot);
                                return slot;
                              }) &
                          tbb::make_filter<Slot*, void>(tbb::filter_mode::serial_in_order,
                                                        [&](Slot* slot) { emit(*slot); }));
  });
}

}  // namespace hemstitch
