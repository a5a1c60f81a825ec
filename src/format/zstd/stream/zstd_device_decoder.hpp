// Restores one frame of Zstandard in pieces on a device.
//
// The calling thread gathers whole blocks into pieces and uploads them, while the device decodes the piece before, and places the one before that. Once
// that is done, it lets the device make content of it, which is downloaded to wherever the caller wants it, and place the next piece. There are no threads
// of its own.
//
// Between two pieces is a link: what a decoder needs to go on from there (tables, offsets, and the content as far back as the window reaches, which is
// downloaded once more for it). Where the device stops in doubt, the processor's decoder (zstd_parallel_decoder.hpp) restores the rest of the frame
// from the last link on. It alone judges: verdict, place and message are its.
//
// If the device fails, nothing is lost: compressed bytes are kept until their content has arrived, and are restored again here. The rest of the frame stays
// with the processor.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/large_buffer.hpp"
#include "format/frame_reader.hpp"
#include "format/stream/arrivals.hpp"
#include "format/stream_decoder.hpp"
#include "format/zstd/stream/zstd_parallel_decoder.hpp"
#include "format/zstd/stream/zstd_piece_device.hpp"

namespace hemstitch {

struct ZstdDeviceLimits {
  // Of a piece at most; at least a block. 6,144 blocks of 128 KB: with half as many, an H200 waits for the longest ones, and takes half as much time again.
  std::size_t content_bytes = std::size_t{768} << 20;
  // Compressed bytes of a piece at most; more than a block with its header. Most data has a ratio of 3: then about as much content as may be.
  std::size_t input_bytes = content_bytes / 4;
  // A piece has at most so many blocks: as many as may be full ones, and more where those before were small.
  std::size_t blocks = 4 * (content_bytes / kZstdMostBlockBytes);
  // How many blocks of at most so many bytes suit a piece: as many full ones as there is room for, or nearly as many as there is room for of blocks like
  // those of the piece before, of which `before_blocks` had `before_bytes` of content.
  std::size_t suited_blocks(std::size_t most_block_bytes, std::size_t before_blocks = 0,
                            std::size_t before_bytes = 0) const;
  unsigned inputs = 3;  // one is filled while another one is decoded, and a third one placed
  unsigned rooms = 2;   // at least: one is downloaded while the next one is filled
  // Pieces in memory of the host: those in inputs and rooms, and one whose content is still under way.
  std::size_t host_pieces = inputs + rooms + 1;
  ZstdParallelLimits processor = {.threads = 1};  // without the device

  // Of the host, for a frame with this window.
  std::uint64_t memory_bytes(std::uint64_t window_bytes) const;
};

// The largest pieces that the means allow and that suit the size of the frame. `device_bytes` returns how much memory a device takes for given limits; that is
// at most `device_limit_bytes`. Nothing if the processor should restore the frame, because there is little of it, or no memory.
std::optional<ZstdDeviceLimits> zstd_device_limits(
    const FrameHeader& header, const StreamMeans& means, std::uint64_t device_limit_bytes,
    const std::function<std::uint64_t(const ZstdDeviceLimits&)>& device_bytes);

// Makes the device when a frame needs it; may make the limits smaller for it. Null if it cannot be made.
using ZstdPieceDeviceMaker = std::function<std::unique_ptr<ZstdPieceDevice>(ZstdDeviceLimits&)>;

class ZstdDeviceDecoder : public StreamDecoder {
 public:
  // `processor` restores a short frame that comes whole in the first piece of input, and any if no device can be made. Without a dictionary. means.on_failure is called
  // for the first failure of the device, from any thread.
  ZstdDeviceDecoder(std::uint64_t window_bytes, std::unique_ptr<StreamDecoder> processor,
                    ZstdPieceDeviceMaker make_device, const StreamMeans& means,
                    const ZstdDeviceLimits& limits);
  ~ZstdDeviceDecoder() override;
  ZstdDeviceDecoder(const ZstdDeviceDecoder&) = delete;
  ZstdDeviceDecoder& operator=(const ZstdDeviceDecoder&) = delete;

  StreamStep restore(std::span<const std::byte> input, std::span<std::byte> output) override;
  std::uint64_t ahead_bytes() const override;
  void lend_content() override;
  std::uint64_t under_way() const override { return arrivals_.under_way(); }
  void settle(std::uint64_t number) override;

  // How much of the content came from the device, and in how many steps, for tests.
  std::uint64_t device_bytes() const { return device_bytes_; }
  std::uint64_t device_steps() const { return run_count_; }

 private:
  struct Piece;
  struct Link;
  struct Run;
  struct Decoded;
  class Rest;
  // Content that is being downloaded, or a link's window.
  struct Arrival {
    std::uint64_t download = 0;  // 0: it is not downloaded
    std::span<std::byte> to;
    std::shared_ptr<Link> link;    // from which on this content is restored, or whose window it is
    std::uint64_t content_at = 0;  // in the frame
    bool is_window = false;
  };
  // Memory that is used again once nobody else holds it.
  class HostMemory {
   public:
    void set(std::size_t most, std::size_t bytes) {
      most_ = most;
      bytes_ = bytes;
    }
    // Null if all of it is in use. Call it with the mutex of those who release it held.
    std::shared_ptr<LargeBuffer> take(ZstdPieceDevice& device);

   private:
    std::size_t most_ = 0, bytes_ = 0;
    std::vector<std::shared_ptr<LargeBuffer>> made_;
  };

  void begin(std::span<const std::byte> input);
  std::size_t take(std::span<const std::byte> input);
  Piece* piece_to_fill();
  void find_blocks(Piece& piece);
  void seal(Piece& piece);
  void begin_runs();
  void begin_decoding();
  bool may_finish_run() const;
  void finish_run();
  void publish(const ZstdPieceRestored& restored);
  void hand_over(StreamStep& step, std::span<std::byte> output);
  void download_window(const Run& run);
  void arrive(const Run& run, std::uint64_t place, Arrival arrival);
  bool is_for_processor() const;
  void go_on_without_device();
  void restore_rest(StreamStep& step, std::span<const std::byte> input, std::span<std::byte> output);
  std::shared_ptr<LargeBuffer> host_memory(HostMemory& from);
  template <class Call>
  bool succeeds(const Call& call);
  void redo(const Arrival& arrival);
  std::uint64_t history_bytes(const Link& link) const;

  const std::uint64_t window_bytes_;
  const std::size_t most_block_bytes_;
  const bool settles_;  // the caller calls settle()
  const std::function<void(const std::string&)> on_failure_;
  const ZstdPieceDeviceMaker make_device_;
  ZstdDeviceLimits limits_;

  // Only for the calling thread.
  std::unique_ptr<StreamDecoder> processor_;  // until the device begins
  bool is_begun_ = false;
  std::uint64_t taken_bytes_ = 0, position_ = 0;  // of the blocks' bytes
  HostMemory piece_memory_, window_memory_;
  std::deque<std::shared_ptr<Piece>> pieces_;  // not decoded yet, or not all of their blocks
  std::vector<std::byte> cut_;                 // the beginning of a block, for the next piece
  std::uint64_t piece_count_ = 0;
  std::size_t suited_blocks_ = 0;  // of the next piece, at most, for its content to have room
  bool all_taken_ = false;         // the last block, or one whose header shows damage
  bool has_last_ = false, is_in_doubt_ = false;
  std::deque<Decoded> decoded_;  // of which the first one is being placed
  bool is_placing_ = false;
  ZstdWalk walk_;
  std::shared_ptr<Link> link_;  // behind the last run
  std::deque<Run> runs_;        // of which not all content was handed over
  std::uint64_t run_count_ = 0, device_bytes_ = 0;
  std::unique_ptr<Rest> rest_;  // once the device is not used any more

  std::atomic<bool> has_failed_ = false;
  mutable std::mutex mutex_;  // guards what arrivals hold
  Arrivals<Arrival> arrivals_{mutex_};
  std::unique_ptr<Rest> redone_;  // for arrivals_, which settles one after the other

  std::unique_ptr<ZstdPieceDevice> device_;  // the first to go: it may still use the host's memory
};

}  // namespace hemstitch
