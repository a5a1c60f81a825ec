// From pieces of compressed files to batches of blocks in device memory, as data: which blocks a group of
// pieces (files/load/piece_plan.hpp) completes, where they are in the group's buffer, and which bytes the next
// group needs.
//
//   buffer of a group   |        lead       | piece | piece | piece |
//                                  | carried |
//
// A block that begins in one group and ends in the next is carried: its first part is copied from the first
// group's buffer to the end of the next group's lead, so that the block lies there in one piece.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "files/load/frame_planner.hpp"
#include "files/load/piece_plan.hpp"

namespace hemstitch {

struct GroupBlock {
  std::size_t file = 0;
  PlannedBlock block;
  std::uint64_t buffer_at = 0;  // of its data
};

struct BlockGroup {
  static constexpr std::size_t kLeadBytes = FramePlanner::kMostCarriedBytes;

  std::vector<GroupBlock> blocks;  // in ascending order of their places in the buffer
  // To copy to the end of the next group's lead.
  std::uint64_t carry_at = 0;
  std::size_t carry_bytes = 0;
};

// One thread at a time, except for leave() and left().
class GroupPlanner {
 public:
  // `plan` must stay at its address.
  GroupPlanner(const FilePiecePlan& plan, std::span<const std::uint64_t> file_bytes,
               bool verify_header_checksums, RestoresFormat restores = nullptr);

  // Takes the bytes of a piece, one piece after the other; bytes of files that were left may be anything.
  // Returns true if the piece was the last of its group: group() is then complete, until the next piece.
  bool take(std::size_t piece, std::span<const std::byte> bytes);
  const BlockGroup& group() const { return group_; }

  const FramePlanner& file(std::size_t file) const { return files_[file]; }
  std::size_t file_count() const { return files_.size(); }

  // Leaves a file to the reader of streams. The planner calls it, and whoever finds that a file cannot be
  // read or restored.
  void leave(std::size_t file) { left_[file] = true; }
  bool left(std::size_t file) const { return left_[file]; }

 private:
  const FilePiecePlan& plan_;
  std::vector<std::uint64_t> file_bytes_;
  std::vector<FramePlanner> files_;
  std::unique_ptr<std::atomic<bool>[]> left_;
  std::vector<PlannedBlock> blocks_;  // of one part
  BlockGroup group_;
};

// What a file's blocks restored to, added block by block in their order.
class RestoredParts {
 public:
  // Contiguous content, at the place of its rooms.
  struct Run {
    std::uint64_t at = 0;
    std::uint64_t bytes = 0;
  };

  void add(const PlannedBlock& block, std::uint64_t restored_bytes);
  // Whether every frame has the size that its header gives.
  bool agrees_with(std::span<const PlannedFrame> frames) const;

  std::uint64_t bytes() const { return bytes_; }
  // Adjacent parts are joined. A single run from 0 on if all rooms were filled.
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
