#include "format/deflate/frame/deflate_stream_reference.hpp"

#include "format/checksum.hpp"
#include "format/deflate/frame/deflate_head.hpp"
#include "format/deflate/restore/deflate_restore_reference.hpp"

namespace hemstitch {
namespace {

// Reads the head, and checks its checksum.
DeflateHead checked_head(Format format, std::span<const std::byte> input,
                         std::span<const std::byte> history) {
  if (format == Format::kDeflate) return {};
  DeflateHead head = read_deflate_head(format, input.data(), input.size(), !history.empty());
  if (head.status != Status::kOk || !head.has_checksum) return head;
  const std::uint32_t found = format == Format::kZlib
                                  ? checksum_of(Checksum::kAdler32, history)
                                  : checksum_of(Checksum::kCrc32, input.first(head.bytes - 2));
  head.status = deflate_head_checksum_status(format, head, found);
  return head;
}

}  // namespace

DeflateStreamRestored restore_deflate_stream_reference(Format format, std::span<const std::byte> input,
                                                       std::span<const std::byte> history,
                                                       std::span<std::byte> output) {
  const DeflateHead head = checked_head(format, input, history);
  if (head.status != Status::kOk) return {head.status};
  const std::size_t trailer_bytes = deflate_trailer_bytes(format);
  const auto data = input.subspan(head.bytes, input.size() - head.bytes - trailer_bytes);
  if (format != Format::kDeflate && !deflate_head_names_dictionary(format, head)) history = {};
  const DeflateRestored restored =
      deflate_restore_reference(data, history, output.first(deflate_stream_room(format, output.size())));
  if (restored.status == Status::kOutputTooSmall) return {deflate_stream_too_large(format, output.size())};
  if (deflate_block_status(restored, data.size()) != Status::kOk) return {Status::kCorruptBlock};
  if (format == Format::kDeflate) return {Status::kOk, restored.output_bytes};
  const Checksum kind = format == Format::kZlib ? Checksum::kAdler32 : Checksum::kCrc32;
  const Status status =
      deflate_trailer_status(format, input.last(trailer_bytes).data(), restored.output_bytes, true,
                             checksum_of(kind, output.first(restored.output_bytes)));
  if (status != Status::kOk) return {status};
  return {Status::kOk, restored.output_bytes};
}

}  // namespace hemstitch
