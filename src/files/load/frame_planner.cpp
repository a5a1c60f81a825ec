#include "files/load/frame_planner.hpp"

#include <algorithm>

#include "format/formats.hpp"

namespace hemstitch {
namespace {

using Event = FrameReader::Event;

// The frames and blocks of a file take memory, so their number is limited. A frame of zeros in blocks of 64
// KB has a block every 278 bytes.
constexpr std::uint64_t kBytesOfEntry = 128;
constexpr std::uint64_t kAnyEntries = 1024;

}  // namespace

bool FramePlanner::take(std::span<const std::byte> piece, std::vector<PlannedBlock>& blocks) {
  try {
    while (!piece.empty()) {
      std::size_t taken;
      if (passing_bytes_ != 0) {
        taken = static_cast<std::size_t>(std::min<std::uint64_t>(passing_bytes_, piece.size()));
        passing_bytes_ -= taken;
        position_ += taken;
        if (passing_bytes_ == 0 && !passed()) return false;
      } else {
        const std::size_t wanted = short_stream_
                                       ? static_cast<std::size_t>(file_bytes_ - short_stream_end())
                                       : stream_.wanted_bytes() - (in_block_ ? block_.data_bytes : 0);
        taken = std::min(wanted - gathered_.size(), piece.size());
        gathered_.insert(gathered_.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(taken));
        position_ += taken;
        if (gathered_.size() == wanted) {
          if (short_stream_) {
            if (!end_short_stream(blocks)) return false;
          } else if (in_block_) {
            end_block();
          } else if (!react(stream_.step(gathered_), blocks)) {
            return false;
          }
          gathered_.clear();
        }
      }
      piece = piece.subspan(taken);
    }
    return true;
  } catch (const Error&) {
    return false;
  }
}

bool FramePlanner::finish(std::vector<PlannedBlock>& blocks) {
  try {
    if (passing_bytes_ != 0 || in_block_ || !gathered_.empty()) return false;
    if (short_stream_) return true;
    return stream_.step({}) == Event::kEnd && settle(std::nullopt, blocks);
  } catch (const Error&) {
    return false;
  }
}

std::uint64_t FramePlanner::carried_from() const {
  if (last_) return last_->at;
  return in_block_ ? block_.at : position_;
}

std::optional<std::uint64_t> FramePlanner::promised_end() const {
  if (frames_.empty() || !frames_.back().content_bytes) return std::nullopt;
  return frames_.back().content_at + *frames_.back().content_bytes;
}

bool FramePlanner::react(Event event, std::vector<PlannedBlock>& blocks) {
  switch (event) {
    case Event::kMore:
      return true;
    case Event::kFrameBegin:
      return begin_frame();
    case Event::kBlockBegin:
      return begin_block(blocks);
    case Event::kFrameEnd:
      if (stream_.reader().end_missing() || !settle(std::nullopt, blocks)) return false;
      frames_.back().content_checksum = stream_.reader().content_checksum();
      return true;
    case Event::kSkip:
      in_skippable_ = true;
      passing_bytes_ = stream_.reader().skip_bytes();
      return passing_bytes_ != 0 || passed();
    case Event::kBlockEnd:
    case Event::kGarbage:
    case Event::kEnd:
      break;
  }
  return false;
}

bool FramePlanner::begin_frame() {
  const FrameHeader& header = stream_.reader().header();
  const FrameFormat& format = stream_.format();
  if (!(restores_ == nullptr || restores_(format.id())) || header.legacy || header.dictionary_id)
    return false;
  if (header.block_kind == BlockKind::kStream) return begin_short_stream();
  // An impossible size is damage, and must not decide how much memory is allocated.
  if (header.content_bytes && *header.content_bytes / format.most_content_of_byte() > file_bytes_)
    return false;
  frames_.push_back({content_end_, header.content_bytes, std::nullopt, format.id()});
  frame_blocks_ = 0;
  return !has_too_many();
}

// Begins a short stream, which must be all that the file holds.
bool FramePlanner::begin_short_stream() {
  if (!frames_.empty()) return false;
  short_stream_ = stream_.format().short_stream(position_, file_bytes_);
  if (!short_stream_) return false;
  frames_.push_back({.format = stream_.format().id()});
  block_ = {};
  block_.at = short_stream_->at;
  block_.data_bytes = short_stream_->data_bytes;
  block_.format = stream_.format().id();
  in_block_ = true;
  passing_bytes_ = block_.data_bytes;
  return true;
}

bool FramePlanner::end_short_stream(std::vector<PlannedBlock>& blocks) {
  in_block_ = false;
  if (!stream_.format().end_short_stream(gathered_, *short_stream_)) return false;
  block_.content_checksum = short_stream_->content_checksum;
  block_.content_bytes = short_stream_->content_bytes;
  last_ = block_;
  return settle(std::nullopt, blocks);
}

bool FramePlanner::begin_block(std::vector<PlannedBlock>& blocks) {
  const FrameReader& reader = stream_.reader();
  const FrameReader::Block& announced = reader.block();
  const auto data_bytes = static_cast<std::uint32_t>(announced.data_bytes);
  if (!settle(announced.stored ? std::optional(data_bytes) : std::nullopt, blocks)) return false;
  // The first block of a linked frame does not depend on another block.
  const bool linked = reader.header().block_kind == BlockKind::kLinked && frame_blocks_ != 0;
  if (linked && !announced.stored) return false;
  ++frame_blocks_;
  block_ = {};
  block_.at = position_;
  block_.data_bytes = data_bytes;
  block_.stored = announced.stored;
  block_.format = stream_.format().id();
  block_.frame = frames_.size() - 1;
  in_block_ = true;
  passing_bytes_ = data_bytes;
  return !has_too_many() && (passing_bytes_ != 0 || passed());
}

// After the data of a block or a stream, or a skippable frame.
bool FramePlanner::passed() {
  if (short_stream_) return true;
  FrameReader& reader = stream_.reader();
  if (in_skippable_) {
    in_skippable_ = false;
    reader.skipped(reader.skip_bytes());
    return !has_too_many();
  }
  if (stream_.wanted_bytes() == block_.data_bytes) end_block();
  return true;
}

void FramePlanner::end_block() {
  in_block_ = false;
  FrameReader& reader = stream_.reader();
  reader.data_skipped(gathered_);
  block_.checksum = reader.block().checksum;
  block_.content_checksum = reader.block().content_checksum;
  block_.content_bytes = reader.block().content_bytes;
  last_ = block_;
}

// Sets the room of the last block, now that it is known what follows: a stored block of known size, another
// block, or the end of the frame.
bool FramePlanner::settle(std::optional<std::uint32_t> next_stored_bytes, std::vector<PlannedBlock>& blocks) {
  if (!last_) return true;
  const PlannedFrame& frame = frames_.back();
  const std::uint64_t most_bytes = last_->data_bytes * stream_.format().most_content_of_byte();
  std::uint64_t room = last_->data_bytes;
  if (last_->content_bytes) {
    if (*last_->content_bytes > most_bytes) return false;
    room = *last_->content_bytes;
  } else if (!last_->stored) {
    room = std::min<std::uint64_t>(stream_.reader().header().block_bytes, most_bytes);
  }
  if (frame.content_bytes) {
    std::uint64_t left =
        *frame.content_bytes - std::min(*frame.content_bytes, content_end_ - frame.content_at);
    if (last_->stored && room > left) return false;
    if (!last_->stored && next_stored_bytes) {
      if (*next_stored_bytes > left) return false;
      left -= *next_stored_bytes;
    }
    room = std::min(room, left);
  }
  last_->content_at = content_end_;
  last_->room_bytes = static_cast<std::uint32_t>(room);
  content_end_ += room;
  blocks.push_back(*last_);
  last_.reset();
  return true;
}

// Call it once for each frame and block.
bool FramePlanner::has_too_many() { return ++entries_ > kAnyEntries + position_ / kBytesOfEntry; }

}  // namespace hemstitch
