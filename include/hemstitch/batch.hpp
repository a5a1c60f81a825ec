// batch.h for C++: arrays on the device are spans, and errors are thrown as hemstitch::Error.
//
// A span here is a device address and a count; nothing on the host reads through it. If arrays of one call
// must have the same length, the functions check it, which C cannot do. For everything else see batch.h.
//
//   hemstitch::batch::Blocks blocks{.blocks = d_blocks, .block_bytes = d_sizes, .max_block_bytes = 65536, ...};
//   std::size_t temp_bytes = hemstitch::batch::blocks_compress_temp_bytes(format, blocks, level);
//   hemstitch::batch::blocks_compress(format, blocks, level, {.outputs = d_outputs, ...}, {d_temp, temp_bytes},
//                                     stream);
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "hemstitch/batch.h"
#include "hemstitch/hemstitch.hpp"

namespace hemstitch::batch {

using Temp = std::span<std::byte>;

// Raw blocks; hemstitch_blocks.
struct Blocks {
  std::span<const void* const> blocks;
  std::span<const std::size_t> block_bytes;
  std::span<const std::uint32_t> history_bytes = {};  // empty: no block has any
  std::size_t max_block_bytes = 0;
  std::uint32_t max_history_bytes = 0;
  std::uint64_t total_block_bytes = 0;
};

// Compressed blocks; hemstitch_compressed_blocks.
struct Compressed {
  std::span<const void* const> blocks;
  std::span<const std::size_t> block_bytes;
  std::size_t max_block_bytes = 0;
};

// Streams of DEFLATE, zlib or gzip, or blocks of BGZF; hemstitch_deflate_streams.
struct Streams {
  std::span<const void* const> streams;
  std::span<const std::size_t> stream_bytes;
  std::size_t max_stream_bytes = 0;
};

// Where results go, one per block.
struct Outputs {
  std::span<void* const> outputs;
  // compressing: empty means blocks_compress_bound(format, max_block_bytes) at each
  std::span<const std::size_t> capacities = {};
  std::span<std::size_t> output_bytes;
  std::span<hemstitch_status> statuses;
};

namespace detail {

inline void check(hemstitch_status status) {
  if (status == HEMSTITCH_OK) return;
  // The message of the C interface ends with the status text, and Error adds it again: remove it here.
  std::string message = hemstitch_last_error_message();
  const std::string ending = std::string(" (") + hemstitch_status_text(status) + ")";
  if (message.ends_with(ending)) message.resize(message.size() - ending.size());
  throw Error(static_cast<Status>(status), message);
}

inline void same_count(std::size_t count, std::size_t expected, const char* name) {
  if (count != expected)
    throw Error(Status::kInvalidOption, std::string("batch: ") + name + " has " + std::to_string(count) +
                                            " elements for " + std::to_string(expected) + " blocks");
}

inline hemstitch_blocks given(const Blocks& blocks) {
  if (blocks.blocks.size() > UINT32_MAX)
    throw Error(Status::kInvalidOption, "batch: more than 2^32 - 1 blocks; divide the batch");
  same_count(blocks.block_bytes.size(), blocks.blocks.size(), "block_bytes");
  if (!blocks.history_bytes.empty())
    same_count(blocks.history_bytes.size(), blocks.blocks.size(), "history_bytes");
  hemstitch_blocks given{};
  given.blocks = blocks.blocks.data();
  given.block_bytes = blocks.block_bytes.data();
  given.history_bytes = blocks.history_bytes.empty() ? nullptr : blocks.history_bytes.data();
  given.count = static_cast<std::uint32_t>(blocks.blocks.size());
  given.max_history_bytes = blocks.max_history_bytes;
  given.max_block_bytes = blocks.max_block_bytes;
  given.total_block_bytes = blocks.total_block_bytes;
  return given;
}

inline hemstitch_compressed_blocks given(const Compressed& compressed) {
  same_count(compressed.block_bytes.size(), compressed.blocks.size(), "block_bytes");
  return {compressed.blocks.data(), compressed.block_bytes.data(), compressed.blocks.size(),
          compressed.max_block_bytes};
}

inline hemstitch_deflate_streams given(const Streams& streams) {
  same_count(streams.stream_bytes.size(), streams.streams.size(), "stream_bytes");
  return {streams.streams.data(), streams.stream_bytes.data(), streams.streams.size(),
          streams.max_stream_bytes};
}

inline void same_count(const Outputs& outputs, std::size_t expected) {
  same_count(outputs.outputs.size(), expected, "outputs");
  same_count(outputs.output_bytes.size(), expected, "output_bytes");
  same_count(outputs.statuses.size(), expected, "statuses");
  if (!outputs.capacities.empty()) same_count(outputs.capacities.size(), expected, "capacities");
}

// Outputs and histories may be left out.
inline void check_restoring(const Outputs& outputs, std::span<const std::uint32_t> history_bytes,
                            std::size_t count) {
  if (!outputs.outputs.empty()) same_count(outputs.outputs.size(), count, "outputs");
  same_count(outputs.capacities.size(), count, "capacities");
  same_count(outputs.output_bytes.size(), count, "output_bytes");
  same_count(outputs.statuses.size(), count, "statuses");
  if (!history_bytes.empty()) same_count(history_bytes.size(), count, "history_bytes");
}

// C takes NULL for an array that is left out.
template <class T>
T* data_or_null(std::span<T> array) {
  return array.empty() ? nullptr : array.data();
}

inline hemstitch_format number_of(Format format) { return static_cast<hemstitch_format>(format); }

}  // namespace detail

// ---- Blocks of any format ----

// SIZE_MAX for a block that is too large for the format.
inline std::size_t blocks_compress_bound(Format format, std::size_t block_bytes) {
  return hemstitch_blocks_compress_bound(detail::number_of(format), block_bytes);
}

inline std::size_t blocks_compress_temp_bytes(Format format, const Blocks& blocks, int level) {
  const hemstitch_blocks given = detail::given(blocks);
  std::size_t bytes = 0;
  detail::check(hemstitch_blocks_compress_temp_bytes(detail::number_of(format), &given, level, &bytes));
  return bytes;
}

inline void blocks_compress(Format format, const Blocks& blocks, int level, const Outputs& outputs, Temp temp,
                            hemstitch_stream stream) {
  const hemstitch_blocks given = detail::given(blocks);
  detail::same_count(outputs, given.count);
  detail::check(
      hemstitch_blocks_compress_async(detail::number_of(format), &given, level, outputs.outputs.data(),
                                      detail::data_or_null(outputs.capacities), outputs.output_bytes.data(),
                                      outputs.statuses.data(), temp.data(), temp.size(), stream));
}

inline std::size_t blocks_restore_temp_bytes(Format format, const Compressed& compressed,
                                             std::size_t max_output_bytes) {
  const hemstitch_compressed_blocks given = detail::given(compressed);
  std::size_t bytes = 0;
  detail::check(
      hemstitch_blocks_restore_temp_bytes(detail::number_of(format), &given, max_output_bytes, &bytes));
  return bytes;
}

// `outputs.outputs` empty: finds only sizes and statuses. `history_bytes` empty: no block has any.
inline void blocks_restore(Format format, const Compressed& compressed, const Outputs& outputs,
                           std::size_t max_output_bytes, std::span<const std::uint32_t> history_bytes,
                           Temp temp, hemstitch_stream stream) {
  const hemstitch_compressed_blocks given = detail::given(compressed);
  detail::check_restoring(outputs, history_bytes, compressed.blocks.size());
  detail::check(hemstitch_blocks_restore_async(
      detail::number_of(format), &given, detail::data_or_null(outputs.outputs), outputs.capacities.data(),
      max_output_bytes, detail::data_or_null(history_bytes), outputs.output_bytes.data(),
      outputs.statuses.data(), temp.data(), temp.size(), stream));
}

inline void checksums(Format format, std::span<const void* const> spans,
                      std::span<const std::size_t> span_bytes, std::span<std::uint32_t> results,
                      hemstitch_stream stream) {
  detail::same_count(span_bytes.size(), spans.size(), "span_bytes");
  detail::same_count(results.size(), spans.size(), "results");
  detail::check(hemstitch_checksums_async(detail::number_of(format), spans.data(), span_bytes.data(),
                                          spans.size(), results.data(), stream));
}

inline std::size_t long_stream_temp_bytes(Format format, std::uint64_t stream_bytes, std::uint64_t capacity) {
  std::size_t bytes = 0;
  detail::check(hemstitch_long_stream_temp_bytes(detail::number_of(format), stream_bytes, capacity, &bytes));
  return bytes;
}

// Waits for the stream. Returns the content's size.
inline std::uint64_t long_stream_restore(Format format, std::span<const std::byte> data,
                                         std::span<std::byte> output, Temp temp, hemstitch_stream stream) {
  std::uint64_t bytes = 0;
  detail::check(hemstitch_long_stream_restore(detail::number_of(format), data.data(), data.size(),
                                              output.data(), output.size(), &bytes, temp.data(), temp.size(),
                                              stream));
  return bytes;
}

// ---- LZ4 blocks ----

inline std::size_t lz4_compress_temp_bytes(const Blocks& blocks, int level) {
  return blocks_compress_temp_bytes(Format::kLz4, blocks, level);
}

inline void lz4_compress(const Blocks& blocks, int level, const Outputs& outputs, Temp temp,
                         hemstitch_stream stream) {
  blocks_compress(Format::kLz4, blocks, level, outputs, temp, stream);
}

inline std::size_t lz4_span_temp_bytes(const Blocks& blocks, int level) {
  const hemstitch_lz4_blocks given = detail::given(blocks);
  std::size_t bytes = 0;
  detail::check(hemstitch_lz4_span_temp_bytes(&given, level, &bytes));
  return bytes;
}

// Blocks one after the other in `span`; `offsets` says where, and has one element more than there are blocks.
struct SpanOutput {
  std::span<std::byte> span;
  std::span<std::uint64_t> offsets;
  std::span<std::uint32_t> sizes;
  std::span<hemstitch_status> statuses;
  std::uint32_t lead_bytes = 0;
  std::uint32_t trail_bytes = 0;
};

inline void lz4_span(const Blocks& blocks, int level, const SpanOutput& output, Temp temp,
                     hemstitch_stream stream) {
  const hemstitch_lz4_blocks given = detail::given(blocks);
  detail::same_count(output.offsets.size(), std::size_t{given.count} + 1, "offsets");
  detail::same_count(output.sizes.size(), given.count, "sizes");
  detail::same_count(output.statuses.size(), given.count, "statuses");
  const hemstitch_lz4_span span{output.span.data(), output.span.size(),    output.lead_bytes,
                                output.trail_bytes, output.offsets.data(), output.sizes.data()};
  detail::check(hemstitch_lz4_span_async(&given, level, &span, output.statuses.data(), temp.data(),
                                         temp.size(), stream));
}

inline std::size_t lz4_restore_temp_bytes(const Compressed& compressed, std::size_t max_output_bytes) {
  return blocks_restore_temp_bytes(Format::kLz4, compressed, max_output_bytes);
}

// `history_bytes` empty: no block has any.
inline void lz4_restore(const Compressed& compressed, const Outputs& outputs, std::size_t max_output_bytes,
                        std::span<const std::uint32_t> history_bytes, Temp temp, hemstitch_stream stream) {
  detail::same_count(outputs.outputs.size(), compressed.blocks.size(), "outputs");
  blocks_restore(Format::kLz4, compressed, outputs, max_output_bytes, history_bytes, temp, stream);
}

inline std::size_t lz4_sizes_temp_bytes(const Compressed& compressed, std::size_t max_output_bytes) {
  const hemstitch_lz4_compressed given = detail::given(compressed);
  std::size_t bytes = 0;
  detail::check(hemstitch_lz4_sizes_temp_bytes(&given, max_output_bytes, &bytes));
  return bytes;
}

inline void lz4_sizes(const Compressed& compressed, std::size_t max_output_bytes,
                      std::span<std::size_t> output_bytes, std::span<hemstitch_status> statuses, Temp temp,
                      hemstitch_stream stream) {
  const hemstitch_lz4_compressed given = detail::given(compressed);
  detail::same_count(output_bytes.size(), given.count, "output_bytes");
  detail::same_count(statuses.size(), given.count, "statuses");
  detail::check(hemstitch_lz4_sizes_async(&given, max_output_bytes, output_bytes.data(), statuses.data(),
                                          temp.data(), temp.size(), stream));
}

// ---- Pages ----

inline std::size_t lz4_pages_compress_temp_bytes(const Blocks& pages, int level) {
  const hemstitch_lz4_blocks given = detail::given(pages);
  std::size_t bytes = 0;
  detail::check(hemstitch_lz4_pages_compress_temp_bytes(&given, level, &bytes));
  return bytes;
}

inline void lz4_pages_compress(const Blocks& pages, int level, std::span<void* const> outputs,
                               std::span<hemstitch_lz4_page_entry> entries,
                               std::span<hemstitch_status> statuses, Temp temp, hemstitch_stream stream) {
  const hemstitch_lz4_blocks given = detail::given(pages);
  detail::same_count(outputs.size(), given.count, "outputs");
  detail::same_count(entries.size(), given.count, "entries");
  detail::same_count(statuses.size(), given.count, "statuses");
  detail::check(hemstitch_lz4_pages_compress_async(&given, level, outputs.data(), entries.data(),
                                                   statuses.data(), temp.data(), temp.size(), stream));
}

inline std::size_t lz4_pages_restore_temp_bytes(std::uint64_t count) {
  std::size_t bytes = 0;
  detail::check(hemstitch_lz4_pages_restore_temp_bytes(count, &bytes));
  return bytes;
}

inline void lz4_pages_restore(std::span<const void* const> kept,
                              std::span<const hemstitch_lz4_page_entry> entries, std::span<void* const> pages,
                              std::span<const std::size_t> page_bytes, std::span<hemstitch_status> statuses,
                              Temp temp, hemstitch_stream stream) {
  detail::same_count(entries.size(), kept.size(), "entries");
  detail::same_count(pages.size(), kept.size(), "pages");
  detail::same_count(page_bytes.size(), kept.size(), "page_bytes");
  detail::same_count(statuses.size(), kept.size(), "statuses");
  detail::check(hemstitch_lz4_pages_restore_async(kept.data(), entries.data(), kept.size(), pages.data(),
                                                  page_bytes.data(), statuses.data(), temp.data(),
                                                  temp.size(), stream));
}

// ---- Frames ----

inline std::uint64_t lz4_frame_bound(std::uint64_t content_bytes, const hemstitch_lz4_frame& frame) {
  std::uint64_t bytes = 0;
  detail::check(hemstitch_lz4_frame_bound(content_bytes, &frame, &bytes));
  return bytes;
}

inline std::size_t lz4_frame_compress_temp_bytes(std::uint64_t content_bytes,
                                                 const hemstitch_lz4_frame& frame, int level) {
  std::size_t bytes = 0;
  detail::check(hemstitch_lz4_frame_compress_temp_bytes(content_bytes, &frame, level, &bytes));
  return bytes;
}

inline void lz4_frame_compress(std::span<const std::byte> content, const hemstitch_lz4_frame& frame,
                               int level, std::span<std::byte> output, std::uint64_t* output_bytes,
                               hemstitch_status* status, Temp temp, hemstitch_stream stream) {
  detail::check(hemstitch_lz4_frame_compress_async(content.data(), content.size(), &frame, level,
                                                   output.data(), output.size(), output_bytes, status,
                                                   temp.data(), temp.size(), stream));
}

// `begin` is in host memory.
inline hemstitch_lz4_frame lz4_frame_read_header(std::span<const std::byte> begin) {
  hemstitch_lz4_frame frame{};
  detail::check(hemstitch_lz4_frame_read_header(begin.data(), begin.size(), &frame));
  return frame;
}

inline std::size_t lz4_frame_restore_temp_bytes(const hemstitch_lz4_frame& frame) {
  std::size_t bytes = 0;
  detail::check(hemstitch_lz4_frame_restore_temp_bytes(&frame, &bytes));
  return bytes;
}

inline void lz4_frame_restore(std::span<const std::byte> data, const hemstitch_lz4_frame& frame,
                              std::span<std::byte> output, std::uint64_t* output_bytes,
                              hemstitch_status* status, Temp temp, hemstitch_stream stream) {
  detail::check(hemstitch_lz4_frame_restore_async(data.data(), data.size(), &frame, output.data(),
                                                  output.size(), output_bytes, status, temp.data(),
                                                  temp.size(), stream));
}

// ---- DEFLATE ----

// SIZE_MAX for a block that is too large for the format.
inline std::size_t deflate_compress_bound(hemstitch_deflate_format format, std::size_t block_bytes) {
  return hemstitch_deflate_compress_bound(format, block_bytes);
}

inline std::size_t deflate_compress_temp_bytes(const Blocks& blocks, hemstitch_deflate_format format,
                                               int level) {
  const hemstitch_deflate_blocks given = detail::given(blocks);
  std::size_t bytes = 0;
  detail::check(hemstitch_deflate_compress_temp_bytes(&given, format, level, &bytes));
  return bytes;
}

inline void deflate_compress(const Blocks& blocks, hemstitch_deflate_format format, int level,
                             const Outputs& outputs, Temp temp, hemstitch_stream stream) {
  const hemstitch_deflate_blocks given = detail::given(blocks);
  detail::same_count(outputs, given.count);
  detail::check(hemstitch_deflate_compress_async(
      &given, format, level, outputs.outputs.data(),
      outputs.capacities.empty() ? nullptr : outputs.capacities.data(), outputs.output_bytes.data(),
      outputs.statuses.data(), temp.data(), temp.size(), stream));
}

inline std::size_t deflate_restore_temp_bytes(const Streams& streams, hemstitch_deflate_format format,
                                              std::size_t max_output_bytes) {
  const hemstitch_deflate_streams given = detail::given(streams);
  std::size_t bytes = 0;
  detail::check(hemstitch_deflate_restore_temp_bytes(&given, format, max_output_bytes, &bytes));
  return bytes;
}

// `outputs.outputs` empty: finds only sizes and statuses. `history_bytes` empty: no stream has any.
inline void deflate_restore(const Streams& streams, hemstitch_deflate_format format, const Outputs& outputs,
                            std::size_t max_output_bytes, std::span<const std::uint32_t> history_bytes,
                            Temp temp, hemstitch_stream stream) {
  const hemstitch_deflate_streams given = detail::given(streams);
  detail::check_restoring(outputs, history_bytes, streams.streams.size());
  detail::check(hemstitch_deflate_restore_async(
      &given, format, outputs.outputs.empty() ? nullptr : outputs.outputs.data(), outputs.capacities.data(),
      max_output_bytes, history_bytes.empty() ? nullptr : history_bytes.data(), outputs.output_bytes.data(),
      outputs.statuses.data(), temp.data(), temp.size(), stream));
}

inline std::size_t deflate_stream_temp_bytes(std::uint64_t stream_bytes, std::uint64_t capacity,
                                             hemstitch_deflate_format format) {
  std::size_t bytes = 0;
  detail::check(hemstitch_deflate_stream_temp_bytes(stream_bytes, capacity, format, &bytes));
  return bytes;
}

// Waits for the stream. Returns the content's size.
inline std::uint64_t deflate_stream_restore(const void* data, std::uint64_t stream_bytes,
                                            hemstitch_deflate_format format, void* output,
                                            std::uint64_t capacity, Temp temp, hemstitch_stream stream) {
  std::uint64_t bytes = 0;
  detail::check(hemstitch_deflate_stream_restore(data, stream_bytes, format, output, capacity, &bytes,
                                                 temp.data(), temp.size(), stream));
  return bytes;
}

// ---- Shuffling ----

inline std::size_t shuffle_temp_bytes(std::uint64_t count) {
  std::size_t bytes = 0;
  detail::check(hemstitch_shuffle_temp_bytes(count, &bytes));
  return bytes;
}

inline void shuffle(std::span<const void* const> sources, std::span<const std::size_t> sizes,
                    std::span<void* const> targets, std::uint32_t element_bytes, Temp temp,
                    hemstitch_stream stream) {
  detail::same_count(sizes.size(), sources.size(), "sizes");
  detail::same_count(targets.size(), sources.size(), "targets");
  detail::check(hemstitch_shuffle_async(sources.data(), sizes.data(), targets.data(), sources.size(),
                                        element_bytes, temp.data(), temp.size(), stream));
}

inline void unshuffle(std::span<const void* const> sources, std::span<const std::size_t> sizes,
                      std::span<void* const> targets, std::uint32_t element_bytes, Temp temp,
                      hemstitch_stream stream) {
  detail::same_count(sizes.size(), sources.size(), "sizes");
  detail::same_count(targets.size(), sources.size(), "targets");
  detail::check(hemstitch_unshuffle_async(sources.data(), sizes.data(), targets.data(), sources.size(),
                                          element_bytes, temp.data(), temp.size(), stream));
}

inline std::size_t bitshuffle_temp_bytes(std::uint64_t count) {
  std::size_t bytes = 0;
  detail::check(hemstitch_bitshuffle_temp_bytes(count, &bytes));
  return bytes;
}

inline void bitshuffle(std::span<const void* const> sources, std::span<const std::size_t> sizes,
                       std::span<void* const> targets, std::uint32_t element_bytes, std::size_t block_bytes,
                       Temp temp, hemstitch_stream stream) {
  detail::same_count(sizes.size(), sources.size(), "sizes");
  detail::same_count(targets.size(), sources.size(), "targets");
  detail::check(hemstitch_bitshuffle_async(sources.data(), sizes.data(), targets.data(), sources.size(),
                                           element_bytes, block_bytes, temp.data(), temp.size(), stream));
}

inline void bitunshuffle(std::span<const void* const> sources, std::span<const std::size_t> sizes,
                         std::span<void* const> targets, std::uint32_t element_bytes, std::size_t block_bytes,
                         Temp temp, hemstitch_stream stream) {
  detail::same_count(sizes.size(), sources.size(), "sizes");
  detail::same_count(targets.size(), sources.size(), "targets");
  detail::check(hemstitch_bitunshuffle_async(sources.data(), sizes.data(), targets.data(), sources.size(),
                                             element_bytes, block_bytes, temp.data(), temp.size(), stream));
}

}  // namespace hemstitch::batch
