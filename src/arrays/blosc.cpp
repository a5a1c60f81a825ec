#include "arrays/blosc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/bytes.hpp"
#include "core/status.hpp"

namespace hemstitch {
namespace {

constexpr unsigned kShuffled = 1, kStored = 2, kBitShuffled = 4, kOnePart = 16;
constexpr unsigned kCodecShift = 5;
constexpr std::byte kFormatVersion{2}, kCodecVersion{1};

// By their numbers in the flags.
constexpr std::array<const char*, 8> kCodecs = {"blosclz",   "LZ4",      "Snappy",   "zlib",
                                                "Zstandard", "number 5", "number 6", "number 7"};
constexpr unsigned kLz4Codec = 1, kZlibCodec = 3, kZstdCodec = 4;

[[noreturn]] void damaged(Status status, const std::string& what) {
  throw Error(status, "a chunk of Blosc " + what);
}

Format format_of(unsigned codec) {
  switch (codec) {
    case kLz4Codec:
      return Format::kLz4;
    case kZlibCodec:
      return Format::kZlib;
    case kZstdCodec:
      return Format::kZstd;
    default:
      throw Error(
          Status::kUnsupportedFeature,
          fmt::format("a chunk of Blosc with the codec {}: only LZ4, zlib and Zstandard are supported",
                      kCodecs.at(codec)));
  }
}

unsigned codec_of(Format format) {
  if (format == Format::kZlib) return kZlibCodec;
  return format == Format::kZstd ? kZstdCodec : kLz4Codec;
}

// Appends the parts of a block that begins at `at` and has that content.
void read_parts(std::span<const std::byte> chunk, std::size_t block, std::uint64_t at, std::size_t parts,
                std::uint64_t content_begin, std::uint64_t content_bytes, std::vector<ChunkBlock>& blocks) {
  const std::uint64_t part_bytes = content_bytes / parts;
  for (std::size_t part = 0; part < parts; ++part) {
    if (at > chunk.size() || chunk.size() - at < kBloscSizeBytes)
      damaged(Status::kCorruptBlock, fmt::format("ends before its block {}, or inside of it", block));
    const std::uint64_t bytes = load_le32(chunk.data() + at);
    at += kBloscSizeBytes;
    if (bytes > chunk.size() - at || bytes > part_bytes)
      damaged(Status::kCorruptBlock,
              fmt::format("has a block {} of {} bytes at byte {}, where {} are left, for {} bytes of content",
                          block, bytes, at, chunk.size() - at, part_bytes));
    blocks.push_back({at, bytes, content_begin + part * part_bytes, part_bytes, bytes == part_bytes});
    at += bytes;
  }
}

}  // namespace

ChunkLayout read_blosc_layout(std::span<const std::byte> given) {
  if (given.size() < kBloscHeaderBytes)
    damaged(Status::kTruncated, fmt::format("has {} bytes, fewer than its header", given.size()));
  const std::byte* const header = given.data();
  const auto flags = static_cast<unsigned>(header[2]);
  if (header[0] > kFormatVersion || ((flags & kShuffled) != 0 && (flags & kBitShuffled) != 0))
    throw Error(
        Status::kUnsupportedFeature,
        fmt::format(
            "a chunk of Blosc 2, or of a later version (format {}), where only one of Blosc 1 is supported",
            static_cast<unsigned>(header[0])));
  const std::uint64_t content = load_le32(header + 4), block = load_le32(header + 8),
                      bytes = load_le32(header + 12);
  if (bytes > given.size())
    damaged(Status::kTruncated, fmt::format("should have {} bytes, and has {}", bytes, given.size()));
  if (bytes < kBloscHeaderBytes || content > kBloscMostContentBytes)
    damaged(Status::kCorruptHeader,
            fmt::format("says that it has {} bytes, and {} of content", bytes, content));
  const std::span<const std::byte> chunk = given.first(bytes);

  ChunkLayout layout;
  layout.content_bytes = content;
  if ((flags & kStored) != 0) {
    if (bytes - kBloscHeaderBytes != content)
      damaged(Status::kCorruptHeader,
              fmt::format("has {} bytes of stored content, not {}", bytes - kBloscHeaderBytes, content));
    if (content != 0) layout.blocks.push_back({kBloscHeaderBytes, content, 0, content, true});
    return layout;
  }
  layout.format = format_of(flags >> kCodecShift);
  if (content == 0) return layout;
  layout.element_bytes = static_cast<unsigned>(header[3]);
  if (block == 0 || block > content || layout.element_bytes == 0)
    damaged(Status::kCorruptHeader,
            fmt::format("says that its blocks have {} bytes, of {}, and its elements {}", block, content,
                        layout.element_bytes));
  layout.filter_block_bytes = block;
  layout.filtered_end = content;
  if (layout.element_bytes > 1 && (flags & kShuffled) != 0) {
    layout.filter = ChunkFilter::kShuffle;
  } else if ((flags & kBitShuffled) != 0) {
    layout.filter = ChunkFilter::kBitshuffle;
    // Bits of a block are rearranged only if its elements are a multiple of eight.
    const auto is_rearranged = [&](std::uint64_t of_block) {
      return of_block / layout.element_bytes % 8 == 0;
    };
    const std::uint64_t in_full_blocks = content / block * block;
    if (!is_rearranged(block)) layout.filtered_begin = in_full_blocks;
    if (!is_rearranged(content - in_full_blocks)) layout.filtered_end = in_full_blocks;
  }

  const std::uint64_t count = (content + block - 1) / block;
  if (count > (bytes - kBloscHeaderBytes) / kBloscSizeBytes)
    damaged(Status::kCorruptHeader, fmt::format("has {} bytes, too few for {} blocks", bytes, count));
  const std::size_t parts = (flags & kOnePart) != 0 ? 1 : layout.element_bytes;
  if (block % parts != 0)
    damaged(Status::kCorruptHeader, fmt::format("has blocks of {} bytes in {} parts", block, parts));
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t begin = i * block, size = std::min(block, content - begin);
    const std::uint64_t at = load_le32(header + kBloscHeaderBytes + i * kBloscSizeBytes);
    read_parts(chunk, i, at, size == block ? parts : 1, begin, size, layout.blocks);
  }
  return layout;
}

void write_blosc_header(const ChunkCoding& coding, const BloscHeader& header, std::byte* at) {
  unsigned flags = codec_of(coding.format) << kCodecShift;
  if (header.parts == 1) flags |= kOnePart;
  if (header.stored) flags |= kStored;
  if (coding.filter == ChunkFilter::kShuffle) flags |= kShuffled;
  if (coding.filter == ChunkFilter::kBitshuffle) flags |= kBitShuffled;
  at[0] = kFormatVersion;
  at[1] = kCodecVersion;
  at[2] = static_cast<std::byte>(flags);
  at[3] = static_cast<std::byte>(coding.element_bytes);
  store_le32(at + 4, static_cast<std::uint32_t>(header.content_bytes));
  store_le32(at + 8, static_cast<std::uint32_t>(header.block_bytes));
  store_le32(at + 12, static_cast<std::uint32_t>(header.chunk_bytes));
}

}  // namespace hemstitch
