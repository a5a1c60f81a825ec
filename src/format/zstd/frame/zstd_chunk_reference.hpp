// Restores a chunk of Zstandard as the batch interface does: whole frames in memory, to memory. It defines the statuses of that interface.
#pragma once

#include <cstddef>
#include <span>

#include "core/status.hpp"

namespace hemstitch {

struct ZstdChunkResult {
  Status status = Status::kOk;
  std::size_t output_bytes = 0;  // 0 unless the status is OK
};

// `chunk` is one or more frames, among them perhaps skippable ones, with nothing after them. Frames follow one after the other, and the
// first that is not OK decides:
//   kTruncated            no bytes at all; a header, a skippable frame or a checksum that is cut off
//   kUnknownFormat        the first bytes begin no frame; kTrailingGarbage: those after a frame
//   kCorruptHeader, kUnsupportedFeature (a window of more than 2 GB), kDictionaryNeeded
//   kCorruptBlock         a block breaks a rule, or is cut off
//   kOutputTooSmall       all blocks up to one are sound, with which the content no longer fits
//   kContentSizeMismatch, kContentChecksumMismatch
ZstdChunkResult restore_zstd_chunk_reference(std::span<const std::byte> chunk, std::span<std::byte> output);

}  // namespace hemstitch
