#include "format/deflate/frame/deflate_writers.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "core/bytes.hpp"
#include "core/status.hpp"
#include "format/checksum.hpp"
#include "format/deflate/block/deflate_stored.hpp"
#include "format/deflate/block/deflate_symbols.hpp"

namespace hemstitch {
namespace {

void store_be32(std::byte* to, std::uint32_t value) {
  for (int i = 0; i < 4; i++) to[i] = static_cast<std::byte>(value >> (24 - 8 * i));
}

template <std::size_t count>
constexpr std::array<std::byte, count> bytes_of(const unsigned char (&numbers)[count]) {
  std::array<std::byte, count> bytes{};
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(numbers[i]);
  return bytes;
}

// An engine for DEFLATE stores blocks that do not shrink, and has room for that.
std::size_t data_bytes(const FrameWriter::Block& block) {
  if (!block.data) throw Error(Status::kInternal, "a block of DEFLATE was not written");
  return block.data->size();
}

// Writes DEFLATE without a container.
class DeflateWriter : public FrameWriter {
 public:
  FrameRoom room() const override { return {.end_bytes = kLastBlock.size()}; }
  FrameLayout layout(std::uint64_t content_bytes) const override {
    return {content_bytes, kDeflateBlockBytes, false};
  }
  std::size_t data_room_bytes(std::size_t content_bytes) const override {
    return deflate_data_room(content_bytes);
  }
  std::size_t history_bytes() const override { return kDeflateWindowBytes; }

  std::size_t write_header(std::optional<std::uint64_t>, std::byte*) const override { return 0; }
  bool states_content_bytes() const override { return false; }
  void write_before(const Block& block, std::byte*) const override { data_bytes(block); }
  std::size_t write_behind(const Block&, std::byte*) const override { return 0; }
  std::size_t write_last_byte(std::byte, std::byte*) const override { return 0; }

  bool has_content_checksum() const override { return false; }
  std::size_t write_end(std::uint64_t, std::optional<std::uint32_t>, std::byte* to) const override {
    std::copy(kLastBlock.begin(), kLastBlock.end(), to);
    return kLastBlock.size();
  }

 protected:
  // An empty fixed block with the final bit.
  static constexpr auto kLastBlock = bytes_of({0x03, 0x00});
};

class ZlibWriter : public DeflateWriter {
 public:
  explicit ZlibWriter(const CompressOptions& options)
      // FLEVEL: fastest, fast, default, smallest.
      : effort_(options.level == 1   ? 0u
                : options.level < 6  ? 1u
                : options.level == 6 ? 2u
                                     : 3u) {
    if (!options.dictionary.empty()) dictionary_id_ = checksum_of(Checksum::kAdler32, options.dictionary);
  }

  FrameRoom room() const override {
    return {.header_bytes = 2 + kChecksumBytes, .end_bytes = kLastBlock.size() + kChecksumBytes};
  }
  std::size_t write_header(std::optional<std::uint64_t>, std::byte* to) const override {
    constexpr std::uint32_t kMethod = 0x78;  // DEFLATE with a window of 32 KB
    std::uint32_t flags = effort_ << 6 | (dictionary_id_ ? 1u << 5 : 0u);
    flags += 31 - (kMethod << 8 | flags) % 31;
    to[0] = static_cast<std::byte>(kMethod);
    to[1] = static_cast<std::byte>(flags);
    if (!dictionary_id_) return 2;
    store_be32(to + 2, *dictionary_id_);
    return 2 + kChecksumBytes;
  }

  bool has_content_checksum() const override { return true; }
  std::size_t write_end(std::uint64_t content_bytes, std::optional<std::uint32_t> content_checksum,
                        std::byte* to) const override {
    const std::size_t at = DeflateWriter::write_end(content_bytes, {}, to);
    store_be32(to + at, content_checksum.value());
    return at + kChecksumBytes;
  }

 private:
  std::uint32_t effort_;
  std::optional<std::uint32_t> dictionary_id_;
};

// The bytes after the content of a member.
constexpr std::size_t kMemberTrailerBytes = kChecksumBytes + 4;

std::size_t write_member_trailer(std::uint32_t checksum, std::uint64_t content_bytes, std::byte* to) {
  store_le32(to, checksum);
  store_le32(to + kChecksumBytes, static_cast<std::uint32_t>(content_bytes));
  return kMemberTrailerBytes;
}

class GzipWriter : public DeflateWriter {
 public:
  explicit GzipWriter(const CompressOptions& options)
      : level_(options.level), name_(options.stored_name), time_(options.stored_time) {}

  FrameRoom room() const override {
    return {.header_bytes = kHeader.size() + name_.size() + 1,
            .end_bytes = kLastBlock.size() + kMemberTrailerBytes};
  }
  std::size_t write_header(std::optional<std::uint64_t>, std::byte* to) const override {
    std::copy(kHeader.begin(), kHeader.end(), to);
    store_le32(to + 4, time_);
    to[8] = std::byte(level_ == kMinLevel ? 4 : level_ == kMaxLevel ? 2 : 0);  // XFL: fastest, smallest
    std::byte* at = to + kHeader.size();
    if (name_.empty()) return kHeader.size();
    to[3] = std::byte{1 << 3};
    for (const char c : name_) *at++ = static_cast<std::byte>(c);
    *at++ = std::byte{0};
    return static_cast<std::size_t>(at - to);
  }

  bool has_content_checksum() const override { return true; }
  std::size_t write_end(std::uint64_t content_bytes, std::optional<std::uint32_t> content_checksum,
                        std::byte* to) const override {
    const std::size_t at = DeflateWriter::write_end(content_bytes, {}, to);
    return at + write_member_trailer(content_checksum.value(), content_bytes, to + at);
  }

 private:
  // Magic number, DEFLATE, no flags, no time, and an unknown system, so that every system writes the same
  // bytes.
  static constexpr auto kHeader = bytes_of({0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255});

  int level_;
  std::string name_;
  std::uint32_t time_;
};

class BgzfWriter : public FrameWriter {
 public:
  FrameRoom room() const override {
    return {.before_block_bytes = kHeader.size(),
            .behind_block_bytes = kMemberTrailerBytes,
            .end_bytes = kMarker.size()};
  }
  FrameLayout layout(std::uint64_t content_bytes) const override {
    return {content_bytes, kBgzfBlockBytes, false};
  }
  std::size_t data_room_bytes(std::size_t content_bytes) const override {
    return deflate_data_room(content_bytes);
  }

  std::size_t write_header(std::optional<std::uint64_t>, std::byte*) const override { return 0; }
  bool states_content_bytes() const override { return false; }
  void write_before(const Block& block, std::byte* to) const override {
    std::copy(kHeader.begin(), kHeader.end(), to);
    const std::size_t size = kHeader.size() + data_bytes(block) + kMemberTrailerBytes - 1;
    to[kHeader.size() - 2] = static_cast<std::byte>(size);
    to[kHeader.size() - 1] = static_cast<std::byte>(size >> 8);
  }
  std::size_t write_behind(const Block& block, std::byte* to) const override {
    return write_member_trailer(block.content_checksum.value(), block.content.size(), to);
  }
  std::size_t write_last_byte(std::byte, std::byte*) const override { return 0; }

  bool has_block_content_checksums() const override { return true; }
  bool has_content_checksum() const override { return false; }
  std::size_t write_end(std::uint64_t, std::optional<std::uint32_t>, std::byte* to) const override {
    std::copy(kMarker.begin(), kMarker.end(), to);
    return kMarker.size();
  }

 private:
  // As in gzip, with an extra field of six bytes: "BC", and two bytes for the size of the member less 1.
  static constexpr auto kHeader =
      bytes_of({0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 255, 6, 0, 'B', 'C', 2, 0, 0, 0});
  // The end marker: an empty member, byte for byte as in the specification.
  static constexpr auto kMarker = bytes_of(
      {0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 255, 6, 0, 'B', 'C', 2, 0, 27, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0});

  static_assert(kHeader.size() + deflate_data_room(kBgzfBlockBytes) + kMemberTrailerBytes <= 1 << 16,
                "the size of any block can be said");
};

}  // namespace

std::unique_ptr<FrameWriter> make_deflate_writer(const CompressOptions& options) {
  switch (options.format) {
    case Format::kGzip:
      return std::make_unique<GzipWriter>(options);
    case Format::kBgzf:
      return std::make_unique<BgzfWriter>();
    case Format::kZlib:
      return std::make_unique<ZlibWriter>(options);
    default:
      return std::make_unique<DeflateWriter>();
  }
}

}  // namespace hemstitch
