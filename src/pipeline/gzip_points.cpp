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

// Restores a member from a point on, piece by piece.
class PointDecoder {
 public:
  // The source must outlive this object, and must be used by nothing else before the member has ended.
  PointDecoder(Source& source, const GzipPoint& point)
      : source_(source), at_(point.bit / 8), piece_at_(point.content_at) {
    if (!source.seek(at_)) fail(Status::kReadFailed, "the source cannot seek", at_);
    const auto taken_bits = static_cast<unsigned>(point.bit % 8);
    std::byte first{};
    if (taken_bits != 0) at_ += source.read(std::span(&first, 1));
    decoder_ = FormatTable::instance().of(Format::kGzip).make_decoder_at(point.window, first, taken_bits);
  }

  // What was restored last, and its place in the content; nothing before the first call of next().
  std::span<const std::byte> piece() const { return std::span(content_).first(piece_bytes_); }
  std::uint64_t piece_at() const { return piece_at_; }
  std::uint64_t content_at() const { return piece_at_ + piece_bytes_; }
  // Whether the member ends behind the piece.
  bool ended() const { return ended_; }
  // The end of what was taken of the source.
  std::uint64_t at() const { return at_; }

  // Restores the next piece, which may be empty. Throws Error of the corrupt family for damage directly behind the
  // piece before.
  void next() {
    if (damage_ != Status::kOk) fail(damage_, damage_text_, at_);
    if (content_.empty()) {
      content_.resize(kPieceBytes);
      buffer_.resize(kPieceBytes);
    }
    if (input_.empty() && !at_end_) {
      input_ = std::span(buffer_).first(source_.read(buffer_));
      at_end_ = input_.empty();
    }
    piece_at_ = content_at();
    piece_bytes_ = 0;
    const StreamStep step = decoder_->restore(input_, content_);
    input_ = input_.subspan(step.input_bytes);
    at_ += step.input_bytes;
    piece_bytes_ = step.output_bytes;
    ended_ = step.ended;
    damage_ = step.status;
    if (damage_ != Status::kOk)
      damage_text_ = step.detail.empty() ? "the data here cannot be restored" : std::string(step.detail);
    else if (!ended_ && at_end_ && piece_bytes_ == 0)
      fail(Status::kTruncated, "the end of the compressed data is missing", at_);
  }

 private:
  Source& source_;
  std::uint64_t at_;
  std::unique_ptr<StreamDecoder> decoder_;
  std::vector<std::byte> buffer_, content_;
  std::span<const std::byte> input_;
  bool at_end_ = false;  // of the source
  std::uint64_t piece_at_;
  std::size_t piece_bytes_ = 0;
  bool ended_ = false;
  Status damage_ = Status::kOk;  // of what follows the piece
  std::string damage_text_;
};

// Does what restore_range_from() does, from the decoder's piece on.
StreamReport restore_range_on(PointDecoder& decoder, Source& source, Sink& sink, std::uint64_t range_begin,
                              std::uint64_t range_end, const RestoreOptions& options,
                              const StreamHooks& hooks) {
  StreamReport report;
  const std::uint64_t begin = decoder.at();
  RangeSink range(sink, decoder.piece_at(), range_begin, range_end);
  range.write(decoder.piece());
  while (!decoder.ended() && range.at() < range_end) {
    throw_if_cancelled(hooks);
    decoder.next();
    range.write(decoder.piece());
    if (hooks.progress) hooks.progress(decoder.at(), range.written());
  }
  const std::uint64_t at = decoder.at();
  report.frame_count = 1;
  report.input_bytes = at - begin;
  report.output_bytes = range.written();
  if (!decoder.ended() || range.at() >= range_end) return report;

  // The bytes that follow are read like any gzip file, if more of it is needed.
  const std::uint64_t next = at + kTrailerBytes, before = range.at();
  std::array<std::byte, kIdentifyBytes> next_bytes{};
  if (!source.seek(next - 1) || source.read(std::span(next_bytes).first(1)) == 0)
    fail(Status::kTruncated, "the member's trailer is missing", at);
  const auto is_zero = [](std::byte byte) { return byte == std::byte{0}; };
  const std::size_t count = source.read(next_bytes);
  if (count == 1 && next_bytes[0] == kFirstByteOfMember)
    fail(Status::kTruncated, "the member that begins here is cut off", next);
  if (!FormatTable::instance().of(Format::kGzip).begins(std::span(next_bytes).first(count))) {
    if (!std::ranges::all_of(std::span(next_bytes).first(count), is_zero)) report.trailing_garbage_at = next;
    if (before < range_begin)
      throw Error(Status::kRangeOutsideContent,
                  fmt::format("the range begins at byte {}, the content has {}", range_begin, before));
    return report;
  }
  source.seek(next);
  StreamHooks inside = hooks;
  inside.begins_inside = true;
  StreamReport rest =
      restore_range(source, sink, std::max(range_begin, before) - before,
                    range_end == UINT64_MAX ? range_end : range_end - before, options, inside);
  rest.input_bytes += report.input_bytes + kTrailerBytes;
  rest.output_bytes += report.output_bytes;
  rest.frame_count += report.frame_count;
  return rest;
}

}  // namespace

StreamReport restore_range_from(Source& source, Sink& sink, const GzipPoint& point, std::uint64_t range_begin,
                                std::uint64_t range_end, const RestoreOptions& options,
                                const StreamHooks& hooks) {
  PointDecoder decoder(source, point);
  const std::uint64_t taken_bytes = decoder.at() - point.bit / 8;
  StreamReport report = restore_range_on(decoder, source, sink, range_begin, range_end, options, hooks);
  report.input_bytes += taken_bytes;
  return report;
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

// Where a range ended, to go on from there.
struct GzipRanges::Cursor {
  Cursor(const RandomAccess& input, const GzipPoint& point) : source(input), decoder(source, point) {}

  RandomAccessSource source;
  PointDecoder decoder;
};

GzipRanges::~GzipRanges() = default;

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
      // The decoder of the last range, if to go on from there is shorter than to begin at the point.
      std::unique_ptr<Cursor> cursor = cursor_.take();
      if (!cursor || cursor->decoder.piece_at() < part.point.content_at ||
          cursor->decoder.piece_at() > begin) {
        MemorySource index(options_.index);
        const auto point = GzipIndexReader::of(index, input_.total_bytes())->read(part.point);
        if (!point) throw Error(Status::kInvalidOption, "index: a window is missing");
        cursor = std::make_unique<Cursor>(input_, *point);
      }
      restore_range_on(cursor->decoder, cursor->source, sink, begin, end, alone, {});
      cursor_.keep(std::move(cursor));
    } catch (const Error& error) {
      if (error.status() == Status::kCancelled) throw;
      done[i].status = error.status();
      done[i].place = error.place();
    }
    done[i].bytes = std::move(sink.bytes);
  };
  for_pieces(resolve_threads(options_.threads), parts.size(), 1, restore_part);
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
