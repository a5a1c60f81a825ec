// The formats with DEFLATE in the batch interface: checks arguments, looks levels up, and takes the bytes before
// every stream from the writers of frames; deflate_batch_device.hpp does the rest.
#include <fmt/format.h>

#include <array>
#include <limits>

#include "batch/batch_checks.hpp"
#include "batch/deflate_batch_device.hpp"
#include "core/c_call.hpp"
#include "core/messages.hpp"
#include "format/batch_format.hpp"
#include "format/deflate/block/deflate_stored.hpp"
#include "format/deflate/compress/deflate_tuning.hpp"
#include "format/deflate/frame/deflate_writers.hpp"
#include "format/formats.hpp"
#include "match/common/parameter_check.hpp"

namespace hemstitch {
namespace {

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

class DeflateBatch : public BatchFormat {
 public:
  explicit DeflateBatch(Format id) : id_(id) {}

  Format id() const override { return id_; }

  std::size_t compress_bound(std::size_t block_bytes) const override {
    return block_bytes <= most_block_bytes(id_) ? streams_of(id_, kMinLevel).bound(block_bytes)
                                                : std::numeric_limits<std::size_t>::max();
  }
  std::size_t compress_temp_bytes(const hemstitch_blocks& blocks, int level) const override {
    return deflate_compress_temp_bytes(blocks, checked_streams(blocks, level));
  }
  void compress_async(const hemstitch_blocks& blocks, int level, const BatchOutputs& outputs, BatchTemp temp,
                      hemstitch_stream stream) const override {
    deflate_compress_async(blocks, checked_streams(blocks, level), outputs.d_outputs, outputs.d_capacities,
                           outputs.d_output_bytes, outputs.d_statuses, temp, stream);
  }

  std::size_t restore_temp_bytes(const hemstitch_compressed_blocks& compressed,
                                 std::size_t max_output_bytes) const override {
    return deflate_restore_temp_bytes(streams_in(compressed), id_, max_output_bytes);
  }
  void restore_async(const hemstitch_compressed_blocks& compressed, const BatchOutputs& outputs,
                     std::size_t max_output_bytes, const std::uint32_t* d_history_bytes, BatchTemp temp,
                     hemstitch_stream stream) const override {
    deflate_restore_async(streams_in(compressed), id_, outputs.d_outputs, outputs.d_capacities,
                          max_output_bytes, d_history_bytes, outputs.d_output_bytes, outputs.d_statuses, temp,
                          stream);
  }

  void checksums_async(const void* const* d_spans, const std::size_t* d_span_bytes, std::uint64_t count,
                       std::uint32_t* d_checksums, hemstitch_stream stream) const override {
    const FrameFormat& format = FormatTable::instance().of(id_);
    if (format.checksum() == Checksum::kNone)
      throw Error(Status::kInvalidOption, fmt::format("batch: {} has no checksum", format.title()));
    deflate_checksums_async(format.checksum(), d_spans, d_span_bytes, count, d_checksums, stream);
  }

  bool restores_long_streams() const override { return id_ != Format::kBgzf; }  // BGZF is many streams

 private:
  DeflateStreams checked_streams(const hemstitch_blocks& blocks, int level) const {
    check_parameter("batch", "max_block_bytes", blocks.max_block_bytes, 0, most_block_bytes(id_));
    check_parameter("batch", "max_history_bytes", blocks.max_history_bytes, 0,
                    id_ == Format::kDeflate ? kDeflateWindowBytes : 0);
    return streams_of(id_, checked_level(level));
  }
  static hemstitch_deflate_streams streams_in(const hemstitch_compressed_blocks& blocks) {
    return {blocks.blocks, blocks.block_bytes, blocks.count, blocks.max_block_bytes};
  }

  Format id_;
};

// For the functions that have numbers of their own for formats.
hemstitch_format checked_format(std::int32_t number) {
  switch (number) {
    case HEMSTITCH_DEFLATE_RAW:
      return HEMSTITCH_FORMAT_DEFLATE;
    case HEMSTITCH_DEFLATE_ZLIB:
      return HEMSTITCH_FORMAT_ZLIB;
    case HEMSTITCH_DEFLATE_GZIP:
      return HEMSTITCH_FORMAT_GZIP;
    case HEMSTITCH_DEFLATE_BGZF:
      return HEMSTITCH_FORMAT_BGZF;
    default:
      throw Error(Status::kInvalidOption, out_of_range("batch: format", number, 0, 3));
  }
}

hemstitch_format checked_stream_format(std::int32_t number) {
  const hemstitch_format format = checked_format(number);
  if (format == HEMSTITCH_FORMAT_BGZF)
    throw Error(Status::kInvalidOption, "batch: BGZF is many streams (use hemstitch_deflate_restore_async)");
  return format;
}

hemstitch_compressed_blocks blocks_in(const hemstitch_deflate_streams* streams) {
  const hemstitch_deflate_streams& given = *needed(streams, "streams");
  return {given.streams, given.stream_bytes, given.count, given.max_stream_bytes};
}

// The call by format, unless `prepare`, which translates what is given for it, throws.
template <class Prepare, class ByFormat>
hemstitch_status translated(const Prepare& prepare, const ByFormat& by_format) {
  const hemstitch_status status = guarded(prepare);
  return status == HEMSTITCH_OK ? by_format() : status;
}

}  // namespace

std::size_t DeflateStreams::bound(std::size_t content_bytes) const {
  return lead_bytes + deflate_data_room(content_bytes) + trail_bytes;
}

std::vector<std::unique_ptr<BatchFormat>> make_deflate_batch_formats() {
  std::vector<std::unique_ptr<BatchFormat>> formats;
  for (const Format id : {Format::kGzip, Format::kBgzf, Format::kZlib, Format::kDeflate})
    formats.push_back(std::make_unique<DeflateBatch>(id));
  return formats;
}

}  // namespace hemstitch

using hemstitch::checked_format;
using hemstitch::checked_stream_format;
using hemstitch::translated;

extern "C" {

size_t hemstitch_deflate_compress_bound(int32_t format, size_t block_bytes) {
  hemstitch_format known = HEMSTITCH_FORMAT_DEFAULT;  // which has no bound
  hemstitch::guarded([&] { known = checked_format(format); });
  return hemstitch_blocks_compress_bound(known, block_bytes);
}

hemstitch_status hemstitch_deflate_compress_temp_bytes(const hemstitch_deflate_blocks* blocks, int32_t format,
                                                       int level, size_t* temp_bytes) {
  hemstitch_format known{};
  return translated([&] { known = checked_format(format); },
                    [&] { return hemstitch_blocks_compress_temp_bytes(known, blocks, level, temp_bytes); });
}

hemstitch_status hemstitch_deflate_compress_async(const hemstitch_deflate_blocks* blocks, int32_t format,
                                                  int level, void* const* outputs, const size_t* capacities,
                                                  size_t* output_bytes, hemstitch_status* statuses,
                                                  void* temp, size_t temp_bytes, hemstitch_stream stream) {
  hemstitch_format known{};
  return translated([&] { known = checked_format(format); },
                    [&] {
                      return hemstitch_blocks_compress_async(known, blocks, level, outputs, capacities,
                                                             output_bytes, statuses, temp, temp_bytes,
                                                             stream);
                    });
}

hemstitch_status hemstitch_deflate_restore_temp_bytes(const hemstitch_deflate_streams* streams,
                                                      int32_t format, size_t max_output_bytes,
                                                      size_t* temp_bytes) {
  hemstitch_format known{};
  hemstitch_compressed_blocks blocks{};
  return translated(
      [&] {
        blocks = hemstitch::blocks_in(streams);
        known = checked_format(format);
      },
      [&] { return hemstitch_blocks_restore_temp_bytes(known, &blocks, max_output_bytes, temp_bytes); });
}

hemstitch_status hemstitch_deflate_restore_async(const hemstitch_deflate_streams* streams, int32_t format,
                                                 void* const* outputs, const size_t* capacities,
                                                 size_t max_output_bytes, const uint32_t* history_bytes,
                                                 size_t* output_bytes, hemstitch_status* statuses, void* temp,
                                                 size_t temp_bytes, hemstitch_stream stream) {
  hemstitch_format known{};
  hemstitch_compressed_blocks blocks{};
  return translated(
      [&] {
        blocks = hemstitch::blocks_in(streams);
        known = checked_format(format);
        hemstitch::need_for(blocks.count, blocks.blocks, "streams");
        hemstitch::need_for(blocks.count, blocks.block_bytes, "stream_bytes");
      },
      [&] {
        return hemstitch_blocks_restore_async(known, &blocks, outputs, capacities, max_output_bytes,
                                              history_bytes, output_bytes, statuses, temp, temp_bytes,
                                              stream);
      });
}

hemstitch_status hemstitch_deflate_stream_temp_bytes(uint64_t stream_bytes, uint64_t capacity, int32_t format,
                                                     size_t* temp_bytes) {
  hemstitch_format known{};
  return translated(
      [&] { known = checked_stream_format(format); },
      [&] { return hemstitch_long_stream_temp_bytes(known, stream_bytes, capacity, temp_bytes); });
}

hemstitch_status hemstitch_deflate_stream_restore(const void* data, uint64_t stream_bytes, int32_t format,
                                                  void* output, uint64_t capacity, uint64_t* output_bytes,
                                                  void* temp, size_t temp_bytes, hemstitch_stream stream) {
  hemstitch_format known{};
  return translated(
      [&] {
        *hemstitch::needed(output_bytes, "output_bytes") = 0;
        known = checked_stream_format(format);
      },
      [&] {
        return hemstitch_long_stream_restore(known, data, stream_bytes, output, capacity, output_bytes, temp,
                                             temp_bytes, stream);
      });
}

hemstitch_status hemstitch_crc32_async(const void* const* spans, const size_t* span_bytes, uint64_t count,
                                       uint32_t* checksums, hemstitch_stream stream) {
  return hemstitch_checksums_async(HEMSTITCH_FORMAT_GZIP, spans, span_bytes, count, checksums, stream);
}

hemstitch_status hemstitch_adler32_async(const void* const* spans, const size_t* span_bytes, uint64_t count,
                                         uint32_t* checksums, hemstitch_stream stream) {
  return hemstitch_checksums_async(HEMSTITCH_FORMAT_ZLIB, spans, span_bytes, count, checksums, stream);
}

}  // extern "C"
