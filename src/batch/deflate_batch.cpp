// The DEFLATE part of the batch interface: checks arguments, looks levels up, and takes the bytes before
// every stream from the writers of frames; deflate_batch_device.hpp does the rest.
#include <fmt/format.h>

#include <array>
#include <limits>
#include <optional>

#include "batch/batch_checks.hpp"
#include "batch/deflate_batch_device.hpp"
#include "core/c_call.hpp"
#include "core/messages.hpp"
#include "format/deflate/block/deflate_stored.hpp"
#include "format/deflate/compress/deflate_tuning.hpp"
#include "format/deflate/frame/deflate_writers.hpp"
#include "format/formats.hpp"
#include "match/common/parameter_check.hpp"

namespace hemstitch {
namespace {

// Returns nothing for a number that is not a format.
std::optional<Format> format_of(std::int32_t format) {
  switch (format) {
    case HEMSTITCH_DEFLATE_RAW:
      return Format::kDeflate;
    case HEMSTITCH_DEFLATE_ZLIB:
      return Format::kZlib;
    case HEMSTITCH_DEFLATE_GZIP:
      return Format::kGzip;
    case HEMSTITCH_DEFLATE_BGZF:
      return Format::kBgzf;
    default:
      return std::nullopt;
  }
}

Format checked_format(std::int32_t number) {
  if (const std::optional<Format> format = format_of(number)) return *format;
  throw Error(Status::kInvalidOption, out_of_range("batch: format", number, 0, 3));
}

Format checked_stream_format(std::int32_t number) {
  const Format format = checked_format(number);
  if (format == Format::kBgzf)
    throw Error(Status::kInvalidOption, "batch: BGZF is many streams (use hemstitch_deflate_restore_async)");
  return format;
}

std::size_t most_block_bytes(Format format) {
  return format == Format::kBgzf ? kBgzfBlockBytes : kDeflateMostBlockBytes;
}

DeflateStreams streams_of(Format format, int level) {
  DeflateStreams streams{.level = deflate_level(level)};
  CompressOptions options;
  options.format = format;
  options.level = level;
  const auto writer = make_deflate_writer(options);
  std::array<std::byte, 64>
      lead{};  // for a header; without a name and a dictionary it has no optional fields
  if (format == Format::kBgzf) {
    streams.lead_bytes = static_cast<std::uint32_t>(writer->room().before_block_bytes);
    streams.lead_has_size = true;
    writer->write_before({.content = {}, .data = std::span<const std::byte>()}, lead.data());
  } else {
    streams.lead_bytes = static_cast<std::uint32_t>(writer->write_header(std::nullopt, lead.data()));
  }
  for (std::size_t i = 0; i < streams.lead_bytes; ++i) streams.lead[i] = static_cast<std::uint8_t>(lead[i]);
  streams.checksum = FormatTable::instance().of(format).checksum();
  streams.trail_bytes = streams.checksum == Checksum::kCrc32     ? 2 * kChecksumBytes
                        : streams.checksum == Checksum::kAdler32 ? kChecksumBytes
                                                                 : 0;
  return streams;
}

DeflateStreams checked_streams(const hemstitch_deflate_blocks* blocks, std::int32_t number, int level) {
  const hemstitch_deflate_blocks& given = *needed(blocks, "blocks");
  const Format format = checked_format(number);
  check_parameter("batch", "max_block_bytes", given.max_block_bytes, 0, most_block_bytes(format));
  check_parameter("batch", "max_history_bytes", given.max_history_bytes, 0,
                  format == Format::kDeflate ? kDeflateWindowBytes : 0);
  return streams_of(format, checked_level(level));
}

hemstitch_status checksums(Checksum kind, const void* const* spans, const std::size_t* span_bytes,
                           std::uint64_t count, std::uint32_t* checksums, hemstitch_stream stream) {
  return guarded([&] {
    need_for(count, spans, "spans");
    need_for(count, span_bytes, "span_bytes");
    need_for(count, checksums, "checksums");
    deflate_checksums_async(kind, spans, span_bytes, count, checksums, stream);
  });
}

}  // namespace

std::size_t DeflateStreams::bound(std::size_t content_bytes) const {
  return lead_bytes + deflate_data_room(content_bytes) + trail_bytes;
}

}  // namespace hemstitch

extern "C" {

size_t hemstitch_deflate_compress_bound(int32_t format, size_t block_bytes) {
  const auto known = hemstitch::format_of(format);
  if (!known || block_bytes > hemstitch::most_block_bytes(*known)) return std::numeric_limits<size_t>::max();
  std::size_t bound = std::numeric_limits<size_t>::max();
  hemstitch::guarded([&] { bound = hemstitch::streams_of(*known, hemstitch::kMinLevel).bound(block_bytes); });
  return bound;
}

hemstitch_status hemstitch_deflate_compress_temp_bytes(const hemstitch_deflate_blocks* blocks, int32_t format,
                                                       int level, size_t* temp_bytes) {
  return hemstitch::guarded([&] {
    hemstitch::needed(temp_bytes, "temp_bytes");
    *temp_bytes = hemstitch::deflate_compress_temp_bytes(*hemstitch::needed(blocks, "blocks"),
                                                         hemstitch::checked_streams(blocks, format, level));
  });
}

hemstitch_status hemstitch_deflate_compress_async(const hemstitch_deflate_blocks* blocks, int32_t format,
                                                  int level, void* const* outputs, const size_t* capacities,
                                                  size_t* output_bytes, hemstitch_status* statuses,
                                                  void* temp, size_t temp_bytes, hemstitch_stream stream) {
  return hemstitch::guarded([&] {
    const hemstitch::DeflateStreams streams = hemstitch::checked_streams(blocks, format, level);
    hemstitch::need_for(blocks->count, blocks->blocks, "blocks");
    hemstitch::need_for(blocks->count, blocks->block_bytes, "block_bytes");
    hemstitch::need_for(blocks->count, outputs, "outputs");
    hemstitch::need_for(blocks->count, output_bytes, "output_bytes");
    hemstitch::need_for(blocks->count, statuses, "statuses");
    hemstitch::deflate_compress_async(*blocks, streams, outputs, capacities, output_bytes, statuses,
                                      {temp, temp_bytes}, stream);
  });
}

hemstitch_status hemstitch_deflate_restore_temp_bytes(const hemstitch_deflate_streams* streams,
                                                      int32_t format, size_t max_output_bytes,
                                                      size_t* temp_bytes) {
  return hemstitch::guarded([&] {
    hemstitch::needed(temp_bytes, "temp_bytes");
    const hemstitch_deflate_streams& given = *hemstitch::needed(streams, "streams");
    *temp_bytes =
        hemstitch::deflate_restore_temp_bytes(given, hemstitch::checked_format(format), max_output_bytes);
  });
}

hemstitch_status hemstitch_deflate_restore_async(const hemstitch_deflate_streams* streams, int32_t format,
                                                 void* const* outputs, const size_t* capacities,
                                                 size_t max_output_bytes, const uint32_t* history_bytes,
                                                 size_t* output_bytes, hemstitch_status* statuses, void* temp,
                                                 size_t temp_bytes, hemstitch_stream stream) {
  return hemstitch::guarded([&] {
    const hemstitch_deflate_streams& given = *hemstitch::needed(streams, "streams");
    const hemstitch::Format known = hemstitch::checked_format(format);
    hemstitch::need_for(given.count, given.streams, "streams");
    hemstitch::need_for(given.count, given.stream_bytes, "stream_bytes");
    hemstitch::need_for(given.count, capacities, "capacities");
    hemstitch::need_for(given.count, output_bytes, "output_bytes");
    hemstitch::need_for(given.count, statuses, "statuses");
    hemstitch::deflate_restore_async(given, known, outputs, capacities, max_output_bytes, history_bytes,
                                     output_bytes, statuses, {temp, temp_bytes}, stream);
  });
}

hemstitch_status hemstitch_deflate_stream_temp_bytes(uint64_t stream_bytes, uint64_t capacity, int32_t format,
                                                     size_t* temp_bytes) {
  return hemstitch::guarded([&] {
    hemstitch::needed(temp_bytes, "temp_bytes");
    hemstitch::checked_stream_format(format);
    *temp_bytes = hemstitch::deflate_stream_temp_bytes(stream_bytes, capacity);
  });
}

hemstitch_status hemstitch_deflate_stream_restore(const void* data, uint64_t stream_bytes, int32_t format,
                                                  void* output, uint64_t capacity, uint64_t* output_bytes,
                                                  void* temp, size_t temp_bytes, hemstitch_stream stream) {
  return hemstitch::guarded([&] {
    *hemstitch::needed(output_bytes, "output_bytes") = 0;
    const hemstitch::Format known = hemstitch::checked_stream_format(format);
    hemstitch::need_for(stream_bytes, data, "data");
    hemstitch::need_for(capacity, output, "output");
    hemstitch::refuse_device_overlap(data, stream_bytes, output, capacity);
    const hemstitch::Status status = hemstitch::deflate_stream_restore(
        static_cast<const std::byte*>(data), stream_bytes, known, static_cast<std::byte*>(output), capacity,
        *output_bytes, {temp, temp_bytes}, stream);
    if (status != hemstitch::Status::kOk)
      throw hemstitch::Error(status, fmt::format("the stream's first {} bytes are restored", *output_bytes));
  });
}

hemstitch_status hemstitch_crc32_async(const void* const* spans, const size_t* span_bytes, uint64_t count,
                                       uint32_t* checksums, hemstitch_stream stream) {
  return hemstitch::checksums(hemstitch::Checksum::kCrc32, spans, span_bytes, count, checksums, stream);
}

hemstitch_status hemstitch_adler32_async(const void* const* spans, const size_t* span_bytes, uint64_t count,
                                         uint32_t* checksums, hemstitch_stream stream) {
  return hemstitch::checksums(hemstitch::Checksum::kAdler32, spans, span_bytes, count, checksums, stream);
}

}  // extern "C"
