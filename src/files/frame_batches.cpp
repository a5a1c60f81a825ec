#include "files/frame_batches.hpp"

#include <algorithm>

#include "format/lz4/frame/lz4_frame.hpp"
#include "format/lz4/frame/lz4_frame_layout.hpp"

namespace hemstitch {
namespace {

constexpr std::uint64_t kEndMarkBytes = 4;
constexpr std::uint64_t kLastByteBytes = kBlockHeaderBytes + 1 + kBlockChecksumBytes;

}  // namespace

std::vector<FrameBatch> plan_frame_batches(const FrameLayout& layout, bool block_checksums,
                                           std::uint64_t batch_bytes) {
  std::vector<FrameBatch> batches;
  for (std::uint64_t at = 0; at < layout.body_bytes(); at += batch_bytes) {
    FrameBatch batch{at, std::min(batch_bytes, layout.body_bytes() - at)};
    // One byte more is there: the body ends before the last byte.
    const bool cuts_byte =
        layout.last_byte_apart &&
        lz4_frame_layout(batch.bytes + 1, layout.block_bytes, block_checksums, false).last_byte_apart;
    batch.given_bytes = batch.bytes + (cuts_byte ? 1 : 0);
    batch.cut_bytes = kEndMarkBytes + (cuts_byte ? kLastByteBytes : 0);
    batches.push_back(batch);
  }
  return batches;
}

}  // namespace hemstitch
