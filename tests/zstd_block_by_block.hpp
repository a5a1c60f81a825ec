// A frame of Zstandard that comes block by block, as from a pipe that lives.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <span>

#include "format/zstd/block/zstd_block_header.hpp"
#include "zstd_frames.hpp"

namespace hemstitch::testing {

// Whatever is whole is restored before more comes, and no byte behind it is taken.
inline void expect_block_by_block(StreamDecoder& decoder, std::span<const std::byte> frame,
                                  const Bytes& content) {
  Bytes room(3000);
  std::size_t restored = 0;
  for (std::size_t at = 4 + zstd_header_rest_bytes(frame[4]), blocks = 0;; ++blocks) {
    // A block, and the beginning of the next one.
    const ZstdBlockHeader block = read_zstd_block_header(&frame[at]);
    const std::size_t end = at + kZstdBlockHeaderBytes + block.data_bytes();
    std::span<const std::byte> input = frame.subspan(at, end + (block.last ? 0 : 2) - at);
    if (blocks != 0) input = input.subspan(2);
    StreamStep step;
    do {
      step = input.empty() ? decoder.restore_so_far(room) : decoder.restore(input, room);
      ASSERT_EQ(step.status, Status::kOk);
      ASSERT_TRUE(std::equal(room.begin(), room.begin() + static_cast<std::ptrdiff_t>(step.output_bytes),
                             content.begin() + static_cast<std::ptrdiff_t>(restored)));
      restored += step.output_bytes;
      input = input.subspan(step.input_bytes);
    } while (!step.ended && (step.input_bytes != 0 || step.output_bytes != 0));
    ASSERT_EQ(step.ended, block.last);
    ASSERT_EQ(decoder.ahead_bytes(), block.last ? 0 : 2);
    if (block.last) break;
    at = end;
  }
  EXPECT_EQ(restored, content.size());
}

}  // namespace hemstitch::testing
