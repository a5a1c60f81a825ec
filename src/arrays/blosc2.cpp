#include "arrays/blosc2.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "arrays/big_endian.hpp"
#include "arrays/blosc.hpp"
#include "arrays/blosclz.hpp"
#include "core/bytes.hpp"
#include "core/status.hpp"
#include "hemstitch/compact.hpp"

namespace hemstitch {
namespace {

// ---- A chunk's header ----

constexpr std::size_t kBlosc2HeaderBytes = 32;
constexpr unsigned kNewestVersion = 5;
constexpr unsigned kExtended = 1 | 4, kIsStored = 2, kIsOnePart = 16, kCodecsShift = 5;
// Of the flags behind: what the special value is. The others are dictionaries, more headers, lazy chunks and measured codecs.
constexpr unsigned kSpecialShift = 4, kSpecialMask = 7, kOtherFlags = 0x8F;
constexpr unsigned kSpecialZeros = 1, kSpecialNans = 2, kSpecialValue = 3, kSpecialNotSet = 4;
constexpr std::uint8_t kNoFilter = 0, kShuffleFilter = 1, kBitshuffleFilter = 2, kDeltaFilter = 3,
                       kTruncateFilter = 4;

[[noreturn]] void damaged_blosc2(Status status, const std::string& what) {
  throw Error(status, "a chunk of Blosc 2 " + what);
}

[[noreturn]] void unsupported_blosc2(const std::string& what) {
  throw Error(Status::kUnsupportedFeature, "a chunk of Blosc 2 " + what);
}

// None for BloscLZ.
std::optional<Format> blosc2_format(unsigned codec, unsigned number) {
  switch (codec) {
    case 0:
      return std::nullopt;
    case 1:
      return Format::kLz4;
    case 3:
      return Format::kZlib;
    case 4:
      return Format::kZstd;
    default:
      unsupported_blosc2(fmt::format("with the codec {}: only BloscLZ, LZ4, zlib and Zstandard are supported",
                                     codec == 2 ? "Snappy" : fmt::format("number {}", number)));
  }
}

// Filters in the order of undoing them. Truncated bits stay what they are.
std::array<std::uint8_t, 6> read_filters(const std::byte* codes, const std::byte* parameters) {
  std::array<std::uint8_t, 6> undone{};
  std::size_t count = 0;
  for (std::size_t i = undone.size(); i-- > 0;) {
    const auto code = static_cast<std::uint8_t>(codes[i]);
    if (code == kNoFilter || code == kTruncateFilter) continue;
    if (code > kTruncateFilter)
      unsupported_blosc2(fmt::format(
          "with the filter number {}: only shuffle, bitshuffle, delta and truncation are supported", code));
    if (code == kShuffleFilter && parameters[i] != std::byte{0})
      unsupported_blosc2("whose shuffle has a parameter");
    // Differences from the first block, as it was before any filter.
    if (count != 0 && undone.at(count - 1) == kDeltaFilter)
      unsupported_blosc2("whose filter delta is not the first one");
    undone.at(count++) = code;
  }
  return undone;
}

Blosc2Chunk::Kind special_kind(unsigned special) {
  switch (special) {
    case kSpecialZeros:
    case kSpecialNotSet:
      return Blosc2Chunk::Kind::kZeros;
    case kSpecialNans:
      return Blosc2Chunk::Kind::kNans;
    case kSpecialValue:
      return Blosc2Chunk::Kind::kRepeated;
    default:
      unsupported_blosc2(fmt::format("with the special value number {}", special));
  }
}

void check_nans(const Blosc2Chunk& chunk) {
  if (chunk.kind == Blosc2Chunk::Kind::kNans && chunk.element_bytes != 4 && chunk.element_bytes != 8)
    damaged_blosc2(Status::kCorruptHeader,
                   fmt::format("is of NaNs, and its elements have {} bytes", chunk.element_bytes));
}

// Of a chunk that begins at `begin`.
Blosc2Chunk read_blosc2_chunk(std::span<const std::byte> input, std::size_t begin) {
  const std::span<const std::byte> given = input.subspan(begin);
  if (given.size() < kBlosc2HeaderBytes)
    damaged_blosc2(Status::kTruncated, fmt::format("has {} bytes, fewer than its header", given.size()));
  const std::byte* const header = given.data();
  const auto version = static_cast<unsigned>(header[0]), flags = static_cast<unsigned>(header[2]),
             more_flags = static_cast<unsigned>(header[31]);
  if (version > kNewestVersion || (flags & kExtended) != kExtended || header[30] != std::byte{0} ||
      (more_flags & kOtherFlags) != 0)
    unsupported_blosc2(
        fmt::format("of format {} with the flags {:02x} and {:02x}", version, flags, more_flags));
  Blosc2Chunk chunk;
  chunk.begin = begin;
  chunk.element_bytes = static_cast<std::uint32_t>(header[3]);
  chunk.content_bytes = load_le32(header + 4);
  chunk.block_bytes = load_le32(header + 8);
  chunk.bytes = load_le32(header + 12);
  if (chunk.bytes > given.size())
    damaged_blosc2(Status::kTruncated,
                   fmt::format("should have {} bytes, and has {}", chunk.bytes, given.size()));
  if (chunk.bytes < kBlosc2HeaderBytes || chunk.content_bytes > kBloscMostContentBytes ||
      chunk.element_bytes == 0)
    damaged_blosc2(Status::kCorruptHeader,
                   fmt::format("says that it has {} bytes, {} of content, and elements of {}", chunk.bytes,
                               chunk.content_bytes, chunk.element_bytes));
  const std::size_t data_bytes = chunk.bytes - kBlosc2HeaderBytes;
  if (const unsigned special = more_flags >> kSpecialShift & kSpecialMask; special != 0) {
    chunk.kind = special_kind(special);
    check_nans(chunk);
    if (chunk.kind == Blosc2Chunk::Kind::kRepeated && data_bytes == 0)
      damaged_blosc2(Status::kCorruptHeader, "repeats a value that it does not have");
    return chunk;
  }
  if ((flags & kIsStored) != 0) {
    chunk.kind = Blosc2Chunk::Kind::kStored;
    if (data_bytes != chunk.content_bytes)
      damaged_blosc2(Status::kCorruptHeader,
                     fmt::format("has {} bytes of stored content, not {}", data_bytes, chunk.content_bytes));
    return chunk;
  }
  chunk.kind = Blosc2Chunk::Kind::kBlocks;
  chunk.format = blosc2_format(flags >> kCodecsShift, static_cast<unsigned>(header[22]));
  chunk.undone = read_filters(header + 16, header + 24);
  chunk.has_parts = (flags & kIsOnePart) == 0;
  if (chunk.content_bytes == 0) return chunk;
  if (chunk.block_bytes == 0 || chunk.block_bytes > chunk.content_bytes ||
      (chunk.has_parts && chunk.block_bytes % chunk.element_bytes != 0))
    damaged_blosc2(Status::kCorruptHeader,
                   fmt::format("says that its blocks have {} bytes, of {}, and its elements {}",
                               chunk.block_bytes, chunk.content_bytes, chunk.element_bytes));
  if ((chunk.content_bytes - 1) / chunk.block_bytes >= data_bytes / kBloscSizeBytes)
    damaged_blosc2(Status::kCorruptHeader, fmt::format("has {} bytes, too few for blocks of {} bytes of {}",
                                                       chunk.bytes, chunk.block_bytes, chunk.content_bytes));
  return chunk;
}

bool has_filter(const Blosc2Chunk& chunk, std::uint8_t filter) {
  return std::ranges::find(chunk.undone, filter) != chunk.undone.end();
}

// ---- Frames ----

constexpr std::string_view kFrameMagic("b2frame\0", 8);
constexpr std::size_t kMagicAt = 2, kHeaderBytesAt = 11, kFrameBytesAt = 16, kFrameFlagsAt = 25,
                      kFrameTypeAt = 26, kContentBytesAt = 30, kChunksBytesAt = 39, kItemBytesAt = 48,
                      kChunkBytesAt = 58, kMetalayersAt = 87;
constexpr unsigned kVariableChunks = 64;
constexpr std::size_t kIndexBytes = 8;
// Of more chunks than a frame has bytes each holds so much content: what is allocated for a chunk is far less.
constexpr std::uint64_t kLeastContentOfChunk = 4096;
// Of arrays: what an array of msgpack with a short mark holds.
constexpr std::size_t kMostBlosc2Axes = 15;

[[noreturn]] void damaged_frame(Status status, const std::string& what) {
  throw Error(status, "a frame of Blosc 2 " + what);
}

bool is_blosc2_frame(std::span<const std::byte> input) {
  // An array and a text of msgpack: neither is a version of a chunk's.
  return input.size() >= kMagicAt + kFrameMagic.size() && (input[0] >> 4) == std::byte{9} &&
         input[1] == std::byte{0xA8} &&
         std::memcmp(input.data() + kMagicAt, kFrameMagic.data(), kFrameMagic.size()) == 0;
}

struct Blosc2FrameHeader {
  std::span<const std::byte> frame;
  std::size_t header_bytes;
  std::uint64_t index_begin, bytes_in_chunks, chunk_bytes;  // bytes of the chunks' content, and of one
  std::uint32_t item_bytes;
  std::vector<Blosc2Axis> axes;
  std::uint64_t content_bytes;
};

// Reads a header's msgpack, of which it knows what it expects.
class Msgpack {
 public:
  explicit Msgpack(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::span<const std::byte> take(std::size_t count) {
    if (count > bytes_.size()) damaged_frame(Status::kCorruptHeader, "has metalayers that end too early");
    const std::span<const std::byte> taken = bytes_.first(count);
    bytes_ = bytes_.subspan(count);
    return taken;
  }
  std::uint64_t number(std::size_t bytes) { return load_big_endian(take(bytes).data(), bytes); }
  void expect(unsigned byte) {
    if (number(1) != byte) damaged_frame(Status::kCorruptHeader, "has other metalayers than it should have");
  }
  // A number behind its mark.
  std::uint64_t marked(unsigned mark, std::size_t bytes) {
    expect(mark);
    return number(bytes);
  }

 private:
  std::span<const std::byte> bytes_;
};

// What the metalayer "b2nd" holds; nothing if there is none.
std::span<const std::byte> array_metalayer(std::span<const std::byte> header) {
  constexpr std::string_view kName = "b2nd";
  Msgpack layers(header.subspan(kMetalayersAt));
  layers.expect(0x93);
  layers.marked(0xCD, 2);
  for (std::uint64_t left = layers.marked(0xDE, 2); left > 0; --left) {
    const std::uint64_t mark = layers.number(1);
    if (mark >> 5 != 5) damaged_frame(Status::kCorruptHeader, "has other metalayers than it should have");
    const std::span<const std::byte> name = layers.take(mark & 31);
    const std::uint64_t begin = layers.marked(0xD2, 4);
    if (!std::ranges::equal(name, std::as_bytes(std::span(kName)))) continue;
    if (begin > header.size()) damaged_frame(Status::kCorruptHeader, "has a metalayer outside of its header");
    Msgpack layer(header.subspan(begin));
    return layer.take(layer.marked(0xC6, 4));
  }
  return {};
}

// Throws if it is more than `most`.
std::uint64_t sized_product(std::uint64_t one, std::uint64_t other, std::uint64_t most) {
  if (one != 0 && other > most / one)
    damaged_frame(Status::kCorruptHeader, "holds an array that is larger than its chunks");
  return one * other;
}

void read_array(std::span<const std::byte> layer, Blosc2FrameHeader& header) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 62;
  Msgpack numbers(layer);
  numbers.number(1);  // how many members there are: newer versions have more
  const std::uint64_t version = numbers.number(1), count = numbers.number(1);
  if (count == 0) return;
  if (version >= 128 || count > kMostBlosc2Axes)
    damaged_frame(Status::kCorruptHeader, fmt::format("holds an array of {} axes", count));
  header.axes.resize(count);
  const auto read = [&](unsigned mark, std::size_t bytes, std::uint64_t Blosc2Axis::*member) {
    numbers.expect(0x90 + static_cast<unsigned>(count));
    for (Blosc2Axis& axis : header.axes) axis.*member = numbers.marked(mark, bytes);
  };
  read(0xD3, 8, &Blosc2Axis::extent);
  read(0xD2, 4, &Blosc2Axis::chunk);
  read(0xD2, 4, &Blosc2Axis::block);
  std::uint64_t content = header.item_bytes, chunks = 1, of_chunk = header.item_bytes;
  for (Blosc2Axis& axis : header.axes) {
    // A chunk of an axis without elements has none.
    if (axis.extent == 0) {
      content = 0;
      continue;
    }
    if (axis.chunk == 0 || axis.block == 0 || axis.block > axis.chunk)
      damaged_frame(Status::kCorruptHeader,
                    fmt::format("holds an array with chunks of {} and blocks of {} on an axis", axis.chunk,
                                axis.block));
    content = sized_product(content, axis.extent, kMostBytes);
    axis.chunks = (axis.extent - 1) / axis.chunk + 1;
    axis.blocks = (axis.chunk - 1) / axis.block + 1;
    chunks = sized_product(chunks, axis.chunks, kMostBytes);
    of_chunk = sized_product(of_chunk, axis.blocks * axis.block, kBloscMostContentBytes);
  }
  header.content_bytes = content;
  if (content == 0) {
    header.bytes_in_chunks = 0;
    return;
  }
  if (of_chunk != header.chunk_bytes || sized_product(chunks, of_chunk, kMostBytes) != header.bytes_in_chunks)
    damaged_frame(
        Status::kCorruptHeader,
        fmt::format("holds {} chunks of an array of {} bytes, and says that it has {} bytes in chunks of {}",
                    chunks, of_chunk, header.bytes_in_chunks, header.chunk_bytes));
}

Blosc2FrameHeader read_frame_header(std::span<const std::byte> input) {
  if (input.size() < kMetalayersAt)
    damaged_frame(Status::kTruncated, fmt::format("has {} bytes, fewer than its header", input.size()));
  const std::byte* const at = input.data();
  Blosc2FrameHeader header;
  header.header_bytes = load_big_endian(at + kHeaderBytesAt, 4);
  const std::uint64_t bytes = load_big_endian(at + kFrameBytesAt, 8),
                      chunks = load_big_endian(at + kChunksBytesAt, 8);
  header.content_bytes = header.bytes_in_chunks = load_big_endian(at + kContentBytesAt, 8);
  header.item_bytes = static_cast<std::uint32_t>(load_big_endian(at + kItemBytesAt, 4));
  header.chunk_bytes = load_big_endian(at + kChunkBytesAt, 4);
  if (const auto flags = static_cast<unsigned>(at[kFrameFlagsAt]),
      type = static_cast<unsigned>(at[kFrameTypeAt]);
      (flags & kVariableChunks) != 0 || type % 16 != 0)
    throw Error(
        Status::kUnsupportedFeature,
        fmt::format(
            "a frame of Blosc 2 with the flags {:02x}, of type {}: only contiguous frames with chunks "
            "of one size are supported",
            flags, type % 16));
  if (bytes > input.size())
    damaged_frame(Status::kTruncated, fmt::format("should have {} bytes, and has {}", bytes, input.size()));
  if (header.header_bytes < kMetalayersAt || header.header_bytes > bytes ||
      chunks > bytes - header.header_bytes || header.item_bytes == 0 ||
      header.bytes_in_chunks > std::uint64_t{1} << 62 ||
      (header.bytes_in_chunks != 0 &&
       (header.chunk_bytes == 0 || header.chunk_bytes > kBloscMostContentBytes)))
    damaged_frame(
        Status::kCorruptHeader,
        fmt::format("says that it has {} bytes, {} of them header and {} chunks, which hold {} bytes in "
                    "chunks of {}, of elements of {}",
                    bytes, header.header_bytes, chunks, header.bytes_in_chunks, header.chunk_bytes,
                    header.item_bytes));
  header.frame = input.first(bytes);
  header.index_begin = header.header_bytes + chunks;
  const std::span<const std::byte> layer = array_metalayer(input.first(header.header_bytes));
  if (!layer.empty()) read_array(layer, header);
  return header;
}

// Where each chunk begins behind the header, or what it holds.
std::vector<std::byte> read_frame_index(const Blosc2FrameHeader& header, std::uint64_t count) {
  Blosc2Content index;
  index.content_bytes = count * kIndexBytes;
  index.chunks.push_back(read_blosc2_chunk(header.frame, header.index_begin));
  if (index.chunks.front().content_bytes != index.content_bytes)
    damaged_frame(Status::kCorruptHeader, fmt::format("has an index of {} bytes, for {} chunks",
                                                      index.chunks.front().content_bytes, count));
  std::vector<std::byte> places(index.content_bytes);
  const auto worker = idle_chunk_workers().borrow();
  for (const Blosc2Unit& unit : blosc2_units(index))
    if (restore_blosc2_unit(header.frame, index, unit, places, *worker))
      damaged_frame(Status::kCorruptBlock, "has an index that is damaged");
  return places;
}

Blosc2Content read_frame(const Blosc2FrameHeader& header) {
  Blosc2Content content;
  content.content_bytes = header.content_bytes;
  content.axes = header.axes;
  content.item_bytes = header.item_bytes;
  if (header.content_bytes == 0) return content;
  const std::uint64_t count = (header.bytes_in_chunks - 1) / header.chunk_bytes + 1;
  if (count > kBloscMostContentBytes / kIndexBytes ||
      (count > header.frame.size() && count > header.content_bytes / kLeastContentOfChunk))
    damaged_frame(Status::kCorruptHeader,
                  fmt::format("has {} bytes, and {} chunks", header.frame.size(), count));
  const std::vector<std::byte> places = read_frame_index(header, count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t place = load_le64(places.data() + i * kIndexBytes), begin = i * header.chunk_bytes,
                        bytes = std::min(header.chunk_bytes, header.bytes_in_chunks - begin);
    Blosc2Chunk chunk;
    if (place >> 63 != 0) {
      chunk.kind = special_kind(static_cast<unsigned>(place >> 56 & 127));
      if (chunk.kind == Blosc2Chunk::Kind::kRepeated)
        damaged_frame(Status::kCorruptHeader, "repeats a value that it does not have");
      chunk.element_bytes = header.item_bytes;
      chunk.content_bytes = bytes;
      check_nans(chunk);
    } else {
      if (place > header.frame.size() - header.header_bytes)
        damaged_frame(Status::kCorruptBlock,
                      fmt::format("has a chunk {} at byte {}, behind its end", i, place));
      chunk = read_blosc2_chunk(header.frame, header.header_bytes + place);
    }
    if (chunk.content_bytes != bytes)
      damaged_frame(Status::kCorruptBlock, fmt::format("has a chunk {} of {} bytes of content, not {}", i,
                                                       chunk.content_bytes, bytes));
    chunk.content_begin = begin;
    if (!content.axes.empty()) {
      std::uint64_t of_block = content.item_bytes;
      for (const Blosc2Axis& axis : content.axes) of_block *= axis.block;
      if (chunk.kind == Blosc2Chunk::Kind::kBlocks && chunk.block_bytes != of_block)
        throw Error(
            Status::kUnsupportedFeature,
            fmt::format(
                "a frame of Blosc 2 holds an array with blocks of {} bytes, and a chunk with blocks of {}",
                of_block, chunk.block_bytes));
      chunk.block_bytes = static_cast<std::uint32_t>(of_block);
    }
    content.chunks.push_back(chunk);
  }
  return content;
}

// ---- Restoring ----

void fill_with(std::span<std::byte> room, std::span<const std::byte> value) {
  for (std::size_t at = 0; at < room.size(); at += value.size())
    std::memcpy(room.data() + at, value.data(), std::min(value.size(), room.size() - at));
}

bool has_one_value(const Blosc2Chunk& chunk) {
  return chunk.kind != Blosc2Chunk::Kind::kBlocks && chunk.kind != Blosc2Chunk::Kind::kStored;
}

// What all elements of a chunk are that has no blocks.
std::span<const std::byte> repeated_value(std::span<const std::byte> input, const Blosc2Chunk& chunk) {
  // NaNs are quiet and without a sign.
  static constexpr std::array<std::byte, 8> kZeros{};
  static constexpr std::array kNan4 = {std::byte{0}, std::byte{0}, std::byte{0xC0}, std::byte{0x7F}};
  static constexpr std::array kNan8 = {std::byte{0}, std::byte{0}, std::byte{0},    std::byte{0},
                                       std::byte{0}, std::byte{0}, std::byte{0xF8}, std::byte{0x7F}};
  if (chunk.kind == Blosc2Chunk::Kind::kZeros) return kZeros;
  if (chunk.kind == Blosc2Chunk::Kind::kRepeated)
    return input.subspan(chunk.begin, chunk.bytes).subspan(kBlosc2HeaderBytes);
  if (chunk.element_bytes == 4) return kNan4;
  return kNan8;
}

// The parts of a block, each in the codec's format, as they are, or a run of a byte.
bool restore_parts(std::span<const std::byte> data, const Blosc2Chunk& chunk, std::uint32_t block,
                   std::span<std::byte> room, ChunkWorker& worker) {
  std::size_t at = load_le32(data.data() + kBlosc2HeaderBytes + block * kBloscSizeBytes);
  const bool is_full = room.size() == chunk.block_bytes;
  const std::size_t parts = is_full && chunk.has_parts ? chunk.element_bytes : 1, bytes = room.size() / parts;
  for (std::size_t part = 0; part < parts; ++part) {
    if (at > data.size() || data.size() - at < kBloscSizeBytes) return false;
    const auto coded = static_cast<std::int32_t>(load_le32(data.data() + at));
    at += kBloscSizeBytes;
    const std::span<std::byte> content = room.subspan(part * bytes, bytes);
    if (coded <= 0) {
      // A run of the byte that is the size without its sign; the byte behind says so.
      if (coded < 0 && (coded < -255 || at == data.size() || (data[at++] & std::byte{1}) == std::byte{0}))
        return false;
      std::memset(content.data(), -coded, bytes);
      continue;
    }
    const auto size = static_cast<std::size_t>(coded);
    if (size > data.size() - at) return false;
    const std::span<const std::byte> input = data.subspan(at, size);
    at += size;
    if (size == bytes)
      std::memcpy(content.data(), input.data(), bytes);
    else if (!(chunk.format ? worker.coder(*chunk.format).restore(input, content)
                            : restore_blosclz(input, content)))
      return false;
  }
  return true;
}

// Each byte is its difference (XOR) from the same of the element before, or, in other blocks than the first one, of the first block.
void undo_delta(std::span<std::byte> block, std::span<const std::byte> first, std::uint32_t element_bytes) {
  const std::uint32_t word = element_bytes == 2 || element_bytes == 4 ? element_bytes
                             : element_bytes % 8 == 0                 ? 8
                                                                      : 1;
  const std::size_t end = block.size() / word * word;
  std::size_t at = 0;
  if (block.data() == first.data()) {
    for (at = word; at < end; ++at) block[at] ^= block[at - word];
    return;
  }
  for (; at + 8 <= end; at += 8)
    store_le64(block.data() + at, load_le64(block.data() + at) ^ load_le64(first.data() + at));
  for (; at < end; ++at) block[at] ^= first[at];
}

// The content of a block, to `room`. `first`: that of the chunk's first block.
bool restore_block(std::span<const std::byte> input, const Blosc2Chunk& chunk, std::uint32_t block,
                   std::span<const std::byte> first, std::span<std::byte> room, ChunkWorker& worker) {
  const std::span<const std::byte> data = input.subspan(chunk.begin, chunk.bytes);
  if (chunk.kind == Blosc2Chunk::Kind::kStored) {
    std::memcpy(room.data(), data.data() + kBlosc2HeaderBytes + std::uint64_t{block} * chunk.block_bytes,
                room.size());
    return true;
  }
  // A filter rearranges from one room to another, so that the last one gets to where the content is wanted.
  const auto moves = std::ranges::count_if(chunk.undone, [](std::uint8_t filter) {
    return filter == kShuffleFilter || filter == kBitshuffleFilter;
  });
  std::span<std::byte> content = moves == 0 ? room : worker.rearranged(room.size());
  if (!restore_parts(data, chunk, block, content, worker)) return false;
  std::span<std::byte> other = moves > 1 ? worker.compressed(room.size()) : std::span<std::byte>();
  auto left = moves;
  for (const std::uint8_t filter : chunk.undone) {
    if (filter == kDeltaFilter) undo_delta(room, first, chunk.element_bytes);
    if (filter != kShuffleFilter && filter != kBitshuffleFilter) continue;
    const std::span<std::byte> target = --left == 0 ? room : other;
    if (filter == kShuffleFilter)
      unshuffle_bytes(content, chunk.element_bytes, target);
    else
      bitunshuffle_bytes(content, chunk.element_bytes, 0, target);
    other = content;
    content = target;
  }
  return true;
}

// A box of an array, on an axis: where it begins in its chunk, its extent, and how much the memory that holds it has.
struct BoxAxis {
  std::uint64_t begin, extent, in_memory;
};
using Box = std::array<BoxAxis, kMostBlosc2Axes>;

Box box_of_block(const Blosc2Content& content, std::uint64_t block) {
  Box box{};
  for (std::size_t i = content.axes.size(); i-- > 0;) {
    const Blosc2Axis& axis = content.axes[i];
    const std::uint64_t begin = block % axis.blocks * axis.block;
    box.at(i) = {begin, std::min(axis.block, axis.chunk - begin), axis.block};
    block /= axis.blocks;
  }
  return box;
}

Box box_of_chunk(const Blosc2Content& content) {
  Box box{};
  for (std::size_t i = 0; i < content.axes.size(); ++i)
    box.at(i) = {0, content.axes[i].chunk, content.axes[i].chunk};
  return box;
}

// Calls row(from, to, bytes) for each row of a chunk's box that is in the array, of what is in the array: where it begins in the box's memory and in
// the array's.
template <class Row>
void for_rows(const Blosc2Content& content, std::uint64_t chunk, const Box& box, const Row& row) {
  const std::size_t axes = content.axes.size();
  Box rest{};  // begin and extent in the array
  for (std::size_t i = axes; i-- > 0;) {
    const Blosc2Axis& axis = content.axes[i];
    const std::uint64_t begin = chunk % axis.chunks * axis.chunk + box.at(i).begin;
    chunk /= axis.chunks;
    if (begin >= axis.extent) return;
    rest.at(i) = {begin, std::min(box.at(i).extent, axis.extent - begin), 0};
  }
  const std::uint64_t row_bytes = rest.at(axes - 1).extent * content.item_bytes;
  std::array<std::uint64_t, kMostBlosc2Axes> at{};
  for (;;) {
    std::uint64_t from = 0, to = 0;
    for (std::size_t i = 0; i < axes; ++i) {
      from = from * box.at(i).in_memory + at.at(i);
      to = to * content.axes[i].extent + rest.at(i).begin + at.at(i);
    }
    row(from * content.item_bytes, to * content.item_bytes, row_bytes);
    std::size_t axis = axes - 1;
    do {
      if (axis == 0) return;
      --axis;
      at.at(axis) = at.at(axis) + 1 < rest.at(axis).extent ? at.at(axis) + 1 : 0;
    } while (at.at(axis) == 0);
  }
}

std::uint32_t blocks_of(const Blosc2Content& content, const Blosc2Chunk& chunk) {
  // Stored content of an array is in the order of its blocks.
  const bool has_blocks = chunk.kind == Blosc2Chunk::Kind::kBlocks ||
                          (chunk.kind == Blosc2Chunk::Kind::kStored && !content.axes.empty());
  return has_blocks ? static_cast<std::uint32_t>((chunk.content_bytes - 1) / chunk.block_bytes + 1) : 1;
}

std::uint64_t block_bytes_at(const Blosc2Chunk& chunk, std::uint32_t blocks, std::uint32_t block) {
  if (blocks == 1) return chunk.content_bytes;
  return std::min<std::uint64_t>(chunk.block_bytes,
                                 chunk.content_bytes - std::uint64_t{block} * chunk.block_bytes);
}

}  // namespace

bool is_blosc2(std::span<const std::byte> chunk) {
  return is_blosc2_frame(chunk) ||
         (chunk.size() > 2 && (static_cast<unsigned>(chunk[2]) & kExtended) == kExtended);
}

std::uint64_t blosc2_content_bytes(std::span<const std::byte> input) {
  return is_blosc2_frame(input) ? read_frame_header(input).content_bytes
                                : read_blosc2_chunk(input, 0).content_bytes;
}

Blosc2Content read_blosc2(std::span<const std::byte> input, std::uint64_t expected_bytes) {
  const auto check = [&](std::uint64_t found) {
    if (found != expected_bytes)
      throw Error(
          Status::kContentSizeMismatch,
          fmt::format("a chunk says that it holds {} bytes; it should hold {}", found, expected_bytes));
  };
  if (is_blosc2_frame(input)) {
    const Blosc2FrameHeader header = read_frame_header(input);
    check(header.content_bytes);
    return read_frame(header);
  }
  Blosc2Content content;
  content.chunks.push_back(read_blosc2_chunk(input, 0));
  content.content_bytes = content.chunks.front().content_bytes;
  check(content.content_bytes);
  return content;
}

std::vector<Blosc2Unit> blosc2_units(const Blosc2Content& content) {
  std::vector<Blosc2Unit> units;
  for (std::size_t i = 0; i < content.chunks.size(); ++i) {
    const Blosc2Chunk& chunk = content.chunks[i];
    if (chunk.content_bytes == 0) continue;
    const std::uint32_t blocks = blocks_of(content, chunk),
                        at_once = has_filter(chunk, kDeltaFilter) ? blocks : 1;
    for (std::uint32_t first = 0; first < blocks; first += at_once)
      units.push_back({static_cast<std::uint32_t>(i), first, at_once});
  }
  return units;
}

std::uint64_t blosc2_unit_bytes(const Blosc2Content& content, const Blosc2Unit& unit) {
  const Blosc2Chunk& chunk = content.chunks[unit.chunk];
  return unit.count * block_bytes_at(chunk, blocks_of(content, chunk), unit.first);
}

std::optional<std::uint32_t> restore_blosc2_unit(std::span<const std::byte> input,
                                                 const Blosc2Content& content, const Blosc2Unit& unit,
                                                 std::span<std::byte> output, ChunkWorker& worker) {
  const Blosc2Chunk& chunk = content.chunks[unit.chunk];
  const bool is_array = !content.axes.empty();
  if (has_one_value(chunk)) {
    const std::span<const std::byte> value = repeated_value(input, chunk);
    if (!is_array)
      fill_with(output.subspan(chunk.content_begin, chunk.content_bytes), value);
    else
      for_rows(content, unit.chunk, box_of_chunk(content),
               [&](std::uint64_t, std::uint64_t to, std::uint64_t bytes) {
                 fill_with(output.subspan(to, bytes), value);
               });
    return std::nullopt;
  }
  const std::uint32_t blocks = blocks_of(content, chunk);
  std::vector<std::byte> kept;  // the first block, where it does not stay as it is
  std::span<const std::byte> first;
  for (std::uint32_t block = unit.first; block < unit.first + unit.count; ++block) {
    const std::size_t bytes = block_bytes_at(chunk, blocks, block);
    const std::span<std::byte> room =
        is_array ? worker.tile(bytes)
                 : output.subspan(chunk.content_begin + std::uint64_t{block} * chunk.block_bytes, bytes);
    if (block == unit.first) first = room;
    if (!restore_block(input, chunk, block, first, room, worker)) return block;
    if (!is_array) continue;
    if (block == unit.first && unit.count > 1) {
      kept.assign(room.begin(), room.end());
      first = kept;
    }
    for_rows(content, unit.chunk, box_of_block(content, block),
             [&](std::uint64_t from, std::uint64_t to, std::uint64_t row_bytes) {
               std::memcpy(output.data() + to, room.data() + from, row_bytes);
             });
  }
  return std::nullopt;
}

}  // namespace hemstitch
