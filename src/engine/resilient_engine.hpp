// An engine that finishes what its backend could not: a block or a batch on which the backend fails is redone
// by another backend, counted, and reported with the first reason.
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
  std::uint64_t fallback_blocks = 0;  // redone by `fallback_backend` after the backend failed on them
  std::string fallback_backend;
  std::string fallback_reason;  // the first failure's message
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

  void compress(std::span<BlockTask> tasks, const EncodeParameters& parameters);
  void restore(std::span<BlockTask> tasks, Format format);
  // For a frame whose blocks cannot be told apart: counts as a block that was redone where the backend makes none and another
  // one does. Throws kInvalidOption where nobody does.
  std::unique_ptr<StreamDecoder> make_stream_decoder(const FrameFormat& format,
                                                     std::span<const std::byte> history);

  void report(EngineReport& report) const;

 private:
  const Backend& fallback(Format format, Direction direction) const;
  bool has_fallback(Format format, Direction direction) const;
  BlockEngine& fallback_engine(Format format, Direction direction);
  void count_fallback(std::uint64_t blocks, const std::string& reason);

  std::string requested_;
  std::string choice_reason_;
  const Backend* backend_;
  std::unique_ptr<BlockEngine> engine_;

  mutable std::mutex mutex_;  // guards what follows
  std::map<const Backend*, std::unique_ptr<BlockEngine>> fallback_engines_;
  std::uint64_t fallback_blocks_ = 0;
  std::string fallback_backend_;  // the first one
  std::string fallback_reason_;
};

}  // namespace hemstitch
