// An engine that redoes what its backend fails on. If the backend fails on a block or a batch, another
// backend, the fallback, redoes it. The report counts this and keeps the first reason. A backend that fails
// in a second call is dropped, and the fallback does the rest.
//
// Starting. If the choice is left to us and a device may pay off, the caller may let it start beside the run
// (DeviceTime::kBeside). The processor works until device_is_ready(), and take_device() switches over between
// two batches. Either backend may write any block, since blocks refer only to content. If the size of the
// input is unknown, progressed() reports how much has come. A device starts once it would pay off for as much
// again. So for a stream that is worth a device, the processor does at most half, and what comes during the
// start. A start in vain costs a thread for a moment.
//
// Verifying. The engine that compressed a block restores it, and the result is compared with the block. A
// block that differs counts as failed; the fallback's version is verified too. If the engine moved its
// outputs, they are restored from where they are. Then no block can be redone alone, so the whole batch is
// redone.
//
// Cancelling. A caller's function, if there is one, is called before each piece of a batch on the processor,
// which takes the blocks one after the other, and before each batch on a device.
//
// Thread safety: like every engine, from several threads at once.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "core/device_failures.hpp"
#include "engine/backend.hpp"
#include "engine/device_start.hpp"
#include "format/format.hpp"

namespace hemstitch {

// Which backend did the work of a run.
struct EngineReport {
  std::string backend;                // the one that worked
  std::string choice_reason;          // why that one, if the choice was ours; otherwise empty
  std::uint64_t fallback_blocks = 0;  // blocks that the backend failed on, or that came after it was dropped
  std::string fallback_backend;       // the backend that did those
  std::string fallback_reason;        // the first failure's message
  bool dropped = false;               // whether the backend was dropped after its second failure
  std::string
      lost_devices;  // with several devices: which ones the run no longer uses, and why; otherwise empty
  TimeReport times;
};

// When a device that we choose starts: before the constructor returns, or while the caller already works.
enum class DeviceTime { kBefore, kBeside };

class ResilientEngine {
 public:
  // `requested` and `device` as in the options: a name or "auto", which chooses for the work, and a device.
  // Throws what the registry throws, and if a device that was requested by name does not start. A device
  // that we chose is replaced.
  ResilientEngine(std::string_view requested, std::string_view device, const Workload& work = {},
                  DeviceTime time = DeviceTime::kBefore, BetweenPieces between_pieces = {});

  // For kBeside. Only one thread at a time may call these functions. Call take_device() and refuse_device()
  // while no batch is being processed, and then remake all buffers and plans that were made for
  // preferred().
  //
  // `input_bytes` of input have come so far.
  void progressed(std::uint64_t input_bytes);
  bool device_is_ready();
  void take_device();
  // Returns to the processor, for example because no plan fits the device.
  void refuse_device(std::string_view reason);

  const BlockEngine& preferred() const { return *engine_; }
  bool supports(const FrameFormat& format, Direction direction) const {
    return backend_->supports(format.id(), direction);
  }

  // The writer of frames for what the backend writes that was chosen first.
  std::unique_ptr<FrameWriter> make_writer(const FrameFormat& format, const CompressOptions& options) const {
    return writes_own_bytes(*backend_) ? format.make_own_writer(options) : format.make_writer(options);
  }
  // Throws kInvalidOption if the backend cannot restore the format, and so cannot verify its output.
  void require_verifying(const FrameFormat& format) const;

  // With `verify_room`, which has as many bytes as all inputs together, each block is restored there and
  // compared. Throws kInternal if a block fails this check and no other backend can redo it.
  void compress(std::span<BlockTask> tasks, const EncodeParameters& parameters,
                std::span<std::byte> verify_room = {});
  void restore(std::span<BlockTask> tasks, Format format);
  // For a frame that is compressed as a whole. Throws kInvalidOption if the backend has no encoder for it.
  std::unique_ptr<StreamEncoder> make_stream_encoder(const FrameFormat& format,
                                                     const StreamEncoding& encoding);
  // For a frame whose blocks cannot be told apart. If the backend makes no such decoder, `cpu` or else the
  // fallback does, which counts as one redone block. Throws kInvalidOption if no backend does.
  std::unique_ptr<StreamDecoder> make_stream_decoder(const FrameFormat& format, const FrameHeader& header,
                                                     std::span<const std::byte> history,
                                                     const StreamMeans& means = {});

  // Of the run; begins before the backend is chosen.
  TimeLine& time_line() { return *time_line_; }
  void report(EngineReport& report) const;

 private:
  const Backend& fallback(Format format, Direction direction) const;
  // Where content is restored that this backend has no means for. It is the same on every backend, so the fastest one restores it.
  const Backend& fastest_restorer(Format format) const;
  void count_replaced(std::uint64_t blocks, const std::string& reason);
  // Calls work() as one batch of the time line, unless the engine keeps the time itself.
  template <class Work>
  void timed(std::span<const BlockTask> tasks, const Work& work);
  StageTimer host_timer() { return {*time_line_, Stage::kKernel, time_line_->next_batch()}; }
  bool has_fallback(Format format, Direction direction) const;
  BlockEngine& fallback_engine(Format format, Direction direction);
  BlockEngine& fallback_engine(const Backend& backend);
  // Calls work(piece) for all pieces of the tasks.
  template <class Work>
  void in_pieces(std::span<BlockTask> tasks, const Work& work);
  void compress_piece(std::span<BlockTask> tasks, const EncodeParameters& parameters,
                      std::span<std::byte> verify_room);
  void restore_piece(std::span<BlockTask> tasks, Format format);
  void compress_elsewhere(std::span<BlockTask> tasks, const EncodeParameters& parameters,
                          std::span<std::byte> verify_room);
  void count_failed_call(const std::string& reason);
  void count_fallback(std::uint64_t blocks);
  void count_done(std::uint64_t blocks);
  void start_device();
  void not_started(std::string_view backend, const std::exception_ptr& failure);

  std::string requested_, device_;
  Workload work_;
  BetweenPieces between_pieces_;
  std::unique_ptr<TimeLine> time_line_;
  std::string choice_reason_;
  const Backend* backend_ = nullptr;
  std::unique_ptr<BlockEngine> engine_;
  bool engine_keeps_time_ = false;

  std::optional<DeviceStart> start_;
  std::optional<std::uint64_t> next_question_;  // from how many input bytes on progressed() asks again
  const Backend* processor_ = nullptr;          // set once a device has taken its place
  std::unique_ptr<BlockEngine> processor_engine_;
  std::atomic<bool> in_place_of_device_ = false;  // of a device that did not start
  std::atomic<std::uint64_t> done_blocks_ = 0, processor_blocks_ = 0;
  DeviceFailures failures_;  // of calls of the backend

  mutable std::mutex mutex_;  // guards what follows
  std::map<const Backend*, std::unique_ptr<BlockEngine>> fallback_engines_;
  std::uint64_t fallback_blocks_ = 0;
  std::string fallback_backend_;  // the first one that was used
  std::string fallback_reason_;
};

}  // namespace hemstitch
