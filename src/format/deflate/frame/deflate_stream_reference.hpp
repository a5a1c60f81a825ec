// Restores a stream of raw DEFLATE, zlib or gzip, or a member of BGZF, that is whole in memory and ends where
// its bytes do. This defines the statuses that devices return (hemstitch_deflate_restore_async() in batch.h).
// deflate_head.hpp reads heads and trailers.
#pragma once

#include <cstddef>
#include <span>

#include "core/status.hpp"

namespace hemstitch {

struct DeflateStreamRestored {
  Status status = Status::kOk;
  std::size_t output_bytes = 0;  // 0 unless that is kOk
};

// `history` is what matches of raw DEFLATE may refer to, and the dictionary of a zlib stream that names one.
// Others have none, as in zlib. Errors, in this order: of the head
// (kTruncated, kUnknownFormat, kUnsupportedFeature, kHeaderChecksumMismatch; for zlib kDictionaryNeeded,
// kDictionaryMismatch; for BGZF kTrailingGarbage); kOutputTooSmall, or kCorruptBlock if the DEFLATE data is
// invalid, cut off, or does not end where the trailer begins; kContentSizeMismatch; kContentChecksumMismatch,
// for BGZF kBlockChecksumMismatch.
DeflateStreamRestored restore_deflate_stream_reference(Format format, std::span<const std::byte> input,
                                                       std::span<const std::byte> history,
                                                       std::span<std::byte> output);

}  // namespace hemstitch
