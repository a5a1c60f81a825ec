#include "files/load/frame_groups.hpp"

namespace hemstitch {

GroupPlanner::GroupPlanner(const FilePiecePlan& plan, std::span<const std::uint64_t> file_bytes,
                           bool verify_header_checksums, RestoresFormat restores)
    : plan_(plan),
      file_bytes_(file_bytes.begin(), file_bytes.end()),
      left_(std::make_unique<std::atomic<bool>[]>(file_bytes.size())) {
  files_.reserve(file_bytes.size());
  for (const std::uint64_t bytes : file_bytes) files_.emplace_back(bytes, verify_header_checksums, restores);
}

bool GroupPlanner::take(std::size_t number, std::span<const std::byte> bytes) {
  const FilePiece& piece = plan_.pieces[number];
  if (piece.group_number == 0) group_ = {};
  std::uint64_t buffer_at = BlockGroup::kLeadBytes + piece.group_at;
  group_.carry_bytes = 0;
  for (const FilePart& part : plan_.parts_of(piece)) {
    FramePlanner& file = files_[part.file];
    // Where the file's first byte would be in the buffer. The number may wrap around if that is before the
    // buffer, but only sums with it are used.
    const std::uint64_t file_at = buffer_at - part.at;
    group_.carry_bytes = 0;
    if (!left(part.file)) {
      blocks_.clear();
      const bool ends = part.at + part.bytes == file_bytes_[part.file];
      if (!file.take(bytes.first(part.bytes), blocks_) || (ends && !file.finish(blocks_))) leave(part.file);
      for (const PlannedBlock& block : blocks_)
        group_.blocks.push_back({part.file, block, file_at + block.at});
      if (!ends && !left(part.file)) {
        group_.carry_at = file_at + file.carried_from();
        group_.carry_bytes = static_cast<std::size_t>(file.position() - file.carried_from());
      }
    }
    bytes = bytes.subspan(part.bytes);
    buffer_at += part.bytes;
  }
  return plan_.group_ends[piece.group] == number + 1;
}

void RestoredParts::add(const PlannedBlock& block, std::uint64_t restored_bytes) {
  if (frame_bytes_.size() <= block.frame) frame_bytes_.resize(block.frame + 1);
  frame_bytes_[block.frame] += restored_bytes;
  bytes_ += restored_bytes;
  if (restored_bytes == 0) return;
  if (!runs_.empty() && runs_.back().at + runs_.back().bytes == block.content_at)
    runs_.back().bytes += restored_bytes;
  else
    runs_.push_back({block.content_at, restored_bytes});
}

bool RestoredParts::agrees_with(std::span<const PlannedFrame> frames) const {
  for (std::size_t i = 0; i < frames.size(); ++i)
    if (frames[i].content_bytes && *frames[i].content_bytes != frame_bytes(i)) return false;
  return true;
}

}  // namespace hemstitch
