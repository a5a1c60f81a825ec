#include "format/frame_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/bytes.hpp"
#include "core/source.hpp"
#include "format/formats.hpp"
#include "format/identify.hpp"
#include "format/skippable_frame.hpp"

namespace hemstitch {
namespace {

// Reads the skippable frames at the beginning of data whose format is not known yet, and what follows them if that
// is a frame of no format.
class SkippableReader : public FrameReader {
 public:
  std::unique_ptr<FrameReader> clone() const override { return std::make_unique<SkippableReader>(*this); }

 private:
  Event read(std::span<const std::byte> bytes) override {
    if (bytes.empty()) return Event::kEnd;
    if (FormatTable::instance().has_cut_begin(bytes)) require_bytes(bytes.size());
    return report_garbage(bytes);
  }
  void leave_block() override {}
};

}  // namespace

Place FrameReader::place() const {
  Place place;
  if (frame_number_ > 0) place.frame = frame_number_;
  if (in_block_) {
    place.block = block_.number;
    place.byte_offset = block_.at;
  } else {
    place.byte_offset = position_;
  }
  return place;
}

void FrameReader::fail(Status status, const std::string& detail) const {
  throw Error(status, detail, place());
}

void FrameReader::require_bytes(std::uint64_t count) const {
  if (count < wanted_bytes_)
    fail(Status::kTruncated, fmt::format("{} of {} bytes are missing", wanted_bytes_ - count, wanted_bytes_));
}

FrameReader::Event FrameReader::step(std::span<const std::byte> bytes) {
  if (in_skippable_frame_) return read_skippable_size(bytes);
  if (!has_begun_ && begins_skippable_frame(bytes)) return begin_skippable_frame();
  has_begun_ = true;
  return read(bytes);
}

void FrameReader::enter_frame(std::uint64_t at) {
  ++frame_number_;
  frame_at_ = at;
  header_ = {};
  block_ = {};
  content_checksum_.reset();
}

FrameReader::Event FrameReader::begin_skippable_frame() {
  enter_frame(position_);
  position_ += kSkippableMagicBytes;
  held_bytes_ = 0;
  in_skippable_frame_ = true;
  wanted_bytes_ = kSkippableSizeBytes;
  return Event::kMore;
}

FrameReader::Event FrameReader::read_skippable_size(std::span<const std::byte> bytes) {
  require_bytes(bytes.size());
  skip_bytes_ = load_le32(bytes.data());
  position_ += bytes.size();
  in_skippable_frame_ = false;
  wanted_bytes_ = kIdentifyBytes;
  return Event::kSkip;
}

void FrameReader::continue_behind(const FrameReader& other) {
  position_ = other.position_;
  frame_at_ = other.frame_at_;
  frame_number_ = other.frame_number_;
}

FrameReader::Event FrameReader::report_garbage(std::span<const std::byte> bytes) {
  garbage_.assign(bytes.begin(), bytes.end());
  held_bytes_ = std::max<std::uint64_t>(held_bytes_, bytes.size());
  return Event::kGarbage;
}

void FrameReader::block_skipped(std::uint64_t count) {
  require_bytes(count);
  position_ += count;
  leave_block();
}

void FrameReader::blocks_skipped(std::size_t blocks, std::uint64_t count) {
  const KnownBlock& last = known_blocks()[blocks - 1];
  if (last.at + last.bytes > position_ + count) require_bytes(0);
  position_ = last.at + last.bytes;
  leave_known_blocks(blocks);
  leave_block();
}

void FrameReader::data_skipped(std::span<const std::byte> behind) {
  take_behind_data(behind);
  position_ += wanted_bytes_;
  leave_block();
}

void FrameReader::stream_passed(const StreamStep& step, std::uint64_t passed_bytes, bool at_end) {
  position_ += passed_bytes;
  if (step.status != Status::kOk)
    fail(step.status, step.detail.empty() ? "the data here cannot be restored" : std::string(step.detail));
  if (step.ended) {
    in_stream_ = false;
    leave_stream();
  } else if (step.input_bytes == 0 && step.output_bytes == 0 && !step.wants_input) {
    if (at_end) fail(Status::kTruncated, "the end of the compressed data is missing");
    fail(Status::kInternal, "the engine makes no progress");
  }
}

void FrameReader::begin_stream_at(std::uint64_t, std::uint64_t, std::uint64_t) {
  fail(Status::kInternal, "the frame's blocks are no streams");
}

void FrameReader::skipped(std::uint64_t count) {
  position_ += count;
  if (count < skip_bytes_)
    fail(Status::kTruncated,
         fmt::format("{} of {} bytes of a skippable frame are missing", skip_bytes_ - count, skip_bytes_));
}

FrameStream::FrameStream(bool verify_header_checksum)
    : verify_header_checksum_(verify_header_checksum), reader_(std::make_unique<SkippableReader>()) {}

FrameStream::FrameStream(bool verify_header_checksum, const FrameFormat& format)
    : verify_header_checksum_(verify_header_checksum),
      format_(&format),
      reader_(format.make_reader(verify_header_checksum)) {}

FrameStream::FrameStream(const FrameStream& other)
    : verify_header_checksum_(other.verify_header_checksum_),
      format_(other.format_),
      reader_(other.reader_->clone()) {}

void FrameStream::know_file(Source& file, FrameSearch search) {
  const FrameFormat* format = format_;
  std::uint64_t at = 0;
  std::array<std::byte, kSkippableMagicBytes + kSkippableSizeBytes> head;
  // Behind more skippable frames than that, a file is read from its beginning: each costs a read here.
  constexpr int kMostSkipped = 16;
  for (int i = 0; i <= kMostSkipped && format == nullptr && file.seek(at); ++i) {
    const auto there = std::span(head).first(file.read(head));
    if (there.size() < head.size()) break;
    if (!begins_skippable_frame(there)) {
      format = FormatTable::instance().of_data(there.first(kIdentifyBytes));
      break;
    }
    at += head.size() + load_le32(&head[kSkippableMagicBytes]);
  }
  if (auto reader = format != nullptr ? format->make_file_reader(file, search) : nullptr) {
    format_ = format;
    reader_ = std::move(reader);
  }
  file.seek(0);
}

FrameReader::Event FrameStream::step(std::span<const std::byte> bytes) {
  if (format_ == nullptr && !reader_->in_skippable_frame() && !begins_skippable_frame(bytes)) identify(bytes);
  return reader_->step(bytes);
}

void FrameStream::identify(std::span<const std::byte> bytes) {
  format_ = FormatTable::instance().of_data(bytes);
  if (format_ == nullptr) {
    if (reader_->frame_number() == 0) refuse_data(bytes);
    return;
  }
  std::unique_ptr<FrameReader> reader = format_->make_reader(verify_header_checksum_);
  reader->continue_behind(*reader_);
  reader_ = std::move(reader);
}

}  // namespace hemstitch
