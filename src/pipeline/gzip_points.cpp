#include "pipeline/gzip_points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "core/options.hpp"
#include "core/parallel.hpp"
#include "format/formats.hpp"

namespace hemstitch {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{64} << 10;
constexpr std::uint64_t kTrailerBytes = 8;
constexpr std::byte kFirstByteOfMember{0x1F};

[[noreturn]] void fail(Status status, const std::string& what, std::uint64_t at) {
  throw Error(status, what, {std::nullopt, std::nullopt, at});
}

// Passes on the part of the content that lies in a range.
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

StreamReport restore_range_from(Source& source, Sink& sink, const GzipPoint& point, std::uint64_t range_begin,
                                std::uint64_t range_end, const RestoreOptions& options,
                                const StreamHooks& hooks) {
  StreamReport report;
  std::uint64_t at = point.bit / 8;  // in the source
  if (!source.seek(at)) fail(Status::kReadFailed, "the source cannot seek", at);
  const auto taken_bits = static_cast<unsigned>(point.bit % 8);
  std::byte first{};
  if (taken_bits != 0) at += source.read(std::span(&first, 1));
  const FrameFormat& gzip = FormatTable::instance().of(Format::kGzip);
  const std::unique_ptr<StreamDecoder> decoder = gzip.make_decoder_at(point.window, first, taken_bits);

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
    const StreamStep step = decoder->restore(input, content);
    input = input.subspan(step.input_bytes);
    at += step.input_bytes;
    range.write(std::span(content).first(step.output_bytes));
    ended = step.ended;
    if (step.status != Status::kOk && range.at() < range_end)
      fail(step.status, step.detail.empty() ? "the data here cannot be restored" : std::string(step.detail),
           at);
    if (!ended && at_end && step.output_bytes == 0)
      fail(Status::kTruncated, "the end of the compressed data is missing", at);
    if (hooks.progress) hooks.progress(at, range.written());
  }
  report.frame_count = 1;
  report.input_bytes = at - point.bit / 8;
  report.output_bytes = range.written();
  if (!ended || range.at() >= range_end) return report;

  // The bytes that follow are read like any gzip file, if more of it is needed.
  const std::uint64_t next = at + kTrailerBytes, before = range.at();
  std::array<std::byte, kIdentifyBytes> next_bytes{};
  if (!source.seek(next - 1) || source.read(std::span(next_bytes).first(1)) == 0)
    fail(Status::kTruncated, "the member's trailer is missing", at);
  const auto is_zero = [](std::byte byte) { return byte == std::byte{0}; };
  const std::size_t count = source.read(next_bytes);
  if (count == 1 && next_bytes[0] == kFirstByteOfMember)
    fail(Status::kTruncated, "the member that begins here is cut off", next);
  if (!gzip.begins(std::span(next_bytes).first(count))) {
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

namespace {

// The content between two points of an index, and the ranges that overlap it.
struct IndexedPart {
  GzipIndexReader::IndexedPoint point;
  std::uint64_t end = 0;  // the place of the next point, or the end of the content
  std::vector<std::size_t> ranges = {};

  // How many bytes of a range are in this part.
  std::uint64_t bytes_of(const ContentBytes& range) const {
    const std::uint64_t begin = std::max(range.begin, point.content_at);
    return std::max(begin, std::min(range.end, end)) - begin;
  }
};

// Gives each of some ranges its part of the content.
class RangesSink : public Sink {
 public:
  RangesSink(std::uint64_t content_at, std::span<const ContentBytes> ranges,
             const std::vector<std::size_t>& numbers)
      : at_(content_at), ranges_(ranges), numbers_(numbers), bytes(numbers.size()) {}

  void write(std::span<const std::byte> piece) override {
    const std::uint64_t end = at_ + piece.size();
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
      const ContentBytes& range = ranges_[numbers_[i]];
      const std::uint64_t from = std::clamp(range.begin, at_, end), to = std::clamp(range.end, at_, end);
      const auto wanted =
          piece.subspan(static_cast<std::size_t>(from - at_), static_cast<std::size_t>(to - from));
      bytes[i].insert(bytes[i].end(), wanted.begin(), wanted.end());
    }
    at_ = end;
  }

 private:
  std::uint64_t at_;
  std::span<const ContentBytes> ranges_;
  const std::vector<std::size_t>& numbers_;

 public:
  std::vector<std::vector<std::byte>> bytes;  // of each range
};

}  // namespace

GzipRanges::GzipRanges(const RandomAccess& input, const RestoreOptions& options)
    : input_(input), options_(options) {
  MemorySource index(options.index);
  std::array<std::byte, kIdentifyBytes> room;
  auto reader = FormatTable::instance().of(Format::kGzip).begins(bytes_at(input, 0, room))
                    ? GzipIndexReader::of(index, input.total_bytes())
                    : std::nullopt;
  auto points = reader ? reader->points() : std::nullopt;
  if (!points || points->empty() || points->front().content_at != 0)
    throw Error(Status::kInvalidOption, "index: it belongs to another input, or is damaged");
  content_bytes_ = reader->content_bytes();
  points_ = std::move(*points);
}

std::vector<RestoredRange> GzipRanges::restore(std::span<const ContentBytes> ranges) const {
  std::vector<RestoredRange> restored(ranges.size());
  std::map<std::size_t, std::vector<std::size_t>> ranges_of;  // by the part that they overlap
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (ranges[i].begin > content_bytes_) restored[i].status = Status::kRangeOutsideContent;
    if (ranges[i].begin >= std::min(ranges[i].end, content_bytes_)) continue;
    const auto after =
        std::ranges::upper_bound(points_, ranges[i].begin, {}, &GzipIndexReader::IndexedPoint::content_at);
    for (auto point = after - 1; point != points_.end() && point->content_at < ranges[i].end; ++point)
      ranges_of[static_cast<std::size_t>(point - points_.begin())].push_back(i);
  }
  std::vector<IndexedPart> parts;
  for (auto& [number, numbers] : ranges_of)
    parts.push_back({points_[number],
                     number + 1 < points_.size() ? points_[number + 1].content_at : content_bytes_,
                     std::move(numbers)});

  RestoreOptions alone = options_;
  alone.threads = 1;
  alone.backend = "cpu";
  alone.index = {};
  struct Done {
    std::vector<std::vector<std::byte>> bytes;
    Status status = Status::kOk;
    Place place = {};
  };
  std::vector<Done> done(parts.size());
  const auto restore_part = [&](std::size_t i) {
    const IndexedPart& part = parts[i];
    std::uint64_t begin = UINT64_MAX, end = 0;
    for (const std::size_t number : part.ranges) {
      begin = std::min(begin, ranges[number].begin);
      end = std::max(end, ranges[number].end);
    }
    begin = std::max(begin, part.point.content_at);
    end = std::min(end, part.end);
    RangesSink sink(begin, ranges, part.ranges);
    try {
      MemorySource own_index(options_.index);
      RandomAccessSource source(input_);
      auto own_reader = GzipIndexReader::of(own_index, input_.total_bytes());
      const auto point = own_reader->read(part.point);
      if (!point) throw Error(Status::kInvalidOption, "index: a window is missing");
      restore_range_from(source, sink, *point, begin, end, alone);
    } catch (const Error& error) {
      if (error.status() == Status::kCancelled) throw;
      done[i].status = error.status();
      done[i].place = error.place();
    }
    done[i].bytes = std::move(sink.bytes);
  };
  if (parts.size() == 1)
    restore_part(0);
  else
    run_on_threads(resolve_threads(options_.threads),
                   [&] { run_in_parallel(parts.size(), 1, restore_part); });
  for (std::size_t i = 0; i < parts.size(); ++i)
    for (std::size_t j = 0; j < parts[i].ranges.size(); ++j) {
      RestoredRange& range = restored[parts[i].ranges[j]];
      if (range.status != Status::kOk) continue;
      std::vector<std::byte>& bytes = done[i].bytes[j];
      // Damage after the range does not concern it. If the content ends earlier than the index says, the
      // index is not for this content.
      if (bytes.size() != parts[i].bytes_of(ranges[parts[i].ranges[j]])) {
        const bool failed = done[i].status != Status::kOk;
        range = {failed ? done[i].status : Status::kContentSizeMismatch, done[i].place, {}};
        continue;
      }
      const std::size_t before = range.bytes.size();
      if (before == 0) {
        range.bytes = std::move(bytes);
      } else {
        range.bytes.resize(before + bytes.size());
        std::ranges::copy(bytes, range.bytes.begin() + static_cast<std::ptrdiff_t>(before));
      }
      bytes = {};
    }
  return restored;
}

}  // namespace hemstitch
