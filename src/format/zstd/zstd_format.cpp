#include "format/zstd/zstd_format.hpp"

#include <fmt/format.h>

#include <array>

#include "core/bytes.hpp"
#include "core/messages.hpp"
#include "core/options.hpp"
#include "core/status.hpp"
#include "format/zstd/block/zstd_symbols.hpp"
#include "format/zstd/compress/zstd_compress_cpu.hpp"
#include "format/zstd/frame/zstd_frame_header.hpp"
#include "format/zstd/frame/zstd_places.hpp"
#include "format/zstd/frame/zstd_reader.hpp"
#include "format/zstd/frame/zstd_writer.hpp"
#include "format/zstd/restore/zstd_bits.hpp"
#include "format/zstd/restore/zstd_dictionary.hpp"
#include "format/zstd/zstd_limits.hpp"

namespace hemstitch {
namespace {

void check_seekable(const CompressOptions& options) {
  if (options.seekable_bytes < kLeastSeekableBytes || options.seekable_bytes > kMostSeekableBytes)
    throw Error(Status::kInvalidOption, out_of_range("seekable_bytes", options.seekable_bytes,
                                                     kLeastSeekableBytes, kMostSeekableBytes));
  if (options.block_bytes != options.seekable_bytes)
    throw Error(Status::kInvalidOption,
                "block_bytes: a seekable file's frames are its blocks, whose size is seekable_bytes");
}

void check_window(const CompressOptions& options) {
  if (options.window_log < kLeastFrameWindowLog || options.window_log > kMostFrameWindowLog)
    throw Error(Status::kInvalidOption,
                out_of_range("window_log", options.window_log, kLeastFrameWindowLog, kMostFrameWindowLog));
  if (options.verify && compresses_as_a_whole(options))
    throw Error(
        Status::kInvalidOption,
        "verify: a frame with a window_log is not restored while it is written; restore it afterwards");
}

// On a device, all frames of a batch wait for its longest one, so longer frames are not taken.
constexpr std::uint64_t kMostWholeFrameBytes = 1 << 20;

// A frame whose window makes no difference, as what short files are compressed to: it holds all of the content, and is not
// refused for its size.
std::optional<IndexedBlock> whole_zstd_frame(std::span<const std::byte> file) {
  if (file.size() <= kZstdMagicBytes || load_le32(file.data()) != kZstdMagic) return std::nullopt;
  const std::size_t head_bytes = kZstdMagicBytes + zstd_header_rest_bytes(file[kZstdMagicBytes]);
  if (file.size() < head_bytes) return std::nullopt;
  const std::optional<ZstdFrameHeader> header =
      read_zstd_header(file.subspan(kZstdMagicBytes, head_bytes - kZstdMagicBytes));
  if (!header || header->dictionary_id != 0 ||
      header->content_bytes.value_or(UINT64_MAX) > kMostWholeFrameBytes ||
      header->window_bytes < *header->content_bytes || header->window_bytes > kUsualWindowBytes)
    return std::nullopt;
  const std::size_t behind_bytes = header->has_checksum ? kChecksumBytes : 0;
  if (file.size() < head_bytes + kZstdBlockHeaderBytes + behind_bytes) return std::nullopt;
  const std::size_t data_bytes = file.size() - head_bytes - behind_bytes;
  // Content does not become longer, unless it is divided into tiny blocks.
  if (data_bytes > 2 * kMostWholeFrameBytes ||
      *header->content_bytes / (kZstdMostBlockBytes / 4) > data_bytes)
    return std::nullopt;
  IndexedBlock frame{.at = head_bytes, .data_bytes = static_cast<std::uint32_t>(data_bytes)};
  if (header->has_checksum) frame.content_checksum = load_le32(&file.last(kChecksumBytes).front());
  frame.content_bytes = static_cast<std::uint32_t>(*header->content_bytes);
  return frame;
}

void refuse_with_rsyncable(const CompressOptions& options) {
  if (options.rsyncable && (options.seekable_bytes != 0 || options.window_log != 0 ||
                            !options.dictionary.empty() || options.verify))
    throw Error(Status::kInvalidOption,
                "rsyncable contradicts seekable_bytes, window_log, dictionary and verify");
}

// Of a file whose frames are looked for before any of it is restored: a read for each block.
constexpr std::uint64_t kMostWalkedBytes = std::uint64_t{1} << 30;

constexpr std::array<OtherSuffix, 1> kZstdSuffixes{{{".tzst", ".tar"}}};

class ZstdFormat : public FrameFormat {
 public:
  Format id() const override { return Format::kZstd; }
  std::string_view name() const override { return "zstd"; }
  std::string_view title() const override { return "Zstandard"; }
  std::string_view suffix() const override { return ".zst"; }
  std::span<const OtherSuffix> other_suffixes() const override { return kZstdSuffixes; }
  std::span<const std::string_view> first_bytes() const override { return {&kZstdFirstBytes, 1}; }

  std::span<const std::size_t> block_sizes() const override { return kZstdPartSizes; }
  std::size_t default_block_bytes() const override { return kZstdDefaultPartBytes; }
  LevelRange levels() const override { return {.least = -7, .most = 22}; }
  int default_level() const override { return 3; }
  FormatChoices choices() const override { return {.dictionary = true, .seekable = true, .rsyncable = true}; }
  void check(const CompressOptions& options) const override {
    const auto refuse = [](bool asked, std::string_view field) {
      if (asked) throw Error(Status::kInvalidOption, fmt::format("{}: Zstandard has no such option", field));
    };
    refuse(options.acceleration != 0, "acceleration");
    refuse(options.linked_blocks, "linked_blocks");
    refuse(!options.stored_name.empty(), "stored_name");
    refuse(options.stored_time != 0, "stored_time");
    refuse_with_rsyncable(options);
    if (options.seekable_bytes != 0) check_seekable(options);
    if (options.window_log != 0) check_window(options);
    if (options.dictionary.size() > kZstdMostDictionaryBytes)
      throw Error(Status::kInvalidOption, fmt::format("dictionary has {} bytes, it can have {}",
                                                      options.dictionary.size(), kZstdMostDictionaryBytes));
    try {
      read_zstd_dictionary(options.dictionary);
    } catch (const ZstdDamage& damage) {
      throw Error(Status::kInvalidOption, fmt::format("dictionary: {}", damage.rule));
    }
  }
  Checksum checksum() const override { return Checksum::kXxh64; }

  std::size_t history_bytes() const override { return kZstdMostDictionaryBytes; }
  bool dictionary_is_history() const override { return false; }
  std::span<const std::byte> dictionary_content(std::span<const std::byte> dictionary) const override {
    return dictionary;
  }
  std::uint32_t dictionary_id(std::span<const std::byte> dictionary) const override {
    return zstd_dictionary_id(dictionary);
  }
  std::optional<std::size_t> most_dictionary_bytes() const override { return kZstdMostDictionaryBytes; }

  // A block of 4 bytes repeats one byte, 128 KB of it.
  std::uint64_t most_content_of_byte() const override { return kZstdMostBlockBytes / 4; }
  bool writes_streams() const override { return true; }
  std::span<const std::byte> end_of_stream() const override { return kZstdEndOfBlocks; }

  std::unique_ptr<FrameReader> make_reader(bool) const override { return std::make_unique<ZstdReader>(); }
  std::unique_ptr<FrameReader> make_file_reader(Source& file, FrameSearch search) const override {
    auto places =
        places_of_seek_table(file, search == FrameSearch::kParts ? ZstdCompared::kFew : ZstdCompared::kAll);
    if (!places && (search == FrameSearch::kParts || (search == FrameSearch::kQuickly &&
                                                      file.total_bytes().value_or(0) <= kMostWalkedBytes))) {
      places = places_of_headers(file);
      // All threads restore a single frame, too, and its content comes sooner.
      if (search == FrameSearch::kQuickly && places && places->size() == 1) places.reset();
    }
    return places ? std::make_unique<ZstdReader>(std::move(*places)) : nullptr;
  }
  std::optional<IndexedBlock> whole_stream(std::span<const std::byte> file, bool) const override {
    return whole_zstd_frame(file);
  }
  std::unique_ptr<FrameWriter> make_writer(const CompressOptions& options) const override {
    return make_zstd_writer(options);
  }
  std::unique_ptr<FrameWriter> make_own_writer(const CompressOptions& options) const override {
    return make_zstd_own_writer(options);
  }
  void store(BlockTask& task) const override {
    task.output_bytes = write_raw_zstd_blocks(task.input, task.output);
    task.status = Status::kOk;
  }
  std::optional<std::uint64_t> restored_bytes(std::span<const std::byte>) const override {
    return std::nullopt;  // its blocks are only known as a stream
  }
};

}  // namespace

std::unique_ptr<FrameFormat> make_zstd_format() { return std::make_unique<ZstdFormat>(); }

}  // namespace hemstitch
