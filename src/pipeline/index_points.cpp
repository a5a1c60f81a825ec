#include "pipeline/index_points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "core/options.hpp"
#include "core/parallel.hpp"
#include "format/formats.hpp"
#include "format/skippable_frame.hpp"

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

// Restores a stream from a point on, piece by piece.
class PointDecoder {
 public:
  // The source must outlive this object, and must be used by nothing else before the stream has ended. `decoder`
  // takes its bytes from `at` on; the content there is `content_at`.
  PointDecoder(Source& source, std::uint64_t at, std::uint64_t content_at,
               std::unique_ptr<StreamDecoder> decoder)
      : source_(source), at_(at), decoder_(std::move(decoder)), piece_at_(content_at) {
    if (!source.seek(at_)) fail(Status::kReadFailed, "the source cannot seek", at_);
  }

  // What was restored last, and its place in the content; nothing before the first call of next().
  std::span<const std::byte> piece() const { return std::span(content_).first(piece_bytes_); }
  std::uint64_t piece_at() const { return piece_at_; }
  std::uint64_t content_at() const { return piece_at_ + piece_bytes_; }
  // Whether the stream ends behind the piece.
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

PointDecoder decoder_at(Source& source, const GzipPoint& point) {
  std::uint64_t at = point.bit / 8;
  const auto taken_bits = static_cast<unsigned>(point.bit % 8);
  if (!source.seek(at)) fail(Status::kReadFailed, "the source cannot seek", at);
  std::byte first{};
  if (taken_bits != 0) at += source.read(std::span(&first, 1));
  return {source, at, point.content_at,
          FormatTable::instance().of(Format::kGzip).make_decoder_at(point.window, first, taken_bits)};
}

// What follows a stream: so many bytes of its own, then streams of this format.
struct WhatFollows {
  Format format = Format::kGzip;
  std::uint64_t trailer_bytes = kTrailerBytes;
};

// Does what restore_range_from() does, from the decoder's piece on.
StreamReport restore_range_on(PointDecoder& decoder, const WhatFollows& follows, Source& source, Sink& sink,
                              std::uint64_t range_begin, std::uint64_t range_end,
                              const RestoreOptions& options, const StreamHooks& hooks) {
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
  const std::uint64_t next = at + follows.trailer_bytes, before = range.at();
  std::array<std::byte, kIdentifyBytes> next_bytes{};
  if (!source.seek(next - 1) || source.read(std::span(next_bytes).first(1)) == 0)
    fail(Status::kTruncated, "what ends the stream is missing", at);
  const auto is_zero = [](std::byte byte) { return byte == std::byte{0}; };
  const std::size_t count = source.read(next_bytes);
  if (follows.format == Format::kGzip && count == 1 && next_bytes[0] == kFirstByteOfMember)
    fail(Status::kTruncated, "the member that begins here is cut off", next);
  if (!FormatTable::instance().of(follows.format).begins(std::span(next_bytes).first(count)) &&
      (follows.format == Format::kGzip || !begins_skippable_frame(std::span(next_bytes).first(count)))) {
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
  rest.input_bytes += report.input_bytes + follows.trailer_bytes;
  rest.output_bytes += report.output_bytes;
  rest.frame_count += report.frame_count;
  return rest;
}

}  // namespace

StreamReport restore_range_from(Source& source, Sink& sink, const GzipPoint& point, std::uint64_t range_begin,
                                std::uint64_t range_end, const RestoreOptions& options,
                                const StreamHooks& hooks) {
  PointDecoder decoder = decoder_at(source, point);
  const std::uint64_t taken_bytes = decoder.at() - point.bit / 8;
  StreamReport report = restore_range_on(decoder, {}, source, sink, range_begin, range_end, options, hooks);
  report.input_bytes += taken_bytes;
  return report;
}

namespace {

WhatFollows following(const ZstdIndexedPoint& point) {
  return {Format::kZstd, point.has_checksum ? kChecksumBytes : 0};
}

}  // namespace

StreamReport restore_range_from(Source& source, Sink& sink, const ZstdIndexReader& reader, Source& index,
                                std::uint64_t range_begin, std::uint64_t range_end,
                                const RestoreOptions& options, const StreamHooks& hooks) {
  const ZstdIndexedPoint* point = reader.nearest(range_begin);
  const ZstdIndexedPoint* const points_end = reader.points().data() + reader.points().size();
  StreamReport report;
  for (std::uint64_t at = range_begin; point != nullptr; ++point) {
    const ZstdIndexedPoint* const next = point + 1;
    const std::uint64_t end =
        next == points_end ? range_end : std::min(range_end, std::max(next->content_at, at));
    auto decoder = ZstdIndexReader::decoder_at(index, *point, source);
    if (!decoder) throw Error(Status::kInvalidOption, "the index is damaged, or of another file");
    PointDecoder from(source, point->at, point->content_at, std::move(decoder));
    const StreamReport part =
        restore_range_on(from, following(*point), source, sink, at, end, options, hooks);
    report.input_bytes += part.input_bytes;
    report.output_bytes += part.output_bytes;
    report.frame_count = std::max(report.frame_count, part.frame_count);
    report.trailing_garbage_at = part.trailing_garbage_at;
    at += part.output_bytes;
    if (at >= range_end || next == points_end) return report;
    if (at < end) fail(Status::kInvalidOption, "the index is for other content", point->at);
  }
  throw Error(Status::kInvalidOption, "the index has no points");
}

namespace {

// The content between two points of an index, and the ranges that overlap it.
struct IndexedPart {
  std::size_t number = 0;        // of the point
  std::uint64_t content_at = 0;  // of it
  std::uint64_t end = 0;         // the place of the next point, or the end of the content
  std::vector<std::size_t> ranges = {};

  // How many bytes of a range are in this part.
  std::uint64_t bytes_of(const ContentBytes& range) const {
    const std::uint64_t begin = std::max(range.begin, content_at);
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
struct IndexedRanges::Cursor {
  explicit Cursor(const RandomAccess& input) : source(input) {}

  RandomAccessSource source;
  std::optional<PointDecoder> decoder;
  WhatFollows follows;
  std::optional<std::size_t> only_part;  // of the point whose content before it is all that the decoder has
};

// The points of one kind of index.
class IndexedRanges::Points {
 public:
  virtual ~Points() = default;
  virtual std::uint64_t content_bytes() const = 0;
  virtual std::vector<std::uint64_t> content_places() const = 0;
  // Begins at a point. Throws kInvalidOption if the index turns out to be damaged.
  virtual void begin_at(std::size_t number, Cursor& cursor) const = 0;
};

namespace {

[[noreturn]] void refuse_index() {
  throw Error(Status::kInvalidOption, "index: it belongs to another input, or is damaged");
}

}  // namespace

class IndexedRanges::GzipPoints : public Points {
 public:
  GzipPoints(std::span<const std::byte> index, std::uint64_t input_bytes)
      : index_(index), input_bytes_(input_bytes) {
    MemorySource source(index);
    auto reader = GzipIndexReader::of(source, input_bytes);
    auto points = reader ? reader->points() : std::nullopt;
    if (!points || points->empty() || points->front().content_at != 0) refuse_index();
    content_bytes_ = reader->content_bytes();
    points_ = std::move(*points);
  }
  std::uint64_t content_bytes() const override { return content_bytes_; }
  std::vector<std::uint64_t> content_places() const override {
    std::vector<std::uint64_t> places;
    for (const auto& point : points_) places.push_back(point.content_at);
    return places;
  }
  void begin_at(std::size_t number, Cursor& cursor) const override {
    MemorySource source(index_);
    const auto point = GzipIndexReader::of(source, input_bytes_)->read(points_[number]);
    if (!point) throw Error(Status::kInvalidOption, "index: a window is missing");
    cursor.decoder.emplace(decoder_at(cursor.source, *point));
  }

 private:
  std::span<const std::byte> index_;
  std::uint64_t input_bytes_, content_bytes_ = 0;
  std::vector<GzipIndexReader::IndexedPoint> points_;
};

class IndexedRanges::ZstdPoints : public Points {
 public:
  ZstdPoints(std::span<const std::byte> index, std::uint64_t input_bytes) : index_(index) {
    MemorySource source(index);
    auto reader = ZstdIndexReader::of(source, input_bytes);
    if (!reader) refuse_index();
    reader_ = std::move(*reader);
  }
  std::uint64_t content_bytes() const override { return reader_.content_bytes(); }
  std::vector<std::uint64_t> content_places() const override {
    std::vector<std::uint64_t> places;
    for (const auto& point : reader_.points()) places.push_back(point.content_at);
    return places;
  }
  void begin_at(std::size_t number, Cursor& cursor) const override {
    const ZstdIndexedPoint& point = reader_.points()[number];
    MemorySource source(index_);
    auto decoder = ZstdIndexReader::decoder_at(source, point, cursor.source);
    if (!decoder) refuse_index();
    cursor.decoder.emplace(cursor.source, point.at, point.content_at, std::move(decoder));
    cursor.follows = following(point);
    cursor.only_part = number;
  }

 private:
  std::span<const std::byte> index_;
  ZstdIndexReader reader_;
};

IndexedRanges::~IndexedRanges() = default;

IndexedRanges::IndexedRanges(const RandomAccess& input, const RestoreOptions& options)
    : input_(input), options_(options) {
  std::array<std::byte, kIdentifyBytes> room;
  const FrameFormat* const format = FormatTable::instance().of_data(bytes_at(input, 0, room));
  const auto is = [&](Format id) { return format == &FormatTable::instance().of(id); };
  if (is(Format::kGzip))
    points_ = std::make_unique<GzipPoints>(options.index, input.total_bytes());
  else if (is(Format::kZstd))
    points_ = std::make_unique<ZstdPoints>(options.index, input.total_bytes());
  else
    refuse_index();
  places_ = points_->content_places();
  content_bytes_ = points_->content_bytes();
}

std::vector<RestoredRange> IndexedRanges::restore(std::span<const ContentBytes> ranges) const {
  std::vector<RestoredRange> restored(ranges.size());
  std::map<std::size_t, std::vector<std::size_t>> ranges_of;  // by the part that they overlap
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (ranges[i].begin > content_bytes_) restored[i].status = Status::kRangeOutsideContent;
    if (ranges[i].begin >= std::min(ranges[i].end, content_bytes_)) continue;
    const auto after = std::ranges::upper_bound(places_, ranges[i].begin);
    for (auto place = after - 1; place != places_.end() && *place < ranges[i].end; ++place)
      ranges_of[static_cast<std::size_t>(place - places_.begin())].push_back(i);
  }
  std::vector<IndexedPart> parts;
  for (auto& [number, numbers] : ranges_of)
    parts.push_back({number, places_[number],
                     number + 1 < places_.size() ? places_[number + 1] : content_bytes_, std::move(numbers)});

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
    begin = std::max(begin, part.content_at);
    end = std::min(end, part.end);
    RangesSink sink(begin, ranges, part.ranges);
    try {
      // The decoder of the last range, if to go on from there is shorter than to begin at the point.
      std::unique_ptr<Cursor> cursor = cursor_.take();
      if (!cursor || cursor->only_part.value_or(part.number) != part.number ||
          cursor->decoder->piece_at() < part.content_at || cursor->decoder->piece_at() > begin) {
        cursor = std::make_unique<Cursor>(input_);
        points_->begin_at(part.number, *cursor);
      }
      restore_range_on(*cursor->decoder, cursor->follows, cursor->source, sink, begin, end, alone, {});
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
