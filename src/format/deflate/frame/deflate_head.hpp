// The header before and the trailer behind the DEFLATE data of a stream that is whole in memory: gzip (RFC 1952, section 2.3), BGZF
// (section 4.1 of the SAM specification) and zlib (RFC 1950, section 2.2), on the host and on devices. GzipReader and ZlibReader
// read the same from bytes that come in pieces; what both need is here, and the test `DeflateHead` compares them.
//
// A stream is one member, or one zlib stream, and nothing else: its trailer is its last bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/bytes.hpp"
#include "core/host_device.hpp"
#include "core/status.hpp"
#include "format/deflate/frame/deflate_frame.hpp"

namespace hemstitch {

inline constexpr unsigned kGzipHeaderChecksumFlag = 2, kGzipExtraFlag = 4, kGzipNameFlag = 8,
                          kGzipCommentFlag = 16, kGzipReservedFlags = 0xE0;
// The bytes before the fields that flags announce.
inline constexpr std::uint64_t kGzipFixedBytes = 10;
static_assert(kGzipCommentFlag == 2 * kGzipNameFlag);  // in the order in which they stand
inline constexpr std::uint64_t kGzipTrailerBytes = 8, kZlibTrailerBytes = 4;

// The most content of a member of BGZF, and the fewest bytes of its data.
inline constexpr std::uint32_t kBgzfMostContentBytes = 65536;
inline constexpr std::uint64_t kBgzfLeastDataBytes = 2;
// The size of the empty member at the end of a file. No member with other fields than BC is as short.
inline constexpr std::uint32_t kBgzfMarkerBytes = 28;

// What precedes a stream's data.
struct DeflateHead {
  Status status = Status::kOk;  // of the head alone, without the checksum below
  std::uint64_t bytes = 0;
  // For gzip: 16 bits of the header's CRC-32, which are the header's last two bytes. For zlib: the Adler-32 of the dictionary.
  bool has_checksum = false;
  std::uint32_t checksum = 0;
};

HEMSTITCH_HOST_DEVICE constexpr unsigned load_le16(const std::byte* bytes) {
  return static_cast<unsigned>(bytes[0]) | static_cast<unsigned>(bytes[1]) << 8;
}

HEMSTITCH_HOST_DEVICE constexpr std::uint32_t load_be32(const std::byte* bytes) {
  return static_cast<std::uint32_t>(bytes[0]) << 24 | static_cast<std::uint32_t>(bytes[1]) << 16 |
         static_cast<std::uint32_t>(bytes[2]) << 8 | static_cast<std::uint32_t>(bytes[3]);
}

// The size of a BGZF member, from its extra field; 0 if that states none.
HEMSTITCH_HOST_DEVICE constexpr std::uint32_t bgzf_member_bytes(const std::byte* extra,
                                                                std::uint64_t extra_bytes) {
  constexpr std::uint64_t kSubfieldHeadBytes = 4;
  std::uint64_t at = 0;
  while (extra_bytes - at >= kSubfieldHeadBytes) {
    const std::uint64_t bytes = load_le16(extra + at + 2);
    if (bytes > extra_bytes - at - kSubfieldHeadBytes) break;
    if (extra[at] == std::byte{'B'} && extra[at + 1] == std::byte{'C'} && bytes == 2)
      return load_le16(extra + at + kSubfieldHeadBytes) + 1;
    at += kSubfieldHeadBytes + bytes;
  }
  return 0;
}

// Of zlib's first two bytes.
HEMSTITCH_HOST_DEVICE constexpr Status zlib_header_status(unsigned method_byte, unsigned flags) {
  constexpr unsigned kMostWindowLog = 7;  // of 32 KB, less 8
  if ((method_byte << 8 | flags) % 31 != 0 || (method_byte & 15) != kDeflateMethod)
    return Status::kUnknownFormat;
  return method_byte >> 4 > kMostWindowLog ? Status::kUnsupportedFeature : Status::kOk;
}
inline constexpr unsigned kZlibDictionaryFlag = 32;

// The place of the next zero byte from `at` on, or `size` if there is none. Names and comments may be long, so on a device the
// lanes of a warp search together: all of them must call this.
HEMSTITCH_HOST_DEVICE inline std::uint64_t find_zero(const std::byte* bytes, std::uint64_t at,
                                                     std::uint64_t size) {
#ifdef __CUDA_ARCH__
  const unsigned lane = threadIdx.x % 32;
  for (; at < size; at += 32) {
    const bool zero = size - at > lane && bytes[at + lane] == std::byte{0};
    if (const unsigned zeros = __ballot_sync(~0u, zero); zeros != 0)
      return at + static_cast<unsigned>(__ffs(static_cast<int>(zeros)) - 1);
  }
  return size;
#else
  const void* const zero =
      at == size ? nullptr : std::memchr(bytes + at, 0, static_cast<std::size_t>(size - at));
  return zero == nullptr ? size : static_cast<std::uint64_t>(static_cast<const std::byte*>(zero) - bytes);
#endif
}

// The fields of gzip's header. Statuses are those of GzipReader; `extra_at` and `extra_bytes` take where the extra field is.
HEMSTITCH_HOST_DEVICE inline DeflateHead read_gzip_fields(const std::byte* bytes, std::uint64_t size,
                                                          std::uint64_t& extra_at,
                                                          std::uint64_t& extra_bytes) {
  DeflateHead head;
  extra_at = extra_bytes = 0;
  const auto refused = [&](Status status) {
    head.status = status;
    return head;
  };
  if (size == 0) return refused(Status::kTruncated);
  if (size == 1 || bytes[0] != std::byte{0x1F} || bytes[1] != std::byte{0x8B})
    return refused(Status::kUnknownFormat);
  if (size < 4) return refused(Status::kTruncated);
  const auto flags = static_cast<unsigned>(bytes[3]);
  if (static_cast<unsigned>(bytes[2]) != kDeflateMethod || (flags & kGzipReservedFlags) != 0)
    return refused(Status::kUnsupportedFeature);
  std::uint64_t at = kGzipFixedBytes;
  if (size < at) return refused(Status::kTruncated);
  if ((flags & kGzipExtraFlag) != 0) {
    if (size - at < 2) return refused(Status::kTruncated);
    extra_bytes = load_le16(bytes + at);
    extra_at = at + 2;
    if (size - extra_at < extra_bytes) return refused(Status::kTruncated);
    at = extra_at + extra_bytes;
  }
  for (unsigned text = kGzipNameFlag; text <= kGzipCommentFlag; text *= 2) {
    if ((flags & text) == 0) continue;
    at = find_zero(bytes, at, size);
    if (at == size) return refused(Status::kTruncated);
    ++at;
  }
  if ((flags & kGzipHeaderChecksumFlag) != 0) {
    if (size - at < 2) return refused(Status::kTruncated);
    head.has_checksum = true;
    head.checksum = load_le16(bytes + at);
    at += 2;
  }
  head.bytes = at;
  return head;
}

// A whole member of gzip.
HEMSTITCH_HOST_DEVICE inline DeflateHead read_gzip_head(const std::byte* bytes, std::uint64_t size) {
  std::uint64_t extra_at = 0, extra_bytes = 0;
  DeflateHead head = read_gzip_fields(bytes, size, extra_at, extra_bytes);
  if (head.status == Status::kOk && size - head.bytes < kGzipTrailerBytes) head.status = Status::kTruncated;
  return head;
}

// A whole member of BGZF: it has no other field than the extra field, which states `size`.
HEMSTITCH_HOST_DEVICE inline DeflateHead read_bgzf_head(const std::byte* bytes, std::uint64_t size) {
  std::uint64_t extra_at = 0, extra_bytes = 0;
  DeflateHead head = read_gzip_fields(bytes, size, extra_at, extra_bytes);
  if (head.status != Status::kOk) return head;
  const bool only_extra = static_cast<unsigned>(bytes[3]) == kGzipExtraFlag;
  const std::uint64_t told = only_extra ? bgzf_member_bytes(bytes + extra_at, extra_bytes) : 0;
  if (told < head.bytes + kBgzfLeastDataBytes + kGzipTrailerBytes)
    head.status = Status::kUnknownFormat;
  else if (told > size)
    head.status = Status::kTruncated;
  else if (told < size)
    head.status = Status::kTrailingGarbage;
  else if (size != kBgzfMarkerBytes && load_le32(bytes + size - 4) > kBgzfMostContentBytes)
    head.status = Status::kCorruptBlock;
  return head;
}

// A whole zlib stream. `has_dictionary`: there is one, which the head may name.
HEMSTITCH_HOST_DEVICE constexpr DeflateHead read_zlib_head(const std::byte* bytes, std::uint64_t size,
                                                           bool has_dictionary) {
  DeflateHead head;
  head.bytes = 2;
  if (size < head.bytes) {
    head.status = Status::kTruncated;
    return head;
  }
  const auto flags = static_cast<unsigned>(bytes[1]);
  head.status = zlib_header_status(static_cast<unsigned>(bytes[0]), flags);
  if (head.status != Status::kOk) return head;
  if ((flags & kZlibDictionaryFlag) != 0) {
    if (size - head.bytes < 4) {
      head.status = Status::kTruncated;
      return head;
    }
    head.has_checksum = true;
    head.checksum = load_be32(bytes + head.bytes);
    head.bytes += 4;
    if (!has_dictionary) head.status = Status::kDictionaryNeeded;
  }
  if (head.status == Status::kOk && size - head.bytes < kZlibTrailerBytes) head.status = Status::kTruncated;
  return head;
}

// kGzip, kBgzf or kZlib.
HEMSTITCH_HOST_DEVICE inline DeflateHead read_deflate_head(Format format, const std::byte* bytes,
                                                           std::uint64_t size, bool has_dictionary) {
  if (format == Format::kZlib) return read_zlib_head(bytes, size, has_dictionary);
  return format == Format::kBgzf ? read_bgzf_head(bytes, size) : read_gzip_head(bytes, size);
}

// Whether the head names a dictionary. Matches of any other whole stream refer to nothing before it.
HEMSTITCH_HOST_DEVICE constexpr bool deflate_head_names_dictionary(Format format, const DeflateHead& head) {
  return format == Format::kZlib && head.has_checksum;
}

// For a head with a checksum; `found` is the computed one.
HEMSTITCH_HOST_DEVICE constexpr Status deflate_head_checksum_status(Format format, const DeflateHead& head,
                                                                    std::uint32_t found) {
  if (format == Format::kZlib) return found == head.checksum ? Status::kOk : Status::kDictionaryMismatch;
  return (found & 0xFFFF) == head.checksum ? Status::kOk : Status::kHeaderChecksumMismatch;
}

HEMSTITCH_HOST_DEVICE constexpr std::uint64_t deflate_trailer_bytes(Format format) {
  return format == Format::kZlib ? kZlibTrailerBytes : format == Format::kDeflate ? 0 : kGzipTrailerBytes;
}

// The trailer of content with that size, and that checksum where `has_checksum`.
HEMSTITCH_HOST_DEVICE constexpr Status deflate_trailer_status(Format format, const std::byte* trailer,
                                                              std::uint64_t content_bytes, bool has_checksum,
                                                              std::uint32_t found) {
  if (format != Format::kZlib && load_le32(trailer + 4) != static_cast<std::uint32_t>(content_bytes))
    return Status::kContentSizeMismatch;
  if (!has_checksum || found == (format == Format::kZlib ? load_be32(trailer) : load_le32(trailer)))
    return Status::kOk;
  return format == Format::kBgzf ? Status::kBlockChecksumMismatch : Status::kContentChecksumMismatch;
}

// How much of the room a stream may fill, and what it means if that is too little: a member of BGZF with more content than any may
// have is damaged.
HEMSTITCH_HOST_DEVICE constexpr std::uint64_t deflate_stream_room(Format format, std::uint64_t capacity) {
  return format == Format::kBgzf && capacity > kBgzfMostContentBytes ? kBgzfMostContentBytes : capacity;
}
HEMSTITCH_HOST_DEVICE constexpr Status deflate_stream_too_large(Format format, std::uint64_t capacity) {
  return format == Format::kBgzf && capacity >= kBgzfMostContentBytes ? Status::kCorruptBlock
                                                                      : Status::kOutputTooSmall;
}

}  // namespace hemstitch
