#include "format/deflate/deflate_formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/bytes.hpp"
#include "core/status.hpp"
#include "format/choice_recorded.hpp"
#include "format/deflate/block/deflate_stored.hpp"
#include "format/deflate/block/deflate_symbols.hpp"
#include "format/deflate/compress/parse/deflate_judge.hpp"
#include "format/deflate/deflate_levels.hpp"
#include "format/deflate/frame/bgzf_index.hpp"
#include "format/deflate/frame/deflate_head.hpp"
#include "format/deflate/frame/deflate_writers.hpp"
#include "format/deflate/frame/gzip_reader.hpp"
#include "format/deflate/frame/zlib_reader.hpp"
#include "format/deflate/restore/deflate_restore.hpp"

namespace hemstitch {
namespace {

constexpr std::array<std::size_t, 1> kStreamBlockSizes{kDeflateBlockBytes};
constexpr std::array<std::size_t, 1> kBgzfBlockSizes{kBgzfBlockBytes};
constexpr std::array<OtherSuffix, 2> kGzipSuffixes{{{".tgz", ".tar"}, {".taz", ".tar"}}};
constexpr std::array<OtherSuffix, 1> kBgzfSuffixes{{{".bgz", ""}}};
constexpr int kDefaultDeflateLevel = 6;
constexpr std::size_t kMostDictionaryBytes = 64 << 10;
// An empty block that is marked as the last one. Parts end at a byte.
constexpr std::array kEndOfStream{std::byte{3}, std::byte{0}};

// On a device, all streams of a batch wait for its longest one, so longer streams are not taken. Data may
// take a little more than its content.
constexpr std::uint32_t kMostWholeStreamBytes = 1 << 20;
// 258 bytes of content take at least two bits.
constexpr std::uint64_t kMostContentOfByte = std::uint64_t{258} * 4;

std::optional<IndexedBlock> short_gzip_stream(std::uint64_t head_bytes, std::uint64_t file_bytes) {
  if (file_bytes <= head_bytes + kGzipTrailerBytes) return std::nullopt;
  const std::uint64_t data_bytes = file_bytes - head_bytes - kGzipTrailerBytes;
  if (data_bytes > std::uint64_t{2} * kMostWholeStreamBytes) return std::nullopt;
  return IndexedBlock{.at = head_bytes, .data_bytes = static_cast<std::uint32_t>(data_bytes)};
}

bool end_short_gzip_stream(std::span<const std::byte> trailer, IndexedBlock& stream) {
  stream.content_checksum = load_le32(trailer.data());
  stream.content_bytes = load_le32(trailer.data() + 4);
  return *stream.content_bytes <=
         std::min<std::uint64_t>(kMostWholeStreamBytes, stream.data_bytes * kMostContentOfByte);
}

std::optional<IndexedBlock> whole_gzip_stream(std::span<const std::byte> file, bool verify_header_checksum) {
  // A block of BGZF does not count as a stream.
  if (read_bgzf_head(file.data(), file.size()).status != Status::kUnknownFormat) return std::nullopt;
  const DeflateHead head = read_gzip_head(file.data(), file.size());
  if (head.status != Status::kOk) return std::nullopt;
  std::optional<IndexedBlock> stream = short_gzip_stream(head.bytes, file.size());
  if (!stream || !end_short_gzip_stream(file.last(kGzipTrailerBytes), *stream)) return std::nullopt;
  if (verify_header_checksum && head.has_checksum &&
      deflate_head_checksum_status(Format::kGzip, head,
                                   checksum_of(Checksum::kCrc32, file.first(head.bytes - 2))) != Status::kOk)
    return std::nullopt;
  return stream;
}

StreamTrial try_gzip_stream(Source& source, std::uint64_t most_bytes, bool verify_checksum) {
  constexpr std::size_t kPieceBytes = std::size_t{64} << 10;
  std::vector<std::byte> data(kPieceBytes), content(kPieceBytes);
  DeflateDecoder decoder{std::span<const std::byte>()};
  RunningChecksum checksum(Checksum::kCrc32);
  std::uint64_t content_bytes = 0;
  StreamTrial trial;
  std::span<const std::byte> input;
  for (bool at_end = false;;) {
    if (input.empty() && !at_end) {
      input = std::span(data).first(source.read(data));
      at_end = input.empty();
    }
    const StreamStep step = decoder.restore(input, content);
    input = input.subspan(step.input_bytes);
    trial.data_bytes += step.input_bytes;
    content_bytes += step.output_bytes;
    if (verify_checksum) checksum.update(std::span(content).first(step.output_bytes));
    if (step.ended) break;
    if (step.status != Status::kOk || (at_end && step.output_bytes == 0)) return trial;
    if (trial.data_bytes >= most_bytes) {
      trial.end = StreamTrial::End::kUnknown;
      return trial;
    }
  }
  std::array<std::byte, kGzipTrailerBytes> trailer;
  const auto here = input.first(std::min(input.size(), trailer.size()));
  std::copy(here.begin(), here.end(), trailer.begin());
  if (here.size() + source.read(std::span(trailer).subspan(here.size())) != trailer.size())
    trial.end = trial.data_bytes + trailer.size() > most_bytes ? StreamTrial::End::kUnknown : trial.end;
  else if (deflate_trailer_status(Format::kGzip, trailer.data(), content_bytes, verify_checksum,
                                  verify_checksum ? checksum.digest() : 0) == Status::kOk)
    trial.end = StreamTrial::End::kSound;
  return trial;
}

class DeflateFormat : public FrameFormat {
 public:
  Format id() const override { return Format::kDeflate; }
  std::string_view name() const override { return "deflate"; }
  std::string_view title() const override { return "raw DEFLATE"; }
  std::string_view suffix() const override { return {}; }

  std::span<const std::size_t> block_sizes() const override { return kStreamBlockSizes; }
  int default_level() const override { return kDefaultDeflateLevel; }
  void check(const CompressOptions& options) const override {
    refuse(options.acceleration != 0, "acceleration");
    refuse(options.linked_blocks, "linked_blocks");
    refuse(!options.dictionary.empty() && !choices().dictionary, "dictionary");
    refuse(!options.stored_name.empty() && !choices().stored_name, "stored_name");
    refuse(options.stored_time != 0 && !choices().stored_name, "stored_time");
    refuse(options.seekable_bytes != 0, "seekable_bytes");
    if (options.rsyncable && (!options.dictionary.empty() || options.verify))
      throw Error(Status::kInvalidOption, "rsyncable contradicts dictionary and verify");
    if (options.dictionary.size() > kMostDictionaryBytes)
      throw Error(Status::kInvalidOption,
                  fmt::format("dictionary has {} bytes, it can have {}, since its checksum covers all of it",
                              options.dictionary.size(), kMostDictionaryBytes));
    if (options.stored_name.find('\0') != std::string::npos)
      throw Error(Status::kInvalidOption, "stored_name contains a zero byte, which would end it");
  }
  FormatChoices choices() const override { return {.rsyncable = true}; }
  Checksum checksum() const override { return Checksum::kNone; }
  std::size_t history_bytes() const override { return kDeflateWindowBytes; }
  std::uint64_t most_content_of_byte() const override { return kMostContentOfByte; }
  // Whole streams are restored in pieces, on cores and devices; the twin restores them as it does blocks.
  std::optional<FormatFigures> figures() const override {
    using namespace choice_recorded;
    return FormatFigures{
        .cpu = {kDeflateCpuCompress, writes_streams() ? kStreamCpuRestore : kDeflateCpuRestore},
        .reference = {kDeflateReferenceCompress, kDeflateReferenceRestore},
        .cuda = {kDeflateCudaCompress, writes_streams() ? kStreamCudaRestore : kDeflateCudaRestore}};
  }
  bool writes_streams() const override { return deflate_end_of_blocks(id()) == DeflateEnd::kFlush; }
  std::span<const std::byte> end_of_stream() const override {
    return writes_streams() ? std::span<const std::byte>(kEndOfStream) : std::span<const std::byte>();
  }

  std::optional<BlockPlan> match_limits() const override { return deflate_block_plan(); }
  std::optional<AnyFinder> finder(int level, std::size_t, std::size_t) const override {
    return deflate_level(level).finder;
  }
  std::optional<JudgedMatches> judge(std::span<const std::byte> content,
                                     std::span<const MatchRecord> records) const override {
    const bool has_history = writes_streams();
    return judge_deflate_matches(content, records, has_history ? kDeflateChunkBytes : kBgzfBlockBytes,
                                 has_history);
  }

  std::unique_ptr<FrameReader> make_reader(bool) const override { return std::make_unique<DeflateReader>(); }
  std::unique_ptr<StreamDecoder> make_decoder_at(std::span<const std::byte> window, std::byte first_byte,
                                                 unsigned taken_bits) const override {
    auto decoder = std::make_unique<DeflateDecoder>(std::span<const std::byte>());
    decoder->begin(window, first_byte, taken_bits);
    return decoder;
  }
  std::unique_ptr<FrameWriter> make_writer(const CompressOptions& options) const override {
    return make_deflate_writer(options);
  }
  void store(BlockTask& task) const override {
    task.output_bytes = write_deflate_stored(task.input, deflate_end_of_blocks(id()) == DeflateEnd::kFinal,
                                             task.output.data());
    task.status = Status::kOk;
  }
  // Blocks whose boundaries are known say this themselves.
  std::optional<std::uint64_t> restored_bytes(std::span<const std::byte>) const override {
    return std::nullopt;
  }

 private:
  void refuse(bool asked, std::string_view field) const {
    if (asked) throw Error(Status::kInvalidOption, fmt::format("{}: {} has no such option", field, title()));
  }
};

class ZlibFormat : public DeflateFormat {
 public:
  Format id() const override { return Format::kZlib; }
  std::string_view name() const override { return "zlib"; }
  std::string_view title() const override { return "zlib"; }
  std::string_view suffix() const override { return ".zz"; }
  bool may_begin(std::span<const std::byte> first_bytes) const override {
    return first_bytes.size() >= 2 &&
           zlib_header_status(static_cast<unsigned>(first_bytes[0]), static_cast<unsigned>(first_bytes[1])) ==
               Status::kOk;
  }
  Checksum checksum() const override { return Checksum::kAdler32; }
  std::unique_ptr<FrameReader> make_reader(bool) const override { return std::make_unique<ZlibReader>(); }

  FormatChoices choices() const override { return {.dictionary = true, .rsyncable = true}; }
  // The checksum covers also what no block can refer to.
  std::uint32_t dictionary_id(std::span<const std::byte> dictionary) const override {
    return checksum_of(checksum(), dictionary);
  }
  std::optional<std::size_t> most_dictionary_bytes() const override { return kMostDictionaryBytes; }
};

class GzipFormat : public DeflateFormat {
 public:
  Format id() const override { return Format::kGzip; }
  std::string_view name() const override { return "gzip"; }
  std::string_view title() const override { return "gzip"; }
  std::string_view suffix() const override { return ".gz"; }
  std::span<const OtherSuffix> other_suffixes() const override { return kGzipSuffixes; }
  std::span<const std::string_view> first_bytes() const override { return kGzipFirstBytes; }
  Checksum checksum() const override { return Checksum::kCrc32; }
  std::unique_ptr<FrameReader> make_reader(bool verify_header_checksum) const override {
    return std::make_unique<GzipReader>(verify_header_checksum);
  }

  StreamTrial try_stream(Source& source, std::uint64_t most_bytes, bool verify_checksum) const override {
    return try_gzip_stream(source, most_bytes, verify_checksum);
  }
  std::optional<IndexedBlock> whole_stream(std::span<const std::byte> file,
                                           bool verify_header_checksum) const override {
    return whole_gzip_stream(file, verify_header_checksum);
  }
  std::optional<IndexedBlock> short_stream(std::uint64_t head_bytes,
                                           std::uint64_t file_bytes) const override {
    return short_gzip_stream(head_bytes, file_bytes);
  }
  bool end_short_stream(std::span<const std::byte> trailer, IndexedBlock& stream) const override {
    return end_short_gzip_stream(trailer, stream);
  }

  FormatChoices choices() const override { return {.stored_name = true, .rsyncable = writes_streams()}; }
};

// Data that is read as gzip may turn out to be BGZF. So both formats have one reader, and `gzip` identifies
// such data. Only where somebody says that it is BGZF must members that state their size have that size.
class BgzfFormat : public GzipFormat {
 public:
  Format id() const override { return Format::kBgzf; }
  std::string_view name() const override { return "bgzf"; }
  std::string_view title() const override { return "BGZF"; }
  std::span<const OtherSuffix> other_suffixes() const override { return kBgzfSuffixes; }
  std::span<const std::string_view> first_bytes() const override { return {}; }
  std::unique_ptr<FrameReader> make_reader(bool verify_header_checksum) const override {
    return std::make_unique<GzipReader>(verify_header_checksum, true);
  }
  std::span<const std::size_t> block_sizes() const override { return kBgzfBlockSizes; }
  std::unique_ptr<SideIndex> make_side_index() const override { return make_bgzf_index(); }

  FormatChoices choices() const override { return {}; }
};

}  // namespace

std::vector<std::unique_ptr<FrameFormat>> make_deflate_frame_formats() {
  std::vector<std::unique_ptr<FrameFormat>> formats;
  formats.push_back(std::make_unique<GzipFormat>());
  formats.push_back(std::make_unique<BgzfFormat>());
  formats.push_back(std::make_unique<ZlibFormat>());
  formats.push_back(std::make_unique<DeflateFormat>());
  return formats;
}

}  // namespace hemstitch
