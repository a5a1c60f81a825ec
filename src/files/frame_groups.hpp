// From pieces of compressed files to batches of blocks in the memory of a device, as data: which blocks a group of pieces
// (files/piece_plan.hpp) completes, where in the group's buffer they stand, and what of it the next group needs.
//
//   buffer of a group   |        lead       | piece | piece | piece |
//                                  | carried |
//
// A block that begins in one group and ends in the next is carried: what there is of it is copied from the first group's buffer to
// the end of the next one's lead, so that it stands in one piece there.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "files/frame_planner.hpp"
#include "files/piece_plan.hpp"

namespace hemstitch {

struct GroupBlock {
  std::size_t file = 0;
  PlannedBlock block;
  std::uint64_t buffer_at = 0;  // of its data
};

struct BlockGroup {
  static constexpr std::size_t kLeadBytes = FramePlanner::kMostCarriedBytes;

  std::vector<GroupBlock> blocks;  // ascending places in the buffer
  // To be copied to the end of the next group's lead.
  std::uint64_t carry_at = 0;
  std::size_t carry_bytes = 0;
};

// One thread at a time, but for leave() and left().
class GroupPlanner {
 public:
  // `plan` stays where it is.
  GroupPlanner(const FilePiecePlan& plan, std::span<const std::uint64_t> file_bytes,
               bool verify_header_checksums);

  // The bytes of a piece, one piece after the other; those of files that are left may be anything. True where the piece was its group's
  // last: group() is complete then, until the next piece.
  bool take(std::size_t piece, std::span<const std::byte> bytes);
  const BlockGroup& group() const { return group_; }

  const FramePlanner& file(std::size_t file) const { return files_[file]; }
  std::size_t file_count() const { return files_.size(); }

  // A file that is left to the reader of streams: by the planner, or by who finds that it cannot be read or restored.
  void leave(std::size_t file) { left_[file] = true; }
  bool left(std::size_t file) const { return left_[file]; }

 private:
  const FilePiecePlan& plan_;
  std::vector<std::uint64_t> file_bytes_;
  std::vector<FramePlanner> files_;
  std::unique_ptr<std::atomic<bool>[]> left_;
  std::vector<PlannedBlock> blocks_;  // of a part
  BlockGroup group_;
};

// What a file's blocks restored to, told block by block in their order.
class RestoredParts {
 public:
  // Content that stands together, where its rooms are.
  struct Run {
    std::uint64_t at = 0;
    std::uint64_t bytes = 0;
  };

  void add(const PlannedBlock& block, std::uint64_t restored_bytes);
  // Whether every frame has the size that it tells.
  bool agrees_with(std::span<const PlannedFrame> frames) const;

  std::uint64_t bytes() const { return bytes_; }
  // Neighbours are one. A single one from 0 on where all rooms were filled.
  const std::vector<Run>& runs() const { return runs_; }
  std::uint64_t frame_bytes(std::size_t frame) const {
    return frame < frame_bytes_.size() ? frame_bytes_[frame] : 0;
  }

 private:
  std::uint64_t bytes_ = 0;
  std::vector<Run> runs_;
  std::vector<std::uint64_t> frame_bytes_;
};

}  // namespace hemstitch
