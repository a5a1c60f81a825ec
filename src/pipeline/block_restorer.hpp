// Verifies and restores the blocks of a slot, of a frame whose blocks can be told apart.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "engine/resilient_engine.hpp"
#include "format/format.hpp"
#include "pipeline/restore_slot.hpp"

namespace hemstitch {

// For one slot of the frame.
struct BlockRestorer {
  const FrameHeader& header;
  const FrameFormat& format;
  Format format_id;  // of the frame, which may be a variant
  ResilientEngine& engine;
  std::span<const std::byte> dictionary;
  bool verifies_checksums;
  bool sums_up;  // whether a checksum of each block's content is needed
  unsigned threads;

  // Set the content of blocks, and good_blocks to the number of those that are good. Throw what is wrong with the
  // next one. The blocks of linked frames go in order, slot for slot; `history` is the content before the slot.
  void restore_independent(RestoreSlot& slot) const;
  void restore_linked(RestoreSlot& slot, std::vector<std::byte>& history) const;
  // Computes the checksums of the first blocks' content, if they are needed.
  void sum_up(RestoreSlot& slot, std::size_t count) const;
};

}  // namespace hemstitch
