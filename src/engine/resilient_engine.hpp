// An engine that finishes what its backend could not: a block or a batch on which the backend fails is redone
// by another backend, the fallback, counted, and reported with the first reason. A backend that fails in a second call is dropped: the
// fallback does what comes then.
//
// Starting. Where the choice was left to us and a device may pay off, the caller may let it start beside the run (DeviceTime::kBeside): the
// processor works until device_is_ready(), and take_device() changes over between two batches: any of the two may write any block,
// since what a block refers to is content. Where nobody knows how much there is, progressed() tells how much has come, and a device
// starts once it would pay off for as much again. So it leaves no more than half of a stream for which it pays to the
// processor, and what comes while it starts; a start that was for nothing costs a thread for a moment.
//
// Verifying. What was compressed is restored by the engine that made it and compared with what it was made of. A block that
// comes out otherwise counts as failed, and what the fallback makes of it is verified as well. Outputs that the engine moved
// are restored from where they stand; they leave no room for a block to be redone alone, so that the whole batch is.
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

#include "engine/backend.hpp"
#include "engine/device_start.hpp"
#include "format/format.hpp"

namespace hemstitch {

// Who did the work of a run.
struct EngineReport {
  std::string backend;                // the one that worked
  std::string choice_reason;          // why that one, where it was ours to choose; else empty
  std::uint64_t fallback_blocks = 0;  // that the backend failed on, or that came after it was dropped
  std::string fallback_backend;       // who did those
  std::string fallback_reason;        // the first failure's message
  bool dropped = false;               // the backend, after its second failure
  std::string lost_devices;           // of several, those that the run went on without, and why; else empty
  TimeReport times;
};

// When a device starts that we choose: before the constructor returns, or while the caller does what it can without.
enum class DeviceTime { kBefore, kBeside };

class ResilientEngine {
 public:
  // Backend and device as in the options: a name or "auto", which chooses for the work, and which of its devices. Throws where the
  // registry does, and where a device that was asked for by name does not start; one that we chose is replaced.
  ResilientEngine(std::string_view requested, std::string_view device, const Workload& work = {},
                  DeviceTime time = DeviceTime::kBefore);

  // With kBeside. These are called by one thread at a time; take_device() and refuse_device() while no batch is worked on, and buffers
  // and plans made for preferred() are made anew then.
  //
  // So many bytes of input have come.
  void progressed(std::uint64_t input_bytes);
  bool device_is_ready();
  void take_device();
  // Back to the processor: there is no plan for that device.
  void refuse_device(std::string_view reason);

  const BlockEngine& preferred() const { return *engine_; }
  bool supports(const FrameFormat& format, Direction direction) const {
    return backend_->supports(format.id(), direction);
  }

  // Throws kInvalidOption where the backend does not restore the format, and so cannot verify what it makes.
  void require_verifying(const FrameFormat& format) const;

  // With `verify_room`, which holds as many bytes as the inputs, each block is verified there. Throws kInternal where one does not
  // restore and nobody else can make it.
  void compress(std::span<BlockTask> tasks, const EncodeParameters& parameters,
                std::span<std::byte> verify_room = {});
  void restore(std::span<BlockTask> tasks, Format format);
  // For a frame whose blocks cannot be told apart: counts as a block that was redone where the backend makes none and `cpu`, or else the
  // fallback, does. Throws kInvalidOption where nobody does.
  std::unique_ptr<StreamDecoder> make_stream_decoder(const FrameFormat& format,
                                                     std::span<const std::byte> history,
                                                     const StreamMeans& means = {});

  // Of the run, from before the backend was chosen.
  TimeLine& time_line() { return *time_line_; }
  void report(EngineReport& report) const;

 private:
  const Backend& fallback(Format format, Direction direction) const;
  // Calls work() as one batch of the time line, where the engine does not tell that itself.
  template <class Work>
  void timed(const Work& work);
  StageTimer host_timer() { return {*time_line_, Stage::kKernel, time_line_->next_batch()}; }
  bool has_fallback(Format format, Direction direction) const;
  BlockEngine& fallback_engine(Format format, Direction direction);
  BlockEngine& fallback_engine(const Backend& backend);
  void compress_elsewhere(std::span<BlockTask> tasks, const EncodeParameters& parameters,
                          std::span<std::byte> verify_room);
  void count_failed_call(const std::string& reason);
  void count_fallback(std::uint64_t blocks);
  void count_done(std::uint64_t blocks);
  void start_device();
  void not_started(std::string_view backend, const std::exception_ptr& failure);
  bool dropped() const;

  std::string requested_, device_;
  Workload work_;
  std::unique_ptr<TimeLine> time_line_;
  std::string choice_reason_;
  const Backend* backend_ = nullptr;
  std::unique_ptr<BlockEngine> engine_;
  bool engine_keeps_time_ = false;

  std::optional<DeviceStart> start_;
  std::optional<std::uint64_t> next_question_;  // of progressed(): from so many bytes on
  const Backend* processor_ = nullptr;          // once a device has taken its place
  std::unique_ptr<BlockEngine> processor_engine_;
  std::atomic<bool> in_place_of_device_ = false;  // that did not start
  std::atomic<std::uint64_t> done_blocks_ = 0, processor_blocks_ = 0;

  mutable std::mutex mutex_;  // guards what follows
  std::map<const Backend*, std::unique_ptr<BlockEngine>> fallback_engines_;
  unsigned failed_calls_ = 0;
  std::uint64_t fallback_blocks_ = 0;
  std::string fallback_backend_;  // the first one
  std::string fallback_reason_;
};

}  // namespace hemstitch
