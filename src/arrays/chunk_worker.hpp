// What a thread restores and compresses chunks with: coders and scratch memory, kept for the next call.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "core/idle_states.hpp"
#include "format/formats.hpp"

namespace hemstitch {

class ChunkWorker {
 public:
  BlockCoder& coder(Format format) {
    const auto number = static_cast<std::size_t>(format);
    if (coders_.size() <= number) coders_.resize(number + 1);
    if (!coders_[number])
      coders_[number] = FormatTable::instance().codec(format, &FormatRow::processor)->make_block_coder();
    return *coders_[number];
  }

  // Room for `bytes` bytes, until the next call.
  std::span<std::byte> rearranged(std::size_t bytes) { return rearranged_.room(bytes); }
  std::span<std::byte> compressed(std::size_t bytes) { return compressed_.room(bytes); }
  std::span<std::byte> tile(std::size_t bytes) { return tile_.room(bytes); }

 private:
  struct Scratch {
    std::unique_ptr<std::byte[]> memory;
    std::size_t bytes = 0;

    std::span<std::byte> room(std::size_t wanted) {
      if (bytes < wanted) {
        bytes = 0;
        memory.reset(new std::byte[wanted]);
        bytes = wanted;
      }
      return {memory.get(), wanted};
    }
  };

  std::vector<std::unique_ptr<BlockCoder>> coders_;  // by their format's number
  Scratch rearranged_, compressed_, tile_;
};

// Never destroyed: threads may work while the process ends.
inline IdleStates<ChunkWorker>& idle_chunk_workers() {
  static auto* const idle = new IdleStates<ChunkWorker>;
  return *idle;
}

}  // namespace hemstitch
