// Compresses tasks one by one with twins, which take a block directly behind its history.
#pragma once

#include <span>
#include <vector>

#include "format/block_task.hpp"
#include "format/encoded_block.hpp"
#include "match/common/finder.hpp"

namespace hemstitch {

// Calls compress(FinderInput, output), which returns an EncodedBlock, for each task.
template <typename Compress>
void compress_with_history(std::span<BlockTask> tasks, const Compress& compress) {
  std::vector<std::byte> joined;
  for (BlockTask& task : tasks) {
    FinderInput input{task.input, 0};
    if (!task.history.empty()) {
      joined.assign(task.history.begin(), task.history.end());
      joined.insert(joined.end(), task.input.begin(), task.input.end());
      input = {joined, task.history.size()};
    }
    const EncodedBlock encoded = compress(input, task.output);
    task.status = encoded.status;
    task.output_bytes = encoded.bytes;
  }
}

}  // namespace hemstitch
