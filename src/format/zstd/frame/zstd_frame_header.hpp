// The header of a frame of Zstandard (RFC 8878, section 3.1.1.1), to bytes and from bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "format/zstd/zstd_limits.hpp"

namespace hemstitch {

inline constexpr std::string_view kZstdFirstBytes = "\x28\xB5\x2F\xFD";
inline constexpr std::size_t kZstdMostHeaderBytes = 18;
// A window descriptor is a power of two from 1 KB on, and up to seven eighths of it.
inline constexpr std::uint64_t kZstdLeastWindowBytes = 1 << 10;

struct ZstdFrameHeader {
  std::uint64_t window_bytes = 0;
  std::optional<std::uint64_t> content_bytes = {};
  std::uint32_t dictionary_id = 0;  // 0: none is named
  bool has_checksum = false;
  bool single_segment = false;  // the window is the content
};

// How many bytes a header has after the magic number: its first one tells. At least 2.
std::size_t zstd_header_rest_bytes(std::byte descriptor);
// `bytes` are those. Nothing if a reserved bit is set (3.1.1.1.1.4).
std::optional<ZstdFrameHeader> read_zstd_header(std::span<const std::byte> bytes);

// Writes magic number and header; returns how many bytes these are. The window is rounded up to one that can
// be written. Sizes take 4 bytes below 4 GB and 8 from there on, so that a header can be written again with
// another size.
std::size_t write_zstd_header(const ZstdFrameHeader& header, std::byte* to);

}  // namespace hemstitch
