// Implements arrays.h with arrays.hpp.
#include <vector>

#include "api/c/c_options.hpp"
#include "hemstitch/arrays.h"
#include "hemstitch/arrays.hpp"

namespace hemstitch {
namespace {

struct GivenCoding {
  ChunkCoding coding;
  unsigned threads;
  BetweenPieces between_pieces;
};

GivenCoding coding_of(const hemstitch_chunk_coding* given) {
  const hemstitch_chunk_coding all = sized(given, "coding");
  GivenCoding made{{}, all.threads, between_pieces_of(all.between_pieces, all.between_pieces_context)};
  if (const int container = number_of(all.container); container != 0)
    made.coding.container = static_cast<ChunkContainer>(container);
  if (const int format = number_of(all.format); format != HEMSTITCH_FORMAT_DEFAULT)
    made.coding.format = static_cast<Format>(format);
  made.coding.filter = static_cast<ChunkFilter>(number_of(all.filter));
  if (all.element_bytes != 0) made.coding.element_bytes = all.element_bytes;
  made.coding.block_bytes = all.block_bytes;
  made.coding.level = all.level;
  made.coding.acceleration = all.acceleration;
  return made;
}

template <class Options>
Options options_with(const GivenCoding& given) {
  Options options;
  options.threads = given.threads;
  options.between_pieces = given.between_pieces;
  return options;
}

template <class Run>
void run_chunks(hemstitch_item* items, std::size_t count, const Run& run) {
  need_for(count, items, "items");
  std::vector<ArrayChunk> chunks(count);
  for (std::size_t i = 0; i < count; ++i) {
    need_for(items[i].input_bytes, items[i].input, "an item's input");
    need_for(items[i].output_capacity, items[i].output, "an item's output");
    chunks[i].input = bytes_of(items[i].input, items[i].input_bytes);
    chunks[i].output = room_of(items[i].output, items[i].output_capacity);
  }
  run(std::span(chunks));
  for (std::size_t i = 0; i < count; ++i) {
    items[i].status = static_cast<hemstitch_status>(chunks[i].status);
    items[i].output_bytes = chunks[i].output_bytes;
    items[i].place = kNoPlace;
  }
}

}  // namespace
}  // namespace hemstitch

using namespace hemstitch;

extern "C" {

hemstitch_status hemstitch_restore_chunks(const hemstitch_chunk_coding* coding, hemstitch_item* items,
                                          size_t count) {
  return guarded([&] {
    const GivenCoding given = coding_of(coding);
    run_chunks(items, count, [&](std::span<ArrayChunk> chunks) {
      restore_chunks(chunks, given.coding, options_with<RestoreOptions>(given));
    });
  });
}

hemstitch_status hemstitch_compress_chunks(const hemstitch_chunk_coding* coding, hemstitch_item* items,
                                           size_t count) {
  return guarded([&] {
    const GivenCoding given = coding_of(coding);
    run_chunks(items, count, [&](std::span<ArrayChunk> chunks) {
      compress_chunks(chunks, given.coding, options_with<CompressOptions>(given));
    });
  });
}

hemstitch_status hemstitch_chunk_bound(const hemstitch_chunk_coding* coding, size_t content_bytes,
                                       size_t* bytes) {
  return guarded([&] { *needed(bytes, "bytes") = chunk_bound(content_bytes, coding_of(coding).coding); });
}

hemstitch_status hemstitch_chunk_content_bytes(const hemstitch_chunk_coding* coding, const void* chunk,
                                               size_t chunk_bytes, uint64_t* content_bytes) {
  return guarded([&] {
    need_for(chunk_bytes, chunk, "chunk");
    *needed(content_bytes, "content_bytes") =
        chunk_content_bytes(bytes_of(chunk, chunk_bytes), coding_of(coding).coding);
  });
}

hemstitch_status hemstitch_read_chunk_layout(const hemstitch_chunk_coding* coding, const void* chunk,
                                             size_t chunk_bytes, hemstitch_chunk_layout* layout,
                                             hemstitch_chunk_block* blocks, uint64_t capacity) {
  return guarded([&] {
    need_for(chunk_bytes, chunk, "chunk");
    need_for(capacity, blocks, "blocks");
    const ChunkLayout found = chunk_layout(bytes_of(chunk, chunk_bytes), coding_of(coding).coding);
    hemstitch_chunk_layout made{};
    made.format = static_cast<hemstitch_format>(found.format);
    made.filter = static_cast<hemstitch_chunk_filter>(found.filter);
    made.element_bytes = found.element_bytes;
    made.content_bytes = found.content_bytes;
    made.filter_block_bytes = found.filter_block_bytes;
    made.filtered_begin = found.filtered_begin;
    made.filtered_end = found.filtered_end;
    made.block_count = found.blocks.size();
    fill_sized(layout, made, "layout");
    if (found.blocks.size() > capacity)
      throw Error(Status::kOutputTooSmall, fmt::format("a chunk has {} blocks, and there is room for {}",
                                                       found.blocks.size(), capacity));
    for (std::size_t i = 0; i < found.blocks.size(); ++i) {
      const ChunkBlock& block = found.blocks[i];
      blocks[i] = {block.begin, block.bytes, block.content_begin, block.content_bytes, block.stored ? 1 : 0};
    }
  });
}

hemstitch_status hemstitch_hdf5_fletcher32(const void* data, size_t bytes, uint32_t* checksum) {
  return guarded([&] {
    need_for(bytes, data, "data");
    *needed(checksum, "checksum") = hdf5_fletcher32(bytes_of(data, bytes));
  });
}

}  // extern "C"
