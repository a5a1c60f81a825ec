// Blocks of a frame that may_be_streams (FrameHeader): finds the first that is not what its frame says, and whether a
// stream begins there. Keeps the bytes of blocks until they are emitted, where the source cannot go back to them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/source.hpp"
#include "format/format.hpp"

namespace hemstitch {

// Whether something is wrong with the data, and not with reading it.
bool is_of_data(const std::exception_ptr& error);

struct DoubtfulBlock {
  std::uint64_t frame_number = 0;                                     // of the stream that it may be
  std::uint64_t at = 0, data_at = 0, data_bytes = 0, content_at = 0;  // the last in the content
  std::exception_ptr error = {};                                      // none if it is known for a stream
};

class DoubtfulBlocks {
 public:
  explicit DoubtfulBlocks(bool verifies_checksums) : verifies_checksums_(verifies_checksums) {}

  // `keeps`: whether the bytes of its blocks are kept.
  void begin_frame(bool keeps);
  // Its content was right.
  void end_frame();

  // If they are kept: these bytes were taken of the compressed stream, from `at` on.
  void keep(std::uint64_t at, std::span<const std::byte> bytes);
  std::span<const std::byte> kept_from(std::uint64_t at) const {
    return std::span(kept_).subspan(static_cast<std::size_t>(at - kept_at_));
  }
  // What comes before `at` is needed no more. Any thread.
  void done_up_to(std::uint64_t at) { done_at_ = at; }

  // Before a range, blocks are passed over by the sizes that they state. This was the last one; or there was none.
  void passed_over(std::optional<DoubtfulBlock> block) { passed_over_ = std::move(block); }
  // Such a size led to nothing that can follow: looks at that block. Returns whether it is a stream of another size.
  bool passed_a_stream(const FrameStream& frames);
  // A block could not be read.
  void unreadable(DoubtfulBlock block) { unread_ = std::move(block); }
  // Whether a stream may begin at this block, or where there is none at the one that could not be read, because of
  // this error. Then it is the first that is not emitted.
  bool doubts(std::optional<DoubtfulBlock> block, const std::exception_ptr& error);
  bool leaves_blocks() const { return leaves_blocks_; }

  // Returns that block. Throws its error if no stream begins there. `source` is null, or where the data comes from;
  // unless bytes are kept, it is at the block's data afterwards.
  DoubtfulBlock leave(const FrameFormat& format, bool keeps, Source* source);
  // What to report for `error`: in a stream that may be none, what was wrong with it as a block.
  std::exception_ptr reported(const std::exception_ptr& error) const;

 private:
  bool verifies_checksums_;
  bool keeping_ = false;
  std::vector<std::byte> kept_;  // from kept_at_ on, what was taken of the compressed stream
  std::uint64_t kept_at_ = 0;
  std::atomic<std::uint64_t> done_at_ = 0;
  std::optional<DoubtfulBlock> unread_;
  std::optional<DoubtfulBlock> passed_over_;  // and not restored
  std::optional<DoubtfulBlock> doubtful_;     // the first of the blocks that are not emitted
  std::atomic<bool> leaves_blocks_ = false;
  std::exception_ptr error_of_blocks_;  // why the current stream was not taken for a block
};

}  // namespace hemstitch
