// Restores frames whose blocks cannot be told apart (BlockKind::kStream): has their decoder, which may serve several
// in a row, and the room for their bytes, and takes the points of an index on the way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/own_process.hpp"
#include "core/workspace.hpp"
#include "engine/resilient_engine.hpp"
#include "format/format.hpp"
#include "format/gzip_index.hpp"
#include "format/stream_decoder.hpp"

namespace hemstitch {

class StreamRestorer {
 public:
  enum class Input { kComes, kPauses, kHasEnded };

  explicit StreamRestorer(const RestoreOptions& options) : options_(options) {}
  // In a child of fork(), whose decoder has no threads, the decoder stays where it is.
  ~StreamRestorer();
  StreamRestorer(const StreamRestorer&) = delete;
  StreamRestorer& operator=(const StreamRestorer&) = delete;

  // Before the first frame.
  void make_index(GzipIndex& index) { index_ = &index; }
  bool makes_index() const { return index_ != nullptr; }
  void borrow_content() { borrows_ = true; }

  // The decoder gets the memory that the batches of `plan` leave, which is added to it.
  void plan(const BlockEngine& engine, Format format, const FrameHeader& header, unsigned threads,
            std::optional<std::uint64_t> input_bytes, std::uint64_t dictionary_bytes, BatchPlan& plan);
  void begin(ResilientEngine& engine, const FrameFormat& format, const FrameHeader& header,
             std::span<const std::byte> dictionary);
  // Gives up the decoder, with what it has read ahead.
  void drop() { decoder_ = nullptr; }

  // Of the planned frame.
  bool has_threads() const { return has_threads_; }
  bool is_on_device() const { return on_device_; }
  // Whether another process began to restore a stream, with threads of its own.
  bool is_lost() const { return decoder_ && (has_threads_ || on_device_) && !decoder_process_.is_here(); }
  // Whether the decoder has the checksum of the stream's content, and that.
  bool sums_up() const { return sums_up_; }
  std::uint32_t checksum() const { return decoder_->content_crc32().value(); }

  // Where to receive bytes: of `usual_bytes`, unless the decoder has a room of its own. Call it only if none are left.
  std::span<std::byte> room(std::size_t usual_bytes);
  std::span<const std::byte> received(std::size_t bytes) const { return room_.first(bytes); }
  // Bytes behind the last stream that the decoder took (StreamDecoder::read_ahead()).
  std::size_t read_ahead(std::span<std::byte> to) { return decoder_ ? decoder_->read_ahead(to) : 0; }
  std::uint64_t ahead_bytes() const { return decoder_ ? decoder_->ahead_bytes() : 0; }

  // Restores a piece. `content_at` and `position` are the places in the content of all frames and in their bytes.
  StreamStep restore(std::span<const std::byte> input, std::span<std::byte> room, Input kind,
                     std::uint64_t content_at, std::uint64_t position);
  std::uint64_t under_way() const { return decoder_->under_way(); }
  void settle(std::uint64_t under_way) { decoder_->settle(under_way); }
  // After it nothing is written into rooms.
  void settle_all() noexcept;

 private:
  const RestoreOptions& options_;
  std::unique_ptr<StreamDecoder> decoder_;
  OwnProcess decoder_process_;  // whose threads and device it has
  StreamMeans means_;
  GzipIndex* index_ = nullptr;
  bool borrows_ = false;
  bool has_threads_ = false, on_device_ = false;
  bool sums_up_ = false;
  std::vector<std::byte> input_;
  std::span<std::byte> room_;  // input_, or the decoder's memory
};

}  // namespace hemstitch
