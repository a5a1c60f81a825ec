// LZ4 in the batch interface: checks arguments and looks levels up; lz4_batch_device.hpp does the rest.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "batch/batch_checks.hpp"
#include "batch/lz4_batch_device.hpp"
#include "core/c_call.hpp"
#include "core/page.hpp"
#include "format/batch_format.hpp"
#include "format/lz4/frame/lz4_frame.hpp"
#include "format/lz4/frame/lz4_frame_layout.hpp"
#include "match/common/parameter_check.hpp"

namespace hemstitch {
namespace {

// On the device, the sizes of blocks and their sums have 32 bits, one of which is a flag.
constexpr std::size_t kMostRawBytes = 0x7E000000;
constexpr std::size_t kMostRestoredBytes = std::size_t{1} << 30;

const hemstitch_lz4_blocks& checked(const hemstitch_lz4_blocks& given) {
  check_parameter("batch", "max_history_bytes", given.max_history_bytes, 0, kMostBatchHistoryBytes);
  check_parameter("batch", "max_block_bytes", given.max_block_bytes, 0, kMostRawBytes);
  return given;
}

const hemstitch_lz4_blocks& checked(const hemstitch_lz4_blocks* blocks) {
  return checked(*needed(blocks, "blocks"));
}

const hemstitch_lz4_blocks& checked_pages(const hemstitch_lz4_blocks* pages) {
  const hemstitch_lz4_blocks& given = checked(pages);
  check_parameter("batch", "max_block_bytes", given.max_block_bytes, 0, kPageBytes);
  check_parameter("batch", "max_history_bytes", given.max_history_bytes, 0, 0);
  return given;
}

void need_arrays(const hemstitch_lz4_blocks& blocks, const hemstitch_status* statuses) {
  need_for(blocks.count, blocks.blocks, "blocks");
  need_for(blocks.count, blocks.block_bytes, "block_bytes");
  need_for(blocks.count, statuses, "statuses");
}

Lz4Level checked_lz4_level(int level, const hemstitch_lz4_blocks& blocks) {
  return lz4_level(checked_level(level), blocks.max_block_bytes, blocks.max_history_bytes);
}

const hemstitch_lz4_compressed& checked(const hemstitch_lz4_compressed& given, std::size_t max_output_bytes) {
  check_parameter("batch", "max_block_bytes", given.max_block_bytes, 0, kMostRestoredBytes);
  check_parameter("batch", "max_output_bytes", max_output_bytes, 0, kMostRestoredBytes);
  return given;
}

class Lz4Batch : public BatchFormat {
 public:
  Format id() const override { return Format::kLz4; }

  std::size_t compress_bound(std::size_t block_bytes) const override {
    const std::size_t most_growth = block_bytes / 255 + 16;
    constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
    return block_bytes <= kMost - most_growth ? block_bytes + most_growth : kMost;
  }
  std::size_t compress_temp_bytes(const hemstitch_blocks& blocks, int level) const override {
    return lz4_compress_temp_bytes(checked(blocks), checked_lz4_level(level, blocks));
  }
  void compress_async(const hemstitch_blocks& blocks, int level, const BatchOutputs& outputs, BatchTemp temp,
                      hemstitch_stream stream) const override {
    lz4_compress_async(checked(blocks), checked_lz4_level(level, blocks), outputs.d_outputs,
                       outputs.d_capacities, outputs.d_output_bytes, outputs.d_statuses, temp, stream);
  }

  std::size_t restore_temp_bytes(const hemstitch_compressed_blocks& compressed,
                                 std::size_t max_output_bytes) const override {
    return lz4_restore_temp_bytes(checked(compressed, max_output_bytes), max_output_bytes);
  }
  void restore_async(const hemstitch_compressed_blocks& compressed, const BatchOutputs& outputs,
                     std::size_t max_output_bytes, const std::uint32_t* d_history_bytes, BatchTemp temp,
                     hemstitch_stream stream) const override {
    lz4_restore_async(checked(compressed, max_output_bytes), outputs.d_outputs, outputs.d_capacities,
                      max_output_bytes, d_history_bytes, outputs.d_output_bytes, outputs.d_statuses, temp,
                      stream);
  }

  void checksums_async(const void* const* d_spans, const std::size_t* d_span_bytes, std::uint64_t count,
                       std::uint32_t* d_checksums, hemstitch_stream stream) const override {
    lz4_checksums_async(d_spans, d_span_bytes, count, d_checksums, stream);
  }
};

const hemstitch_lz4_frame& checked(const hemstitch_lz4_frame* frame) {
  const hemstitch_lz4_frame& given = *needed(frame, "frame");
  if (given.block_bytes != 64 << 10 && given.block_bytes != 256 << 10 && given.block_bytes != 1 << 20 &&
      given.block_bytes != 4 << 20)
    throw Error(Status::kInvalidOption,
                fmt::format("batch: block_bytes is {}, it can be 64K, 256K, 1M or 4M", given.block_bytes));
  for (const auto& [flag, name] :
       {std::pair{given.linked_blocks, "linked_blocks"}, std::pair{given.block_checksums, "block_checksums"},
        std::pair{given.content_checksum, "content_checksum"},
        std::pair{given.content_bytes_known, "content_bytes_known"}})
    check_parameter("batch", name, static_cast<std::uint32_t>(flag), 0, 1);
  return given;
}

// How many blocks a frame with that content has, as we lay it out.
std::uint64_t block_count_of(std::uint64_t content_bytes, const hemstitch_lz4_frame& frame) {
  return lz4_frame_layout(content_bytes, frame.block_bytes, frame.block_checksums != 0,
                          frame.content_checksum != 0)
      .block_count();
}

const hemstitch_lz4_frame& to_write(const hemstitch_lz4_frame* frame, std::uint64_t content_bytes) {
  const hemstitch_lz4_frame& given = checked(frame);
  check_parameter("batch", "content_checksum", static_cast<std::uint32_t>(given.content_checksum), 0, 0);
  if (block_count_of(content_bytes, given) > std::numeric_limits<std::int32_t>::max())
    throw Error(Status::kInvalidOption,
                fmt::format("batch: {} bytes are too many blocks of {} bytes for one frame", content_bytes,
                            given.block_bytes));
  return given;
}

const hemstitch_lz4_frame& to_read(const hemstitch_lz4_frame* frame) {
  const hemstitch_lz4_frame& given = checked(frame);
  check_parameter("batch", "header_bytes", given.header_bytes, 7, kMaxFrameHeaderBytes);
  check_parameter("batch", "max_block_count", given.max_block_count, 1,
                  std::numeric_limits<std::int32_t>::max());
  return given;
}

hemstitch_lz4_frame read_header(std::span<const std::byte> begin) {
  Lz4FrameParser parser(true);
  std::size_t at = 0;
  for (auto event = Lz4FrameParser::Event::kMore; event != Lz4FrameParser::Event::kFrameBegin;) {
    const std::size_t wanted = std::min(parser.wanted_bytes(), begin.size() - at);
    event = parser.step(begin.subspan(at, wanted));
    at += wanted;
    if (event == Lz4FrameParser::Event::kSkip)
      throw Error(Status::kUnsupportedFeature, "batch: a skippable frame holds no content");
  }
  const FrameHeader& header = parser.header();
  if (header.legacy) throw Error(Status::kUnsupportedFeature, "batch: this is a legacy frame");
  if (header.dictionary_id) throw Error(Status::kUnsupportedFeature, "batch: this frame needs a dictionary");
  hemstitch_lz4_frame frame{};
  frame.block_bytes = static_cast<std::uint32_t>(header.block_bytes);
  frame.linked_blocks = header.block_kind == BlockKind::kLinked;
  frame.block_checksums = header.block_checksums;
  frame.content_checksum = header.content_checksum;
  frame.content_bytes_known = header.content_bytes.has_value();
  frame.header_bytes = static_cast<std::uint32_t>(at);
  frame.content_bytes = header.content_bytes.value_or(0);
  const std::uint64_t block_count = block_count_of(frame.content_bytes, frame);
  if (header.content_bytes && block_count <= std::numeric_limits<std::int32_t>::max())
    frame.max_block_count = std::max(1u, static_cast<std::uint32_t>(block_count));
  return frame;
}

}  // namespace

std::vector<std::unique_ptr<BatchFormat>> make_lz4_batch_formats() {
  std::vector<std::unique_ptr<BatchFormat>> formats;
  formats.push_back(std::make_unique<Lz4Batch>());
  return formats;
}

}  // namespace hemstitch

using hemstitch::guarded;
using hemstitch::need_arrays;
using hemstitch::need_for;
using hemstitch::needed;

extern "C" {

size_t hemstitch_lz4_compress_bound(size_t block_bytes) {
  return hemstitch_blocks_compress_bound(HEMSTITCH_FORMAT_LZ4, block_bytes);
}

hemstitch_status hemstitch_lz4_compress_temp_bytes(const hemstitch_lz4_blocks* blocks, int level,
                                                   size_t* temp_bytes) {
  return hemstitch_blocks_compress_temp_bytes(HEMSTITCH_FORMAT_LZ4, blocks, level, temp_bytes);
}

hemstitch_status hemstitch_lz4_compress_async(const hemstitch_lz4_blocks* blocks, int level,
                                              void* const* outputs, const size_t* capacities,
                                              size_t* output_bytes, hemstitch_status* statuses, void* temp,
                                              size_t temp_bytes, hemstitch_stream stream) {
  return hemstitch_blocks_compress_async(HEMSTITCH_FORMAT_LZ4, blocks, level, outputs, capacities,
                                         output_bytes, statuses, temp, temp_bytes, stream);
}

hemstitch_status hemstitch_lz4_span_temp_bytes(const hemstitch_lz4_blocks* blocks, int level,
                                               size_t* temp_bytes) {
  return guarded([&] {
    const auto& given = hemstitch::checked(blocks);
    needed(temp_bytes, "temp_bytes");
    *temp_bytes = hemstitch::lz4_span_temp_bytes(given, hemstitch::checked_lz4_level(level, given));
  });
}

hemstitch_status hemstitch_lz4_span_async(const hemstitch_lz4_blocks* blocks, int level,
                                          const hemstitch_lz4_span* span, hemstitch_status* statuses,
                                          void* temp, size_t temp_bytes, hemstitch_stream stream) {
  return guarded([&] {
    const auto& given = hemstitch::checked(blocks);
    need_arrays(given, statuses);
    const hemstitch_lz4_span& place = *needed(span, "span");
    need_for(place.capacity, place.span, "span.span");
    need_for(given.count, place.sizes, "span.sizes");
    needed(place.offsets, "span.offsets");
    hemstitch::lz4_span_async(given, hemstitch::checked_lz4_level(level, given), place, statuses,
                              {temp, temp_bytes}, stream);
  });
}

hemstitch_status hemstitch_lz4_restore_temp_bytes(const hemstitch_lz4_compressed* compressed,
                                                  size_t max_output_bytes, size_t* temp_bytes) {
  return hemstitch_blocks_restore_temp_bytes(HEMSTITCH_FORMAT_LZ4, compressed, max_output_bytes, temp_bytes);
}

hemstitch_status hemstitch_lz4_restore_async(const hemstitch_lz4_compressed* compressed, void* const* outputs,
                                             const size_t* capacities, size_t max_output_bytes,
                                             const uint32_t* history_bytes, size_t* output_bytes,
                                             hemstitch_status* statuses, void* temp, size_t temp_bytes,
                                             hemstitch_stream stream) {
  const hemstitch_status outputs_given =
      guarded([&] { need_for(needed(compressed, "compressed")->count, outputs, "outputs"); });
  if (outputs_given != HEMSTITCH_OK) return outputs_given;
  return hemstitch_blocks_restore_async(HEMSTITCH_FORMAT_LZ4, compressed, outputs, capacities,
                                        max_output_bytes, history_bytes, output_bytes, statuses, temp,
                                        temp_bytes, stream);
}

hemstitch_status hemstitch_lz4_sizes_temp_bytes(const hemstitch_lz4_compressed* compressed,
                                                size_t max_output_bytes, size_t* temp_bytes) {
  return guarded([&] {
    needed(temp_bytes, "temp_bytes");
    *temp_bytes = hemstitch::lz4_sizes_temp_bytes(
        hemstitch::checked(*needed(compressed, "compressed"), max_output_bytes), max_output_bytes);
  });
}

hemstitch_status hemstitch_lz4_sizes_async(const hemstitch_lz4_compressed* compressed,
                                           size_t max_output_bytes, size_t* output_bytes,
                                           hemstitch_status* statuses, void* temp, size_t temp_bytes,
                                           hemstitch_stream stream) {
  return guarded([&] {
    const auto& given = hemstitch::checked(*needed(compressed, "compressed"), max_output_bytes);
    need_for(given.count, given.blocks, "blocks");
    need_for(given.count, given.block_bytes, "block_bytes");
    need_for(given.count, output_bytes, "output_bytes");
    need_for(given.count, statuses, "statuses");
    hemstitch::lz4_sizes_async(given, max_output_bytes, output_bytes, statuses, {temp, temp_bytes}, stream);
  });
}

hemstitch_status hemstitch_lz4_checksums_async(const void* const* spans, const size_t* span_bytes,
                                               uint64_t count, uint32_t* checksums, hemstitch_stream stream) {
  return hemstitch_checksums_async(HEMSTITCH_FORMAT_LZ4, spans, span_bytes, count, checksums, stream);
}

hemstitch_status hemstitch_lz4_pages_compress_temp_bytes(const hemstitch_lz4_blocks* pages, int level,
                                                         size_t* temp_bytes) {
  return guarded([&] {
    const auto& given = hemstitch::checked_pages(pages);
    needed(temp_bytes, "temp_bytes");
    *temp_bytes = hemstitch::lz4_pages_compress_temp_bytes(given, hemstitch::checked_lz4_level(level, given));
  });
}

hemstitch_status hemstitch_lz4_pages_compress_async(const hemstitch_lz4_blocks* pages, int level,
                                                    void* const* outputs, hemstitch_lz4_page_entry* entries,
                                                    hemstitch_status* statuses, void* temp, size_t temp_bytes,
                                                    hemstitch_stream stream) {
  return guarded([&] {
    const auto& given = hemstitch::checked_pages(pages);
    need_arrays(given, statuses);
    need_for(given.count, outputs, "outputs");
    need_for(given.count, entries, "entries");
    hemstitch::lz4_pages_compress_async(given, hemstitch::checked_lz4_level(level, given), outputs, entries,
                                        statuses, {temp, temp_bytes}, stream);
  });
}

hemstitch_status hemstitch_lz4_pages_restore_temp_bytes(uint64_t count, size_t* temp_bytes) {
  return guarded([&] {
    needed(temp_bytes, "temp_bytes");
    *temp_bytes = hemstitch::lz4_pages_restore_temp_bytes(count);
  });
}

hemstitch_status hemstitch_lz4_pages_restore_async(const void* const* kept,
                                                   const hemstitch_lz4_page_entry* entries, uint64_t count,
                                                   void* const* pages, const size_t* page_bytes,
                                                   hemstitch_status* statuses, void* temp, size_t temp_bytes,
                                                   hemstitch_stream stream) {
  return guarded([&] {
    need_for(count, kept, "kept");
    need_for(count, entries, "entries");
    need_for(count, pages, "pages");
    need_for(count, page_bytes, "page_bytes");
    need_for(count, statuses, "statuses");
    hemstitch::lz4_pages_restore_async(kept, entries, count, pages, page_bytes, statuses, {temp, temp_bytes},
                                       stream);
  });
}

hemstitch_status hemstitch_lz4_frame_bound(uint64_t content_bytes, const hemstitch_lz4_frame* frame,
                                           uint64_t* bytes) {
  return guarded([&] {
    const auto& given = hemstitch::to_write(frame, content_bytes);
    const std::uint64_t block_count = hemstitch::block_count_of(content_bytes, given);
    // A block that does not shrink is stored; the end mark is as long as the header of a block.
    *needed(bytes, "bytes") = hemstitch::kMaxFrameHeaderBytes + content_bytes +
                              (block_count + 1) * hemstitch::kBlockHeaderBytes +
                              (given.block_checksums != 0 ? block_count * hemstitch::kBlockChecksumBytes : 0);
  });
}

hemstitch_status hemstitch_lz4_frame_compress_temp_bytes(uint64_t content_bytes,
                                                         const hemstitch_lz4_frame* frame, int level,
                                                         size_t* temp_bytes) {
  return guarded([&] {
    const auto& given = hemstitch::to_write(frame, content_bytes);
    needed(temp_bytes, "temp_bytes");
    *temp_bytes =
        hemstitch::lz4_frame_compress_temp_bytes(content_bytes, given, hemstitch::checked_level(level));
  });
}

hemstitch_status hemstitch_lz4_frame_compress_async(const void* content, uint64_t content_bytes,
                                                    const hemstitch_lz4_frame* frame, int level, void* output,
                                                    uint64_t capacity, uint64_t* output_bytes,
                                                    hemstitch_status* status, void* temp, size_t temp_bytes,
                                                    hemstitch_stream stream) {
  return guarded([&] {
    const auto& given = hemstitch::to_write(frame, content_bytes);
    need_for(content_bytes, content, "content");
    need_for(capacity, output, "output");
    hemstitch::refuse_device_overlap(content, content_bytes, output, capacity);
    hemstitch::lz4_frame_compress_async(static_cast<const std::byte*>(content), content_bytes, given,
                                        hemstitch::checked_level(level), static_cast<std::byte*>(output),
                                        capacity, needed(output_bytes, "output_bytes"),
                                        needed(status, "status"), {temp, temp_bytes}, stream);
  });
}

hemstitch_status hemstitch_lz4_frame_read_header(const void* begin, size_t bytes,
                                                 hemstitch_lz4_frame* frame) {
  return guarded([&] {
    *needed(frame, "frame") =
        hemstitch::read_header({static_cast<const std::byte*>(needed(begin, "begin")), bytes});
  });
}

hemstitch_status hemstitch_lz4_frame_restore_temp_bytes(const hemstitch_lz4_frame* frame,
                                                        size_t* temp_bytes) {
  return guarded([&] {
    needed(temp_bytes, "temp_bytes");
    *temp_bytes = hemstitch::lz4_frame_restore_temp_bytes(hemstitch::to_read(frame));
  });
}

hemstitch_status hemstitch_lz4_frame_restore_async(const void* data, uint64_t frame_bytes,
                                                   const hemstitch_lz4_frame* frame, void* output,
                                                   uint64_t capacity, uint64_t* output_bytes,
                                                   hemstitch_status* status, void* temp, size_t temp_bytes,
                                                   hemstitch_stream stream) {
  return guarded([&] {
    const auto& given = hemstitch::to_read(frame);
    need_for(capacity, output, "output");
    hemstitch::refuse_device_overlap(needed(data, "data"), frame_bytes, output, capacity);
    hemstitch::lz4_frame_restore_async(
        static_cast<const std::byte*>(data), frame_bytes, given, static_cast<std::byte*>(output), capacity,
        needed(output_bytes, "output_bytes"), needed(status, "status"), {temp, temp_bytes}, stream);
  });
}

}  // extern "C"
