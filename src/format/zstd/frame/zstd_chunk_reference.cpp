#include "format/zstd/frame/zstd_chunk_reference.hpp"

#include <optional>

#include "core/bytes.hpp"
#include "format/checksum.hpp"
#include "format/skippable_frame.hpp"
#include "format/zstd/frame/zstd_frame_header.hpp"
#include "format/zstd/restore/zstd_restore_reference.hpp"
#include "format/zstd/zstd_limits.hpp"

namespace hemstitch {
namespace {

// Thrown for what is wrong.
using Wrong = Status;

// The chunk's next bytes, which are taken off.
std::span<const std::byte> take(std::span<const std::byte>& chunk, std::size_t bytes) {
  if (chunk.size() < bytes) throw Wrong(Status::kTruncated);
  const auto taken = chunk.first(bytes);
  chunk = chunk.subspan(bytes);
  return taken;
}

ZstdFrameHeader take_header(std::span<const std::byte>& chunk) {
  take(chunk, kZstdMagicBytes);
  if (chunk.empty()) throw Wrong(Status::kTruncated);
  const std::optional<ZstdFrameHeader> header =
      read_zstd_header(take(chunk, zstd_header_rest_bytes(chunk[0])));
  if (!header) throw Wrong(Status::kCorruptHeader);
  if (header->window_bytes > kZstdMostWindowBytes) throw Wrong(Status::kUnsupportedFeature);
  if (header->dictionary_id != 0) throw Wrong(Status::kDictionaryNeeded);
  return *header;
}

// Returns the size of its content.
std::size_t restore_frame(std::span<const std::byte>& chunk, std::span<std::byte> output) {
  const ZstdFrameHeader header = take_header(chunk);
  ZstdReferenceDecoder decoder(header.window_bytes, ZstdDictionary());
  const StreamStep step = decoder.restore(chunk, output);
  if (step.status != Status::kOk) throw Wrong(step.status);
  if (!step.ended) {
    // Either the output is full, and a byte more would be content, or the input is at its end.
    std::byte more{};
    const StreamStep next = decoder.restore({}, {&more, 1});
    throw Wrong(next.output_bytes != 0 ? Status::kOutputTooSmall : Status::kCorruptBlock);
  }
  take(chunk, step.input_bytes);
  const std::span<std::byte> content = output.first(step.output_bytes);
  std::optional<std::uint32_t> checksum;
  if (header.has_checksum) checksum = load_le32(take(chunk, kChecksumBytes).data());
  if (header.content_bytes && *header.content_bytes != content.size())
    throw Wrong(Status::kContentSizeMismatch);
  if (checksum && *checksum != checksum_of(Checksum::kXxh64, content))
    throw Wrong(Status::kContentChecksumMismatch);
  return content.size();
}

}  // namespace

ZstdChunkResult restore_zstd_chunk_reference(std::span<const std::byte> chunk, std::span<std::byte> output) {
  std::size_t output_bytes = 0;
  if (chunk.empty()) return {Status::kTruncated};
  try {
    for (bool is_first = true; !chunk.empty();) {
      if (begins_skippable_frame(chunk)) {
        take(chunk, kZstdMagicBytes);
        const std::uint32_t bytes = load_le32(take(chunk, sizeof(std::uint32_t)).data());
        take(chunk, bytes);
        continue;
      }
      if (is_first && chunk.size() < kZstdMagicBytes) return {Status::kTruncated};
      if (chunk.size() < kZstdMagicBytes || load_le32(chunk.data()) != kZstdMagic)
        return {is_first ? Status::kUnknownFormat : Status::kTrailingGarbage};
      output_bytes += restore_frame(chunk, output.subspan(output_bytes));
      is_first = false;
    }
  } catch (const Wrong wrong) {
    return {wrong};
  }
  return {Status::kOk, output_bytes};
}

}  // namespace hemstitch
