#include "format/zstd/frame/zstd_places.hpp"

#include <algorithm>
#include <array>

#include "core/bytes.hpp"
#include "format/checksum.hpp"
#include "format/skippable_frame.hpp"
#include "format/zstd/block/zstd_block_header.hpp"
#include "format/zstd/block/zstd_symbols.hpp"

namespace hemstitch {
namespace {

constexpr std::uint32_t kTableMagic = kSkippableMagic + 0xE, kFooterMagic = 0x8F92EAB1;
constexpr std::size_t kTableHeadBytes = kSkippableMagicBytes + kSkippableSizeBytes, kFooterBytes = 9;
constexpr std::size_t kEntryBytes = 8;
constexpr std::size_t kFewHeaders = 16;
// The descriptor: whether there are checksums, and bits that must be 0.
constexpr unsigned kHasChecksums = 0x80, kReserved = 0x7C;

bool read_at(Source& source, std::uint64_t at, std::span<std::byte> into) {
  return source.seek(at) && source.read(into) == into.size();
}

// A frame's header, and how many bytes it has.
struct HeaderThere {
  ZstdFrameHeader header;
  std::size_t bytes = 0;
};
std::optional<HeaderThere> header_at(Source& source, std::uint64_t at) {
  std::array<std::byte, kZstdMostHeaderBytes> bytes;
  if (!source.seek(at)) return std::nullopt;
  const auto there = std::span(bytes).first(source.read(bytes));
  if (there.size() <= kZstdMagicBytes || load_le32(there.data()) != kZstdMagic) return std::nullopt;
  const std::size_t rest_bytes = zstd_header_rest_bytes(there[kZstdMagicBytes]);
  if (there.size() < kZstdMagicBytes + rest_bytes) return std::nullopt;
  const auto header = read_zstd_header(there.subspan(kZstdMagicBytes, rest_bytes));
  return header ? std::optional(HeaderThere{*header, kZstdMagicBytes + rest_bytes}) : std::nullopt;
}

// The end of the blocks that begin here; nothing if they do not end before `end`.
std::optional<std::uint64_t> end_of_blocks(Source& source, std::uint64_t at, std::uint64_t end) {
  for (;;) {
    std::array<std::byte, kZstdBlockHeaderBytes> bytes;
    if (at + bytes.size() > end || !read_at(source, at, bytes)) return std::nullopt;
    const ZstdBlockHeader block = read_zstd_block_header(bytes.data());
    at += bytes.size() + block.data_bytes();
    if (block.last) return at <= end ? std::optional(at) : std::nullopt;
  }
}

}  // namespace

std::size_t zstd_seek_table_bytes(std::uint64_t frame_count) {
  return kTableHeadBytes + static_cast<std::size_t>(frame_count) * kEntryBytes + kFooterBytes;
}

std::size_t write_zstd_seek_table(std::span<const FrameWriter::BlockBytes> frames, std::byte* to) {
  const std::size_t bytes = zstd_seek_table_bytes(frames.size());
  store_le32(to, kTableMagic);
  store_le32(to + kSkippableMagicBytes, static_cast<std::uint32_t>(bytes - kTableHeadBytes));
  std::byte* at = to + kTableHeadBytes;
  for (const FrameWriter::BlockBytes& frame : frames) {
    store_le32(at, frame.bytes);
    store_le32(at + 4, frame.content_bytes);
    at += kEntryBytes;
  }
  store_le32(at, static_cast<std::uint32_t>(frames.size()));
  at[4] = std::byte{0};
  store_le32(at + 5, kFooterMagic);
  return bytes;
}

bool agrees(const ZstdPlace& place, const ZstdFrameHeader& header, std::size_t header_bytes) {
  const std::uint64_t least_bytes =
      header_bytes + kZstdBlockHeaderBytes + (header.has_checksum ? kChecksumBytes : 0);
  // A block has at most 128 KB, and no more than the window.
  const std::uint64_t largest_block = std::min<std::uint64_t>(place.content_bytes, kZstdMostBlockBytes);
  return place.bytes >= least_bytes && header.dictionary_id == 0 && header.window_bytes >= largest_block &&
         header.content_bytes.value_or(place.content_bytes) == place.content_bytes;
}

std::optional<ZstdPlaces> places_of_seek_table(Source& source, ZstdCompared compared) {
  const std::uint64_t file_bytes = source.total_bytes().value_or(0);
  std::array<std::byte, kFooterBytes> footer;
  if (file_bytes < kTableHeadBytes + kFooterBytes || !read_at(source, file_bytes - kFooterBytes, footer) ||
      load_le32(&footer[5]) != kFooterMagic)
    return std::nullopt;
  const auto descriptor = static_cast<unsigned>(footer[4]);
  const std::uint64_t count = load_le32(footer.data());
  const bool has_checksums = (descriptor & kHasChecksums) != 0;
  const std::size_t entry_bytes = kEntryBytes + (has_checksums ? kChecksumBytes : 0);
  const std::uint64_t table_bytes = kTableHeadBytes + count * entry_bytes + kFooterBytes;
  if ((descriptor & kReserved) != 0 || count == 0 || table_bytes > file_bytes) return std::nullopt;
  std::vector<std::byte> table(static_cast<std::size_t>(table_bytes));
  if (!read_at(source, file_bytes - table_bytes, table) || load_le32(table.data()) != kTableMagic ||
      load_le32(&table[kSkippableMagicBytes]) != table_bytes - kTableHeadBytes)
    return std::nullopt;

  ZstdPlaces places(static_cast<std::size_t>(count));
  std::uint64_t at = 0;
  const std::byte* entry = &table[kTableHeadBytes];
  for (ZstdPlace& place : places) {
    place = {at, load_le32(entry), load_le32(entry + 4)};
    if (has_checksums) place.checksum = load_le32(entry + kEntryBytes);
    entry += entry_bytes;
    at += place.bytes;
    // No data stands for more content: a block of 4 bytes repeats one byte.
    if (place.content_bytes >
        std::min(kZstdMostPlaceBytes, place.bytes * (kZstdMostBlockBytes / std::uint64_t{4})))
      return std::nullopt;
  }
  if (at != file_bytes - table_bytes) return std::nullopt;
  // All, or few: evenly, with the first and the last one.
  const std::size_t headers =
      compared == ZstdCompared::kAll ? places.size() : std::min(places.size(), kFewHeaders);
  for (std::size_t i = 0; i < headers; ++i) {
    const ZstdPlace& place = places[headers == 1 ? 0 : i * (places.size() - 1) / (headers - 1)];
    const auto there = header_at(source, place.at);
    if (!there || !agrees(place, there->header, there->bytes)) return std::nullopt;
  }
  return places;
}

std::optional<ZstdPlaces> places_of_headers(Source& source) {
  const std::uint64_t file_bytes = source.total_bytes().value_or(0);
  ZstdPlaces places;
  for (std::uint64_t at = 0; at < file_bytes;) {
    std::array<std::byte, kTableHeadBytes> head;
    if (!read_at(source, at, head)) return std::nullopt;
    if (begins_skippable_frame(head)) {
      at += kTableHeadBytes + load_le32(&head[kSkippableMagicBytes]);
      continue;
    }
    const auto there = header_at(source, at);
    if (!there || there->header.content_bytes.value_or(UINT64_MAX) > kZstdMostPlaceBytes) return std::nullopt;
    const auto end = end_of_blocks(source, at + there->bytes, file_bytes);
    if (!end) return std::nullopt;
    ZstdPlace place{at};
    at = *end + (there->header.has_checksum ? kChecksumBytes : 0);
    if (at > file_bytes || at - place.at > UINT32_MAX) return std::nullopt;
    place.bytes = static_cast<std::uint32_t>(at - place.at);
    place.content_bytes = static_cast<std::uint32_t>(*there->header.content_bytes);
    if (place.content_bytes / (kZstdMostBlockBytes / 4) > place.bytes ||
        !agrees(place, there->header, there->bytes))
      return std::nullopt;
    places.push_back(place);
  }
  return places.empty() ? std::nullopt : std::optional(std::move(places));
}

}  // namespace hemstitch
