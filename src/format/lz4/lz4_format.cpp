#include "format/lz4/lz4_format.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "core/bytes.hpp"
#include "format/choice_recorded.hpp"
#include "format/lz4/block/lz4_block_size.hpp"
#include "format/lz4/compress/lz4_judge.hpp"
#include "format/lz4/frame/lz4_frame.hpp"
#include "format/lz4/frame/lz4_frame_layout.hpp"
#include "format/lz4/frame/lz4_legacy_writer.hpp"
#include "format/lz4/lz4_levels.hpp"

namespace hemstitch {
namespace {

constexpr std::array<std::size_t, 4> kBlockSizes{64 << 10, 256 << 10, 1 << 20, 4 << 20};
constexpr std::array<OtherSuffix, 1> kLz4Suffixes{{{".tlz4", ".tar"}}};

class Lz4FrameWriter : public FrameWriter {
 public:
  Lz4FrameWriter(const FrameFormat& format, const CompressOptions& options) {
    header_.block_kind = options.linked_blocks ? BlockKind::kLinked : BlockKind::kIndependent;
    header_.block_checksums = options.block_checksums;
    header_.content_checksum = options.content_checksum;
    header_.block_bytes = options.block_bytes;
    if (!options.dictionary.empty()) header_.dictionary_id = format.dictionary_id(options.dictionary);
  }

  FrameRoom room() const override {
    return {.header_bytes = kMaxFrameHeaderBytes,
            .before_block_bytes = kBlockHeaderBytes,
            .behind_block_bytes = header_.block_checksums ? kBlockChecksumBytes : 0,
            .last_byte_bytes = kBlockHeaderBytes + 1 + kBlockChecksumBytes,
            .end_bytes = kEndMarkBytes + kContentChecksumBytes};
  }

  FrameLayout layout(std::uint64_t content_bytes) const override {
    return lz4_frame_layout(content_bytes, header_.block_bytes, header_.block_checksums,
                            header_.content_checksum);
  }

  std::size_t history_bytes() const override {
    return header_.block_kind == BlockKind::kLinked ? kLz4HistoryBytes : 0;
  }

  std::size_t write_header(std::optional<std::uint64_t> content_bytes, std::byte* to) const override {
    FrameHeader header = header_;
    header.content_bytes = content_bytes;
    const std::vector<std::byte> bytes = write_lz4_frame_header(header);
    std::copy(bytes.begin(), bytes.end(), to);
    return bytes.size();
  }
  bool states_content_bytes() const override { return true; }

  void write_before(const Block& block, std::byte* to) const override {
    store_le32(to, static_cast<std::uint32_t>(block.bytes().size()) | (block.data ? 0 : kStoredBlockBit));
  }

  std::size_t write_behind(const Block& block, std::byte* to) const override {
    if (!header_.block_checksums) return 0;
    store_le32(to, lz4_checksum(block.bytes()));
    return kBlockChecksumBytes;
  }

  std::size_t write_last_byte(std::byte last, std::byte* to) const override {
    const Block block{{&last, 1}, std::nullopt};
    write_before(block, to);
    to[kBlockHeaderBytes] = last;
    return kBlockHeaderBytes + 1 + write_behind(block, to + kBlockHeaderBytes + 1);
  }

  bool has_content_checksum() const override { return header_.content_checksum; }
  std::size_t write_end(std::uint64_t, std::optional<std::uint32_t> content_checksum,
                        std::byte* to) const override {
    store_le32(to, 0);  // end mark: a block of 0 bytes
    if (!content_checksum) return kEndMarkBytes;
    store_le32(to + kEndMarkBytes, *content_checksum);
    return kEndMarkBytes + kContentChecksumBytes;
  }

 private:
  static constexpr std::size_t kEndMarkBytes = 4;
  static constexpr std::size_t kContentChecksumBytes = 4;

  FrameHeader header_;
};

class Lz4Format : public FrameFormat {
 public:
  Format id() const override { return Format::kLz4; }
  std::string_view name() const override { return "lz4"; }
  std::string_view title() const override { return "LZ4"; }
  std::string_view suffix() const override { return ".lz4"; }
  std::span<const OtherSuffix> other_suffixes() const override { return kLz4Suffixes; }
  std::span<const std::string_view> first_bytes() const override { return kLz4FirstBytes; }

  std::span<const std::size_t> block_sizes() const override { return kBlockSizes; }
  FormatChoices choices() const override {
    return {.acceleration = true,
            .linked_blocks = true,
            .checksums = true,
            .dictionary = true,
            .legacy_frames = true};
  }
  void check(const CompressOptions& options) const override {
    if (!options.stored_name.empty() || options.stored_time != 0 || options.seekable_bytes != 0)
      throw Error(Status::kInvalidOption, "stored_name, stored_time, seekable_bytes: LZ4 has none");
  }
  std::size_t default_block_bytes() const override { return 256 << 10; }
  std::size_t legacy_block_bytes() const override { return kLz4LegacyBlockBytes; }
  Checksum checksum() const override { return Checksum::kXxh32; }
  std::size_t history_bytes() const override { return kLz4HistoryBytes; }
  // 255 bytes of a match take a byte; no other part of a block restores to more.
  std::uint64_t most_content_of_byte() const override { return 255; }
  std::optional<FormatFigures> figures() const override {
    using namespace choice_recorded;
    return FormatFigures{.cpu = {kLz4CpuCompress, kLz4CpuRestore},
                         .reference = {kLz4ReferenceCompress, kLz4ReferenceRestore},
                         .cuda = {kLz4CudaCompress, kLz4CudaRestore}};
  }

  std::optional<BlockPlan> match_limits() const override { return lz4_block_plan(); }
  std::optional<AnyFinder> finder(int level, std::size_t block_bytes,
                                  std::size_t history_bytes) const override {
    return lz4_level(level, block_bytes, history_bytes).finder;
  }
  std::optional<JudgedMatches> judge(std::span<const std::byte>,
                                     std::span<const MatchRecord> records) const override {
    return judge_lz4_matches(records);
  }

  std::unique_ptr<FrameReader> make_reader(bool verify_header_checksum) const override {
    return std::make_unique<Lz4FrameParser>(verify_header_checksum);
  }
  std::unique_ptr<FrameWriter> make_writer(const CompressOptions& options) const override {
    if (options.legacy) return make_lz4_legacy_writer(options);
    return std::make_unique<Lz4FrameWriter>(*this, options);
  }
  std::optional<std::uint64_t> restored_bytes(std::span<const std::byte> data) const override {
    return lz4_block_restored_bytes(data);
  }
};

}  // namespace

std::unique_ptr<FrameFormat> make_lz4_format() { return std::make_unique<Lz4Format>(); }

}  // namespace hemstitch
