// Restoring a stream of raw DEFLATE, zlib or gzip, or a member of BGZF, that is whole in memory and ends where its bytes do: the definition of
// the statuses that devices give (hemstitch_deflate_restore_async() in batch.h). Heads and trailers are deflate_head.hpp's.
#pragma once

#include <cstddef>
#include <span>

#include "core/status.hpp"

namespace hemstitch {

struct DeflateStreamRestored {
  Status status = Status::kOk;
  std::size_t output_bytes = 0;  // 0 unless that is kOk
};

// `history` is what matches may reach back to, of zlib the dictionary. In this order: what is wrong with the head (kTruncated, kUnknownFormat,
// kUnsupportedFeature, kHeaderChecksumMismatch; of zlib kDictionaryNeeded, kDictionaryMismatch; of BGZF kTrailingGarbage); kOutputTooSmall,
// or kCorruptBlock for DEFLATE that is not valid, is cut off, or does not end where the trailer begins; kContentSizeMismatch;
// kContentChecksumMismatch, of BGZF kBlockChecksumMismatch.
DeflateStreamRestored restore_deflate_stream_reference(Format format, std::span<const std::byte> input,
                                                       std::span<const std::byte> history,
                                                       std::span<std::byte> output);

}  // namespace hemstitch
