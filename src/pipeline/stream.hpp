// Whole streams through a backend: what the library's objects and the tool's commands are made of.
//
// A stream is read by one thread at a time, its blocks are worked on by many, and it is written in order by
// one thread at a time. Memory is bounded by the plan made before the first byte is read (see
// core/workspace.hpp).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/source.hpp"
#include "core/status.hpp"
#include "engine/resilient_engine.hpp"
#include "format/frame_index.hpp"
#include "format/gzip_index.hpp"

namespace hemstitch {

// Where bytes go, in order. Calls never overlap, but may come from different threads. Throws kWriteFailed.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void write(std::span<const std::byte> bytes) = 0;
  // The same, by the threads of the caller's arena where that is faster; for tens of megabytes at once.
  virtual void write_in_parallel(std::span<const std::byte> bytes) { write(bytes); }
};

// Discards what it is given: for testing files and for sizes.
class NullSink : public Sink {
 public:
  void write(std::span<const std::byte>) override {}
};

// What a caller may watch and stop while a stream runs.
struct StreamHooks {
  // Called after each piece written, with the bytes read and written so far. Never called twice at once.
  std::function<void(std::uint64_t input_bytes, std::uint64_t output_bytes)> progress;
  // Once true, the stream stops with kCancelled.
  const std::atomic<bool>* cancelled = nullptr;
  // Restoring: source and sink are used by the calling thread alone, whatever others do.
  bool stays_on_thread = false;
  // Restoring whole gzip streams: gets places from which parts are restored later (pipeline/gzip_points.hpp). BGZF, and other formats, are
  // kUnsupportedFeature then.
  GzipIndex* index = nullptr;
};

inline void throw_if_cancelled(const StreamHooks& hooks) {
  if (hooks.cancelled != nullptr && hooks.cancelled->load(std::memory_order_relaxed))
    throw Error(Status::kCancelled, "the stream was cancelled");
}

// From where to where, for the choice of a backend by "auto".
struct StreamPlaces {
  DataPlace from = DataPlace::kMemory;
  DataPlace to = DataPlace::kMemory;
};

struct StreamReport : EngineReport {
  std::uint64_t input_bytes = 0;
  std::uint64_t output_bytes = 0;
  std::uint64_t block_count = 0;
  std::uint64_t frame_count = 0;  // without skippable frames
  unsigned threads = 0;
  std::uint64_t planned_bytes = 0;         // memory of the plan
  std::uint64_t planned_device_bytes = 0;  // and of a device; 0 where the engine has none
  std::uint64_t device_limit_bytes = 0;    // that those were planned under; 0: none
  // Restoring: where bytes that are no frame begin after the last frame. The data before them is complete.
  std::optional<std::uint64_t> trailing_garbage_at;
  // Restoring: a frame lacked the mark of its end (FrameReader::end_missing()); what there is of it is complete.
  bool end_missing = false;
};

// Reads `source` to its end and writes one frame. Validates the options first.
StreamReport compress_stream(Source& source, Sink& sink, const CompressOptions& options,
                             const StreamHooks& hooks = {}, const StreamPlaces& places = {});

// Reads frames until the end of `source` and writes their content.
StreamReport restore_stream(Source& source, Sink& sink, const RestoreOptions& options,
                            const StreamHooks& hooks = {}, const StreamPlaces& places = {});

// Writes content[range_begin, range_end) of all frames together and restores only the blocks that the range
// touches; those before it are passed over. A range_end past the content means its end. Linked frames are
// restored from their beginning. Throws kRangeOutsideContent when range_begin lies past the content.
StreamReport restore_range(Source& source, Sink& sink, std::uint64_t range_begin, std::uint64_t range_end,
                           const RestoreOptions& options, const StreamHooks& hooks = {});

// The frames of a source that stands at its beginning. Of those whose ends nothing else tells it restores the content, and keeps
// none of it; memory is bounded by two pieces. `format`: as RestoreOptions::format. Throws Error as index_frames() does.
FrameIndex index_stream(Source& source, std::optional<Format> format = {});

}  // namespace hemstitch
