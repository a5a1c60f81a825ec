// The slots of a matcher on a device. A submission holds one from its beginning until its matches are
// destroyed.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "api/pending_matches.hpp"
#include "core/between_pieces.hpp"
#include "core/slot_ring.hpp"
#include "core/status.hpp"

namespace hemstitch {

// Throws kInvalidOption if all slots are held.
template <typename Slot>
typename SlotRing<Slot>::Lease slot_for_submission(SlotRing<Slot>& slots) {
  auto slot = slots.try_take();
  if (!slot)
    throw Error(
        Status::kInvalidOption,
        fmt::format("{} submissions are in flight, the most that the matcher has room for: release one "
                    "first",
                    slots.count()));
  return slot;
}

// Handles any number of blocks in submissions of about `batch_bytes`. submit(slot, blocks) makes one: a
// std::unique_ptr<PendingWork> that holds the slot. Waits while others hold the slots.
template <typename Slot, typename Submit>
std::vector<std::vector<PositionedMatch>> find_in_batches(SlotRing<Slot>& slots,
                                                          std::span<const MatchBlock> blocks,
                                                          std::uint64_t batch_bytes, const Submit& submit) {
  // On devices, blocks begin at whole words.
  const auto staged_bytes = [](const MatchBlock& block) {
    return (std::uint64_t{block.data.size()} + 3) / 4 * 4;
  };
  std::vector<std::vector<PositionedMatch>> all;
  std::deque<std::unique_ptr<PendingWork>> in_flight;
  const auto take_oldest = [&] {
    look_between_pieces();
    for (auto& matches : in_flight.front()->take()) all.push_back(std::move(matches));
    in_flight.pop_front();
  };
  while (!blocks.empty()) {
    // A caller that holds slots must not wait for another one: two callers could wait for each other.
    auto slot = in_flight.empty() ? slots.take() : slots.try_take();
    if (!slot) {
      take_oldest();
      continue;
    }
    std::size_t count = 0;
    std::uint64_t bytes = 0;
    do bytes += staged_bytes(blocks[count++]);
    while (count < blocks.size() && bytes + staged_bytes(blocks[count]) <= batch_bytes);
    in_flight.push_back(submit(std::move(slot), blocks.first(count)));
    blocks = blocks.subspan(count);
  }
  while (!in_flight.empty()) take_oldest();
  return all;
}

}  // namespace hemstitch
