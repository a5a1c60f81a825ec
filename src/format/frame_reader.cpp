#include "format/frame_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "format/formats.hpp"
#include "format/identify.hpp"

namespace hemstitch {

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

FrameStream::FrameStream(bool verify_header_checksum, const FrameFormat& format)
    : verify_header_checksum_(verify_header_checksum),
      format_(&format),
      reader_(format.make_reader(verify_header_checksum)) {}

FrameStream::FrameStream(const FrameStream& other)
    : verify_header_checksum_(other.verify_header_checksum_),
      format_(other.format_),
      reader_(other.reader_ ? other.reader_->clone() : nullptr) {}

FrameReader::Event FrameStream::step(std::span<const std::byte> bytes) {
  if (!reader_) {
    format_ = FormatTable::instance().of_data(bytes);
    if (format_ == nullptr) refuse_data(bytes);
    reader_ = format_->make_reader(verify_header_checksum_);
  }
  return reader_->step(bytes);
}

}  // namespace hemstitch
