#include "format/zstd/frame/zstd_frame_header.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "core/bytes.hpp"
#include "format/zstd/restore/zstd_bits.hpp"

namespace hemstitch {
namespace {

// The descriptor's bits (3.1.1.1.1).
constexpr unsigned kSizeShift = 6, kSingleSegmentBit = 1 << 5, kReservedBit = 1 << 3, kChecksumBit = 1 << 2;
constexpr std::array<std::size_t, 4> kIdBytes{0, 1, 2, 4};
constexpr std::uint64_t kTwoBytesBase = 256;

std::size_t size_bytes(unsigned descriptor) {
  const unsigned flag = descriptor >> kSizeShift;
  return flag != 0 ? std::size_t{1} << flag : (descriptor & kSingleSegmentBit) != 0 ? 1 : 0;
}

// 3.1.1.1.2
std::byte window_descriptor(std::uint64_t bytes) {
  bytes = std::max(bytes, kZstdLeastWindowBytes);
  unsigned power = static_cast<unsigned>(std::bit_width(bytes)) - 1;
  const std::uint64_t eighth = (std::uint64_t{1} << power) / 8;
  std::uint64_t eighths = (bytes - 8 * eighth + eighth - 1) / eighth;
  if (eighths == 8) eighths = 0, ++power;
  return static_cast<std::byte>((power - 10) << 3 | eighths);
}

}  // namespace

std::size_t zstd_header_rest_bytes(std::byte descriptor) {
  const auto bits = static_cast<unsigned>(descriptor);
  return 1 + ((bits & kSingleSegmentBit) != 0 ? 0 : 1) + kIdBytes[bits & 3] + size_bytes(bits);
}

std::optional<ZstdFrameHeader> read_zstd_header(std::span<const std::byte> bytes) {
  const auto bits = static_cast<unsigned>(bytes[0]);
  if ((bits & kReservedBit) != 0) return std::nullopt;
  ZstdFrameHeader header;
  header.single_segment = (bits & kSingleSegmentBit) != 0;
  header.has_checksum = (bits & kChecksumBit) != 0;
  const std::size_t id_at = header.single_segment ? 1 : 2, size_at = id_at + kIdBytes[bits & 3];
  header.dictionary_id = static_cast<std::uint32_t>(zstd_number(bytes.subspan(id_at, kIdBytes[bits & 3])));
  if (const std::size_t count = size_bytes(bits); count != 0)
    header.content_bytes = zstd_number(bytes.subspan(size_at, count)) + (count == 2 ? kTwoBytesBase : 0);
  if (header.single_segment) {
    header.window_bytes = *header.content_bytes;
  } else {
    const auto window = static_cast<unsigned>(bytes[1]);
    const std::uint64_t power = kZstdLeastWindowBytes << (window >> 3);
    header.window_bytes = power + power / 8 * (window & 7);
  }
  return header;
}

std::size_t write_zstd_header(const ZstdFrameHeader& header, std::byte* to) {
  const bool long_size = header.content_bytes && *header.content_bytes > UINT32_MAX;
  const unsigned size_flag = !header.content_bytes ? 0 : long_size ? 3 : 2;
  const unsigned id_flag = header.dictionary_id == 0 ? 0 : 3;
  store_le32(to, kZstdMagic);
  std::byte* at = to + 4;
  *at++ = static_cast<std::byte>(size_flag << kSizeShift | (header.single_segment ? kSingleSegmentBit : 0) |
                                 (header.has_checksum ? kChecksumBit : 0) | id_flag);
  if (!header.single_segment) *at++ = window_descriptor(header.window_bytes);
  if (id_flag != 0) {
    store_le32(at, header.dictionary_id);
    at += 4;
  }
  if (long_size) {
    store_le64(at, *header.content_bytes);
    at += 8;
  } else if (header.content_bytes) {
    store_le32(at, static_cast<std::uint32_t>(*header.content_bytes));
    at += 4;
  }
  return static_cast<std::size_t>(at - to);
}

}  // namespace hemstitch
