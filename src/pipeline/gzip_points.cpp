#include "pipeline/gzip_points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "format/checksum.hpp"
#include "format/deflate/frame/gzip_reader.hpp"
#include "format/deflate/restore/deflate_restore.hpp"
#include "format/formats.hpp"

namespace hemstitch {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{64} << 10;
constexpr std::uint64_t kTrailerBytes = 8;
constexpr std::int64_t kBeforeAll = INT64_MIN / 2;  // a bit, of what a decoder was given

// What the streams of all members share while the index is made.
struct GzipPointSearch {
  GzipIndex& index;
  const StreamHooks& hooks;
  std::uint64_t content_at = 0;
  std::vector<std::uint32_t> checksums = {};  // of the members
};

// Restores one member, and adds points where its blocks begin.
class PointFinder : public StreamDecoder {
 public:
  PointFinder(GzipPointSearch& search, std::uint64_t stream_at)
      : search_(search), at_(stream_at), member_(search.checksums.size()), decoder_({}) {
    search.checksums.push_back(checksum_of(Checksum::kCrc32, {}));
  }

  StreamStep restore(std::span<const std::byte> input, std::span<std::byte> output) override {
    throw_if_cancelled(search_.hooks);
    StreamStep step;
    bool stopped = false;  // behind a block, before anything of the piece was used
    do {
      if (search_.index.wants(search_.content_at) && decoder_.is_between_blocks())
        search_.index.add(at_ * 8 - decoder_.unread_bits(), search_.content_at, decoder_.window());
      // Where a point is wanted still, the next block is where it will be.
      const bool stops = search_.index.wants(search_.content_at);
      step = stops ? decoder_.restore_until(kBeforeAll, input, output) : decoder_.restore(input, output);
      stopped = stops && decoder_.is_between_blocks() && step.status == Status::kOk && step.input_bytes == 0 &&
                step.output_bytes == 0;
    } while (stopped);
    std::uint32_t& checksum = search_.checksums[member_];
    checksum = checksum_behind(Checksum::kCrc32, checksum, output.first(step.output_bytes));
    at_ += step.input_bytes;
    search_.content_at += step.output_bytes;
    if (search_.hooks.progress) search_.hooks.progress(at_, search_.content_at);
    return step;
  }

 private:
  GzipPointSearch& search_;
  std::uint64_t at_;  // in the file, of the input to come
  std::size_t member_;
  DeflateDecoder decoder_;
};

[[noreturn]] void fail(Status status, const std::string& what, std::uint64_t at) {
  throw Error(status, what, {std::nullopt, std::nullopt, at});
}

// Passes on what of the content lies in a range.
class RangeSink {
 public:
  RangeSink(Sink& sink, std::uint64_t content_at, std::uint64_t begin, std::uint64_t end)
      : sink_(sink), at_(content_at), begin_(begin), end_(end) {}

  void write(std::span<const std::byte> bytes) {
    const auto place = [&](std::uint64_t limit) {
      return static_cast<std::size_t>(std::clamp(limit, at_, at_ + bytes.size()) - at_);
    };
    const auto wanted = bytes.subspan(place(begin_), place(end_) - place(begin_));
    at_ += bytes.size();
    written_ += wanted.size();
    if (!wanted.empty()) sink_.write(wanted);
  }
  std::uint64_t at() const { return at_; }
  std::uint64_t written() const { return written_; }

 private:
  Sink& sink_;
  std::uint64_t at_, begin_, end_;
  std::uint64_t written_ = 0;
};

}  // namespace

GzipIndexReport index_gzip(Source& source, GzipIndex& index, const StreamHooks& hooks) {
  GzipPointSearch search{index, hooks};
  const FrameIndex frames = index_frames(
      source,
      [&](const FrameFormat&, std::uint64_t stream_at) -> std::unique_ptr<StreamDecoder> {
        return std::make_unique<PointFinder>(search, stream_at);
      },
      &FormatTable::instance().of(Format::kGzip));
  GzipIndexReport report;
  report.trailing_garbage_at = frames.trailing_garbage_at;
  std::size_t member = 0;
  for (const IndexedFrame& frame : frames.frames) {
    if (frame.header.block_kind != BlockKind::kStream)
      fail(Status::kUnsupportedFeature, "BGZF needs no such index: its members are found without", frame.at);
    if (frame.content_bytes_low != static_cast<std::uint32_t>(frame.content_bytes))
      fail(Status::kContentSizeMismatch, fmt::format("the member holds {} bytes, and says otherwise", frame.content_bytes), frame.at);
    if (frame.content_checksum != search.checksums[member++])
      fail(Status::kContentChecksumMismatch, "the member's CRC-32 does not match its content", frame.at);
  }
  report.member_count = frames.frames.size();
  report.output_bytes = search.content_at;
  report.input_bytes = source.total_bytes().value_or(0);
  return report;
}

StreamReport restore_range_from(Source& source, Sink& sink, const GzipPoint& point, std::uint64_t range_begin,
                                std::uint64_t range_end, const RestoreOptions& options, const StreamHooks& hooks) {
  StreamReport report;
  std::uint64_t at = point.bit / 8;  // in the source
  if (!source.seek(at)) fail(Status::kReadFailed, "the source cannot be read from its middle", at);
  const auto taken_bits = static_cast<unsigned>(point.bit % 8);
  std::byte first{};
  if (taken_bits != 0) at += source.read(std::span(&first, 1));
  DeflateDecoder decoder({});
  decoder.begin(point.window, first, taken_bits);

  RangeSink range(sink, point.content_at, range_begin, range_end);
  std::vector<std::byte> buffer(kPieceBytes), content(kPieceBytes);
  std::span<const std::byte> input;
  bool ended = false, at_end = false;
  while (!ended && range.at() < range_end) {
    throw_if_cancelled(hooks);
    if (input.empty() && !at_end) {
      input = std::span(buffer).first(source.read(buffer));
      at_end = input.empty();
    }
    const StreamStep step = decoder.restore(input, content);
    input = input.subspan(step.input_bytes);
    at += step.input_bytes;
    range.write(std::span(content).first(step.output_bytes));
    ended = step.ended;
    if (step.status != Status::kOk && range.at() < range_end)
      fail(step.status, step.detail.empty() ? "what stands here cannot be restored" : std::string(step.detail), at);
    if (!ended && at_end && step.output_bytes == 0)
      fail(Status::kTruncated, "the end of what is compressed is missing", at);
    if (hooks.progress) hooks.progress(at, range.written());
  }
  report.frame_count = 1;
  report.input_bytes = at - point.bit / 8;
  report.output_bytes = range.written();
  if (!ended || range.at() >= range_end) return report;

  // What follows is read as any gzip file, if there is more of it.
  const std::uint64_t next = at + kTrailerBytes, before = range.at();
  std::array<std::byte, kIdentifyBytes> next_bytes{};
  if (!source.seek(next - 1) || source.read(std::span(next_bytes).first(1)) == 0)
    fail(Status::kTruncated, "the member's trailer is missing", at);
  const auto is_zero = [](std::byte byte) { return byte == std::byte{0}; };
  const std::size_t count = source.read(next_bytes);
  if (!is_gzip(std::span(next_bytes).first(count))) {
    if (!std::ranges::all_of(std::span(next_bytes).first(count), is_zero)) report.trailing_garbage_at = next;
    if (before < range_begin)
      throw Error(Status::kRangeOutsideContent,
                  fmt::format("the range begins at byte {}, the content has {}", range_begin, before));
    return report;
  }
  source.seek(next);
  StreamReport rest = restore_range(source, sink, std::max(range_begin, before) - before,
                                    range_end == UINT64_MAX ? range_end : range_end - before, options, hooks);
  rest.input_bytes += report.input_bytes + kTrailerBytes;
  rest.output_bytes += report.output_bytes;
  rest.frame_count += report.frame_count;
  return rest;
}

}  // namespace hemstitch
