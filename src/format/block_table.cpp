#include "format/block_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/parallel.hpp"
#include "format/formats.hpp"
#include "format/frame_walk.hpp"

namespace hemstitch {
namespace {

// The least input between two points. It takes some tens of microseconds to read on from a point to a block.
constexpr std::uint64_t kPointDistanceBytes = 64 << 10;
// How many blocks are measured at once, and how many of them a thread takes in a row.
constexpr std::size_t kMostToMeasure = 1024, kMeasuredInARow = 16;

// What a block restores to, found without restoring it; nothing if that is not known or impossible.
std::optional<std::uint64_t> measured(const RandomAccess& input, const FrameFormat& format,
                                      const IndexedBlock& block, std::uint64_t most_bytes) {
  const auto bytes = [&]() -> std::optional<std::uint64_t> {
    if (block.stored) return block.data_bytes;
    if (block.content_bytes) return *block.content_bytes;
    std::vector<std::byte> room(input.memory() ? 0 : block.data_bytes);
    const std::span<const std::byte> data =
        input.memory() ? block.data(*input.memory()) : bytes_at(input, block.at, room);
    return data.size() == block.data_bytes ? format.restored_bytes(data) : std::nullopt;
  }();
  return bytes && *bytes <= most_bytes ? bytes : std::nullopt;
}

Place place_of(const FrameReader& reader) {
  return {reader.frame_number(), reader.block().number, reader.block().at};
}

// A table's input must stay as it is.
[[noreturn]] void changed(const Place& place) {
  throw Error(Status::kInputChanged, "the frames are not what they were", place);
}

}  // namespace

class BlockTable::Builder {
 public:
  Builder(BlockTable& table, FrameStream& stream) : table_(table), stream_(&stream), frame_(stream) {
    add_point();
  }

  void frame_begins(const FrameReader& reader) {
    const FrameHeader& header = reader.header();
    const Place place{reader.frame_number(), std::nullopt, reader.frame_at()};
    if (header.block_kind != BlockKind::kIndependent)
      throw Error(Status::kUnsupportedFeature, "the frame's blocks need earlier blocks; restore all of it",
                  place);
    if (header.dictionary_id)
      throw Error(Status::kUnsupportedFeature,
                  "ranges cannot be restored of a frame that needs a dictionary; restore all of it", place);
    if (table_.format_ == nullptr) table_.block_format_ = header.format.value_or(stream_->format().id());
    table_.format_ = &stream_->format();
    table_.most_content_bytes_ = std::max(
        table_.most_content_bytes_, static_cast<std::size_t>(std::min<std::uint64_t>(
                                        header.block_bytes, header.content_bytes.value_or(UINT64_MAX))));
    frame_ = FramePlace(*stream_);
    frame_.content_at = content_at_;
    frame_.first_point = table_.points_.size();
    measures_ = !header.content_bytes;
    is_known_ = false;
  }
  // All of the frame's blocks, if a table lists them. Their headers are read when a range needs them.
  std::size_t passes_known(const FrameReader& reader) {
    const std::span<const FrameReader::KnownBlock> known = reader.known_blocks();
    is_known_ = !known.empty();
    for (std::size_t i = 0; i < known.size(); ++i) {
      content_at_ += known[i].content_bytes;
      table_.most_data_bytes_ = std::max<std::size_t>(table_.most_data_bytes_, known[i].bytes);
      const std::uint64_t end = known[i].at + known[i].bytes;
      if (i + 1 == known.size() || end - point_at_ < kPointDistanceBytes) continue;
      FrameStream there(*stream_);
      there.reader().blocks_skipped(i + 1, end - reader.position());
      table_.points_.push_back({there, content_at_, std::nullopt});
      point_at_ = end;
    }
    return known.size();
  }
  BlockPart wanted_part(const FrameReader& reader) const {
    return measures_ && reader.header().block_content_checksums ? BlockPart::kBehind : BlockPart::kNone;
  }
  bool block(const FrameReader& reader, const IndexedBlock& block, std::span<const std::byte>) {
    table_.most_data_bytes_ = std::max<std::size_t>(table_.most_data_bytes_, block.data_bytes);
    frame_.before_last = std::exchange(frame_.last, block);
    if (measures_) to_measure_.push_back({block, place_of(reader), std::nullopt});
    maybe_add_point();
    if (to_measure_.size() == kMostToMeasure) measure(reader);
    return true;
  }
  bool frame_ends(const FrameReader& reader) {
    if (measures_) {
      measure(reader);
      if (std::exchange(walks_again_, false)) return false;
    } else if (!is_known_) {
      end_stated_frame(reader);
    }
    maybe_add_point();
    return true;
  }
  bool skippable_frame(const FrameReader&) {
    maybe_add_point();
    return true;
  }
  void garbage(std::uint64_t) { table_.has_trailing_garbage_ = true; }
  // A frame that is a stream was refused when it began.
  static StreamDecoder& decoder(const FrameReader& reader) {
    throw Error(Status::kInternal, "a stream has no blocks", reader.place());
  }
  static void stream_passed(std::uint64_t) {}

  std::uint64_t content_bytes() const { return content_at_; }

 private:
  // The frame that is being read.
  struct FramePlace {
    explicit FramePlace(const FrameStream& stream) : begun(std::make_unique<FrameStream>(stream)) {}
    std::unique_ptr<FrameStream> begun;
    std::uint64_t content_at = 0;
    std::size_t first_point = 0;
    IndexedBlock last, before_last;
  };
  struct ToMeasure {
    IndexedBlock block;
    Place place;
    std::optional<std::uint64_t> bytes;
  };

  void add_point() {
    table_.points_.push_back({*stream_, content_at_, std::nullopt});
    point_at_ = stream_->taken_bytes();
  }
  // Inside a frame, the place in the content is set later.
  void maybe_add_point() {
    if (stream_->taken_bytes() - point_at_ >= kPointDistanceBytes) add_point();
  }

  // Sets the places of the points between the blocks that are measured.
  void measure(const FrameReader& reader) {
    const FrameFormat& format = stream_->format();
    run_in_parallel(to_measure_.size(), kMeasuredInARow, [&](std::size_t i) {
      to_measure_[i].bytes =
          measured(table_.input_, format, to_measure_[i].block, reader.header().block_bytes);
    });
    auto point = table_.points_.begin() + static_cast<std::ptrdiff_t>(frame_.first_point);
    const auto stands_after = [&](const ToMeasure& one) {
      return point != table_.points_.end() && point->stream.reader().block().number == *one.place.block;
    };
    for (const ToMeasure& one : to_measure_) {
      if (!one.bytes)
        throw Error(Status::kCorruptBlock, "the size of the block's content cannot be determined", one.place);
      content_at_ += *one.bytes;
      for (; stands_after(one); ++point) point->content_at = content_at_;
    }
    frame_.first_point = table_.points_.size();
    to_measure_.clear();
  }

  // The header states the size of the frame's content.
  void end_stated_frame(const FrameReader& reader) {
    const FrameHeader& header = reader.header();
    const std::uint64_t count = reader.block().number, bytes = *header.content_bytes;
    if (bytes / header.block_bytes > count || bytes > count * header.block_bytes)
      throw Error(Status::kContentSizeMismatch,
                  fmt::format("the header says {} bytes, {} blocks hold less", bytes, count),
                  {reader.frame_number(), std::nullopt, reader.position()});
    const auto points = std::span(table_.points_).subspan(frame_.first_point);
    if (!points.empty()) {
      const auto last = last_if_full(count, header);
      if (!last) return measure_again();
      for (Point& point : points) {
        const std::uint64_t before = point.stream.reader().block().number;
        point.content_at =
            frame_.content_at +
            (before == count ? bytes : std::min<std::uint64_t>(before * header.block_bytes, bytes - *last));
        point.full = {frame_.content_at + bytes, *last};
      }
    }
    content_at_ = frame_.content_at + bytes;
  }

  // The size of the last block, if all others but the one before it are full.
  std::optional<std::uint64_t> last_if_full(std::uint64_t count, const FrameHeader& header) const {
    const auto size = [&](const IndexedBlock& block) {
      return measured(table_.input_, stream_->format(), block, header.block_bytes);
    };
    const std::uint64_t bytes = *header.content_bytes;
    const auto last = size(frame_.last);
    if (!last) return std::nullopt;
    if ((count - 1) * header.block_bytes + *last == bytes) return last;
    const auto before_last = count > 1 ? size(frame_.before_last) : std::nullopt;
    if (!before_last || (count - 2) * header.block_bytes + *before_last + *last != bytes) return std::nullopt;
    return last;
  }

  // Measures all blocks of the frame that has just been read.
  void measure_again() {
    while (table_.points_.size() > frame_.first_point) table_.points_.pop_back();
    point_at_ = table_.points_.back().stream.taken_bytes();
    content_at_ = frame_.content_at;
    FrameStream again(*frame_.begun);
    FrameStream* const after = std::exchange(stream_, &again);
    measures_ = walks_again_ = true;
    RandomAccessSource source(table_.input_, again.taken_bytes());
    walk(again, SourceInput(source), *this);
    stream_ = after;
  }

  BlockTable& table_;
  FrameStream* stream_;
  FramePlace frame_;
  std::uint64_t content_at_ = 0;  // of what has been placed
  std::uint64_t point_at_ = 0;
  bool measures_ = false, walks_again_ = false, is_known_ = false;
  std::vector<ToMeasure> to_measure_;
};

BlockTable::BlockTable(const RandomAccess& input, const FrameFormat* format, bool verify_header_checksum)
    : input_(input) {
  FrameStream stream =
      format != nullptr ? FrameStream(verify_header_checksum, *format) : FrameStream(verify_header_checksum);
  RandomAccessSource source(input);
  stream.know_file(source, FrameSearch::kParts);
  Builder builder(*this, stream);
  walk(stream, SourceInput(source), builder);
  content_bytes_ = builder.content_bytes();
  used_bytes_ = stream.position();
}

std::size_t BlockTable::part_of(std::uint64_t content_at) const {
  const auto after = std::ranges::upper_bound(points_, content_at, {}, &Point::content_at);
  return static_cast<std::size_t>(after - points_.begin()) - 1;
}

// Gathers the blocks of a part, with what is known of their frames.
class BlockTable::Lister {
 public:
  // The blocks of one frame that lie in the part.
  struct Run {
    std::size_t block_count = 0;
    std::uint64_t block_bytes = 0;
    std::optional<FullBlocks> full = {};
    std::optional<std::uint64_t> content_bytes = {};  // if all of the frame is in the part, and it says so
  };

  Lister(const FrameStream& stream, std::uint64_t end, const std::optional<FullBlocks>& full)
      : stream_(stream), end_(end), continued_{0, 0, full} {
    runs.push_back(continued_);
  }

  void frame_begins(const FrameReader& reader) {
    if (reader.header().block_kind != BlockKind::kIndependent) changed(reader.place());
    runs.push_back({});
    begun_ = true;
  }
  static BlockPart wanted_part(const FrameReader&) { return BlockPart::kBehind; }
  bool block(const FrameReader& reader, const IndexedBlock& block, std::span<const std::byte>) {
    blocks.push_back({block, place_of(reader)});
    ++runs.back().block_count;
    runs.back().block_bytes = reader.header().block_bytes;
    return goes_on();
  }
  bool frame_ends(const FrameReader& reader) {
    if (std::exchange(begun_, false)) runs.back().content_bytes = reader.header().content_bytes;
    return goes_on();
  }
  bool skippable_frame(const FrameReader&) const { return goes_on(); }
  static void garbage(std::uint64_t) {}
  static StreamDecoder& decoder(const FrameReader& reader) { changed(reader.place()); }
  static void stream_passed(std::uint64_t) {}

  std::vector<PlacedBlock> blocks;
  std::vector<Run> runs;

 private:
  bool goes_on() const { return stream_.taken_bytes() < end_; }

  const FrameStream& stream_;
  std::uint64_t end_;
  Run continued_;
  bool begun_ = false;  // the frame began in this part
};

std::vector<PlacedBlock> BlockTable::blocks_of(std::size_t part) const {
  const Point& point = points_[part];
  const Point* const next = part + 1 < points_.size() ? &point + 1 : nullptr;
  const std::uint64_t content_end = next != nullptr ? next->content_at : content_bytes_;
  FrameStream stream(point.stream);
  Lister lister(stream, next != nullptr ? next->stream.taken_bytes() : UINT64_MAX, point.full);
  RandomAccessSource source(input_, stream.taken_bytes());
  std::optional<PlacedBlock> not_there;  // a block that a table lists, and all behind it in this part
  try {
    walk(stream, SourceInput(source), lister);
  } catch (const Error& error) {
    if (point.stream.reader().known_blocks().empty() ||
        status_family(error.status()) != StatusFamily::kCorrupt)
      throw;
    not_there = PlacedBlock{.block = {}, .place = error.place(), .status = error.status()};
  }

  std::uint64_t at = point.content_at;
  auto block = lister.blocks.begin();
  for (const Lister::Run& run : lister.runs) {
    if (run.block_count == 0) continue;
    const auto run_begin = block, run_end = block + static_cast<std::ptrdiff_t>(run.block_count);
    if (run.content_bytes.value_or(0) > content_end - at) changed(block->place);
    std::optional<std::uint64_t> end;  // of the run's content, if its blocks need not say so
    if (run.content_bytes)
      end = at + *run.content_bytes;
    else if (run_end == lister.blocks.end() && !not_there)
      end = content_end;
    for (; block != run_end; ++block) {
      const std::uint64_t left = end.value_or(content_end) - at;
      std::optional<std::uint64_t> bytes;
      if (run.full)
        bytes = run.full->bytes_at(at, run.block_bytes);
      else if (block + 1 == run_end && end && !block->block.stored && !block->block.content_bytes)
        bytes = left;
      else
        bytes = measured(input_, *format_, block->block, run.block_bytes);
      block->content_at = at;
      if (!bytes || *bytes > run.block_bytes || *bytes > left) {
        if (!end) changed(block->place);
        block->status = Status::kCorruptBlock;  // what follows in the run has no place
        bytes = left;
        if (left == 0 && block != run_begin) (block - 1)->status = Status::kContentSizeMismatch;
      }
      block->content_bytes = *bytes;
      at += *bytes;
    }
    if (!end || at == *end) continue;
    PlacedBlock& last = *(block - 1);
    last.status = Status::kContentSizeMismatch;
    last.content_bytes += *end - at;
    at = *end;
  }
  if (not_there) {
    not_there->content_at = at;
    not_there->content_bytes = content_end - at;
    lister.blocks.push_back(*not_there);
  } else if (at != content_end) {
    changed(stream.reader().place());
  }
  return std::move(lister.blocks);
}

}  // namespace hemstitch
