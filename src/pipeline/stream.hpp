// Runs whole streams through a backend. The library's objects and the tool's commands use it.
//
// One thread at a time reads a stream, many work on its blocks, and one at a time writes it in order. Memory
// is bounded by a plan that is made before the first byte is read (core/workspace.hpp).
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

// Receives bytes in order. Calls never overlap, but may come from different threads. Throws kWriteFailed.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void write(std::span<const std::byte> bytes) = 0;
  // The same, with the threads of the caller's arena if that is faster; for tens of megabytes at once.
  virtual void write_in_parallel(std::span<const std::byte> bytes) { write(bytes); }
  // Replaces the first bytes of all that was written. Returns false if that is not possible, as in a pipe.
  virtual bool replace_beginning(std::span<const std::byte> /*bytes*/) { return false; }
  // Nothing may be written for a while: whatever is kept should go on.
  virtual void flush() {}
};

// Discards all bytes: for testing files and for measuring sizes.
class NullSink : public Sink {
 public:
  void write(std::span<const std::byte>) override {}
};

// What a caller may observe and stop while a stream runs.
struct StreamHooks {
  // Called after each piece is written, with the bytes read and written so far. Calls never overlap.
  std::function<void(std::uint64_t input_bytes, std::uint64_t output_bytes)> progress;
  // Once true, the stream stops with kCancelled.
  const std::atomic<bool>* cancelled = nullptr;
  // Restoring: only the calling thread uses source and sink, whatever other threads do.
  bool stays_on_thread = false;
  // Restoring: what follows the last frame and begins none is content too, as for `gzip -dcf`. Then there is no
  // StreamReport::trailing_garbage_at.
  bool copies_rest = false;
  // Restoring: the source is not at its beginning, so its end does not tell where the frames to come are.
  bool begins_inside = false;
  // Restoring whole gzip streams: receives the points from which parts can be restored later
  // (pipeline/index_points.hpp). BGZF and other formats then fail with kUnsupportedFeature.
  GzipIndex* index = nullptr;
};

inline void throw_if_cancelled(const StreamHooks& hooks) {
  if (hooks.cancelled != nullptr && hooks.cancelled->load(std::memory_order_relaxed))
    throw Error(Status::kCancelled, "the stream was cancelled");
}

// Where data comes from and goes to, for the choice of a backend by "auto".
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
  // Compressing: options.content_bytes, if the source had more bytes or fewer. input_bytes is what it had.
  std::optional<std::uint64_t> expected_input_bytes;
  std::uint64_t planned_bytes = 0;         // host memory of the plan
  std::uint64_t planned_device_bytes = 0;  // device memory of the plan; 0 if the engine has none
  std::uint64_t device_limit_bytes = 0;    // the limit for that; 0: none
  // Restoring: where bytes that are not a frame begin after the last frame. The data before them is
  // complete.
  std::optional<std::uint64_t> trailing_garbage_at;
  // Restoring: a frame has no end mark (FrameReader::end_missing()). The content before it is complete.
  bool end_missing = false;
};

// Reads `source` to its end and writes one frame. Validates the options first.
//
// options.content_bytes is what is known of the source, and may be wrong: a file grows, shrinks, or has never
// had the size that it tells. All that the source gives is compressed, and no header tells a wrong size. What
// comes after the size that a header states is another frame. If less came, the header is written anew;
// throws kInputChanged if the sink cannot do that and the end did not come before the first batch was full.
StreamReport compress_stream(Source& source, Sink& sink, const CompressOptions& options,
                             const StreamHooks& hooks = {}, const StreamPlaces& places = {});

// Reads frames until the end of `source` and writes their content. When the source pauses, all content that
// the bytes so far give is written, and the sink is flushed.
StreamReport restore_stream(Source& source, Sink& sink, const RestoreOptions& options,
                            const StreamHooks& hooks = {}, const StreamPlaces& places = {});

// Writes content[range_begin, range_end) of all frames together. It restores only blocks that the range
// touches and skips those before. A range_end after the content means the end of the content. Linked frames
// are restored from their beginning. Throws kRangeOutsideContent if range_begin is after the content.
StreamReport restore_range(Source& source, Sink& sink, std::uint64_t range_begin, std::uint64_t range_end,
                           const RestoreOptions& options, const StreamHooks& hooks = {});

// The frames of a source, from its beginning. Frames whose ends cannot be found otherwise are restored, and
// their content is discarded, with memory for two pieces. `format`: as RestoreOptions::format. With `visit`,
// which receives each frame, none is kept. Throws Error as index_frames() does.
FrameIndex index_stream(Source& source, std::optional<Format> format = {}, const VisitFrame& visit = {},
                        const StreamMeans& means = {});
// One thread, and windows that the options allow.
StreamMeans means_of_listing(const RestoreOptions& options);

// How much content all frames of a source have, found like this.
std::uint64_t content_bytes_of_stream(Source& source, const RestoreOptions& options);

}  // namespace hemstitch
