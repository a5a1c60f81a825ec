// A ring of slots in flight: one thread at a time fills them in order, many threads work on them, and they
// are emitted in order.
//
// At most slots.size() batches are in flight, so a slot is free again when its turn comes. An exception in
// any stage ends the run and is rethrown to the caller.
//
// Do not confuse it with core/slot_ring.hpp, whose slots any thread takes in no order. In those, engines hold
// what a device needs for a batch, while that batch is in one of these slots.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/parallel.hpp"

namespace hemstitch {

// fill(slot) returns false if there was nothing left to fill it with.
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
  std::size_t next = 0;
  const auto take = [&]() -> std::optional<Slot*> {
    Slot& slot = slots[next++ % slots.size()];
    return fill(slot) ? std::optional(&slot) : std::nullopt;
  };
  const auto worked = [&](Slot* slot) {
    work(*slot);
    return slot;
  };
  run_on_threads(threads, [&] {
    run_stages(slots.size(), work_in_order, take, worked, [&](Slot* slot) { emit(*slot); });
  });
}

}  // namespace hemstitch
