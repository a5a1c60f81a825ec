#include "arrays/hdf5_chunks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "arrays/big_endian.hpp"
#include "core/status.hpp"

namespace hemstitch {
namespace {

void store_big_endian(std::uint64_t value, std::size_t bytes, std::byte* at) {
  for (std::size_t i = 0; i < bytes; ++i) at[i] = static_cast<std::byte>(value >> 8 * (bytes - 1 - i));
}

[[noreturn]] void damaged_hdf5_chunk(Status status, const char* filter, const std::string& what) {
  throw Error(status, fmt::format("a chunk of HDF5's {} filter {}", filter, what));
}

struct Hdf5Header {
  std::uint64_t content_bytes, block_bytes;
};

Hdf5Header read_hdf5_header(std::span<const std::byte> chunk, const char* filter) {
  if (chunk.size() < kHdf5ChunkHeaderBytes)
    damaged_hdf5_chunk(Status::kTruncated, filter,
                       fmt::format("must begin with 12 bytes of sizes; it has {}", chunk.size()));
  const Hdf5Header header = {load_big_endian(chunk.data(), 8), load_big_endian(chunk.data() + 8, 4)};
  if (header.content_bytes != 0 && header.block_bytes == 0)
    damaged_hdf5_chunk(Status::kCorruptHeader, filter, "says that blocks have 0 bytes");
  return header;
}

// Appends the blocks that hold the first `content_bytes` bytes, and returns where they end.
std::size_t read_hdf5_blocks(std::span<const std::byte> chunk, const char* filter,
                             std::uint64_t content_bytes, std::uint64_t block_bytes, bool may_be_stored,
                             std::vector<ChunkBlock>& blocks) {
  std::size_t at = kHdf5ChunkHeaderBytes;
  for (std::uint64_t begin = 0; begin < content_bytes; begin += block_bytes) {
    const std::uint64_t size = std::min(block_bytes, content_bytes - begin);
    if (chunk.size() - at < kHdf5BlockSizeBytes)
      damaged_hdf5_chunk(Status::kCorruptBlock, filter,
                         fmt::format("ends before its block {}", blocks.size()));
    const std::uint64_t bytes = load_big_endian(chunk.data() + at, kHdf5BlockSizeBytes);
    at += kHdf5BlockSizeBytes;
    if (bytes > chunk.size() - at)
      damaged_hdf5_chunk(Status::kCorruptBlock, filter,
                         fmt::format("has a block {} of {} bytes at byte {}, where {} are left",
                                     blocks.size(), bytes, at, chunk.size() - at));
    blocks.push_back({at, bytes, begin, size, may_be_stored && bytes == size});
    at += bytes;
  }
  return at;
}

}  // namespace

ChunkLayout read_hdf5_lz4_layout(std::span<const std::byte> chunk) {
  const Hdf5Header header = read_hdf5_header(chunk, "LZ4");
  ChunkLayout layout;
  layout.content_bytes = header.content_bytes;
  read_hdf5_blocks(chunk, "LZ4", header.content_bytes, header.block_bytes, true, layout.blocks);
  return layout;
}

ChunkLayout read_hdf5_bitshuffle_layout(std::span<const std::byte> chunk, const ChunkCoding& coding) {
  constexpr const char* kFilter = "bitshuffle";
  const Hdf5Header header = read_hdf5_header(chunk, kFilter);
  ChunkLayout layout;
  layout.format = coding.format;
  layout.content_bytes = layout.filtered_end = header.content_bytes;
  layout.filter = ChunkFilter::kBitshuffle;
  layout.element_bytes = coding.element_bytes;
  layout.filter_block_bytes = header.block_bytes;
  if (header.block_bytes % (std::uint64_t{8} * coding.element_bytes) != 0)
    damaged_hdf5_chunk(Status::kCorruptHeader, kFilter,
                       fmt::format("says that blocks have {} bytes, for elements of {}", header.block_bytes,
                                   coding.element_bytes));
  const std::uint64_t in_blocks = bitshuffled_bytes(header.content_bytes, coding.element_bytes);
  const std::size_t end =
      read_hdf5_blocks(chunk, kFilter, in_blocks, header.block_bytes, false, layout.blocks);
  const std::uint64_t left = header.content_bytes - in_blocks;
  if (chunk.size() - end != left)
    damaged_hdf5_chunk(Status::kCorruptBlock, kFilter,
                       fmt::format("has {} bytes after its blocks, not {}", chunk.size() - end, left));
  if (left != 0) layout.blocks.push_back({end, left, in_blocks, left, true});
  return layout;
}

void write_hdf5_header(std::uint64_t content_bytes, std::uint32_t block_bytes, std::byte* at) {
  store_big_endian(content_bytes, 8, at);
  store_big_endian(block_bytes, 4, at + 8);
}

void write_hdf5_block_size(std::uint32_t bytes, std::byte* at) {
  store_big_endian(bytes, kHdf5BlockSizeBytes, at);
}

}  // namespace hemstitch
