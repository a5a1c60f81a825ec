// Any bytes, with any history and level: libzstd and our restorer must restore what the twin of the Zstandard encoder writes. The room that it asks
// for must suffice. If there is less, it must say so, and write nothing outside of it.
#include <zstd.h>

#include "format/zstd/compress/zstd_compress_reference.hpp"
#include "format/zstd/restore/zstd_restore_reference.hpp"
#include "format/zstd/zstd_limits.hpp"
#include "fuzz.hpp"
#include "guarded_buffer.hpp"
#include "zstd_frames.hpp"

using namespace hemstitch;
using namespace hemstitch::fuzz;

namespace {

// Behind a frame's header and its history as raw blocks.
Bytes zstd_frame_of(std::span<const std::byte> history, std::span<const std::byte> part) {
  Bytes frame(kZstdMostHeaderBytes);
  frame.resize(write_zstd_header({.window_bytes = kFarWindowBytes}, frame.data()));
  for (std::size_t at = 0; at < history.size(); at += kZstdMostBlockBytes) {
    const auto block = history.subspan(at, std::min(kZstdMostBlockBytes, history.size() - at));
    testing::put_number(frame, block.size() << 3, kZstdBlockHeaderBytes);
    frame.insert(frame.end(), block.begin(), block.end());
  }
  frame.insert(frame.end(), part.begin(), part.end());
  frame.insert(frame.end(), kZstdEndOfBlocks.begin(), kZstdEndOfBlocks.end());
  return frame;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider input(data, size);
  const ZstdLevel level = zstd_level(input.ConsumeIntegralInRange(-7, 22));
  // Repeated input crosses blocks and generations although it is short.
  const std::size_t repeats = input.ConsumeBool() ? input.ConsumeIntegralInRange<std::size_t>(1, 300) : 1;
  const auto history_sixteenths = input.ConsumeIntegralInRange<std::size_t>(0, 16);
  const auto missing_bytes = input.ConsumeIntegralInRange<std::size_t>(1, 8);
  const Bytes piece = rest_of(input);
  Bytes bytes;
  for (std::size_t i = 0; i < repeats && bytes.size() < 140'000; i++)
    bytes.insert(bytes.end(), piece.begin(), piece.end());

  const std::size_t history = bytes.size() * history_sixteenths / 16;
  const auto content = std::span<const std::byte>(bytes).subspan(history);
  testing::GuardedBuffer room(zstd_data_room(content.size()));
  const EncodedBlock part = compress_zstd_part_reference({bytes, history}, level, room.bytes());
  require(part.status == Status::kOk);
  const Bytes frame = zstd_frame_of(std::span(bytes).first(history), room.bytes().first(part.bytes));
  const testing::ZstdRead theirs = testing::read_by_libzstd(frame, {}, 1 << 14);
  require(theirs.outcome == testing::ZstdOutcome::kWhole && theirs.content == bytes);
  const testing::ZstdRead ours = testing::read_by_reference(frame);
  require(ours.outcome == testing::ZstdOutcome::kWhole && ours.content == bytes);

  if (missing_bytes > part.bytes) return 0;
  testing::GuardedBuffer small(part.bytes - missing_bytes);
  require(compress_zstd_part_reference({bytes, history}, level, small.bytes()).status ==
          Status::kOutputTooSmall);
  return 0;
}
