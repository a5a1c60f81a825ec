// An engine that finishes what its backend could not: a block or a batch on which the backend fails is redone
// by another backend, the fallback, counted, and reported with the first reason. A backend that fails in a second call is dropped: the
// fallback does what comes then.
//
// Verifying. What was compressed is restored by the engine that made it and compared with what it was made of. A block that
// comes out otherwise counts as failed, and what the fallback makes of it is verified as well. Outputs that the engine moved
// are restored from where they stand; they leave no room for a block to be redone alone, so that the whole batch is.
//
// Thread safety: like every engine, from several threads at once.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "engine/backend.hpp"
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

class ResilientEngine {
 public:
  // Backend and device as in the options: a name or "auto", which chooses for the work, and which of its devices. Throws where the
  // registry does, and where a device that was asked for by name does not start; one that we chose is replaced.
  ResilientEngine(std::string_view requested, std::string_view device, const Workload& work = {});

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
  bool dropped() const;

  std::string requested_;
  std::unique_ptr<TimeLine> time_line_;
  std::string choice_reason_;
  const Backend* backend_;
  std::unique_ptr<BlockEngine> engine_;
  bool engine_keeps_time_ = false;

  mutable std::mutex mutex_;  // guards what follows
  std::map<const Backend*, std::unique_ptr<BlockEngine>> fallback_engines_;
  unsigned failed_calls_ = 0;
  std::uint64_t fallback_blocks_ = 0;
  std::string fallback_backend_;  // the first one
  std::string fallback_reason_;
};

}  // namespace hemstitch
