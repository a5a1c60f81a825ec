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

#include "core/status.hpp"
#include "engine/resilient_engine.hpp"

namespace hemstitch {

// Where bytes come from. Calls never overlap, but may come from different threads.
class Source {
 public:
  virtual ~Source() = default;
  // Fills `into` and returns its size; fewer bytes only at the end of the stream. Throws kReadFailed.
  virtual std::size_t read(std::span<std::byte> into) = 0;
  // Passes over `count` bytes without giving them; returns how many there were.
  virtual std::uint64_t skip(std::uint64_t count);
  // Goes to a byte of the stream, counted from its beginning; false where the source cannot (a pipe).
  virtual bool seek(std::uint64_t /*position*/) { return false; }
  // The bytes of the whole stream, where that is known before the end (a regular file).
  virtual std::optional<std::uint64_t> total_bytes() const { return std::nullopt; }
};

// Where bytes go, in order. Calls never overlap, but may come from different threads. Throws kWriteFailed.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void write(std::span<const std::byte> bytes) = 0;
};

class MemorySource : public Source {
 public:
  explicit MemorySource(std::span<const std::byte> bytes) : all_(bytes), rest_(bytes) {}
  std::size_t read(std::span<std::byte> into) override;
  std::uint64_t skip(std::uint64_t count) override;
  bool seek(std::uint64_t position) override;
  std::optional<std::uint64_t> total_bytes() const override { return all_.size(); }

 private:
  std::span<const std::byte> all_;
  std::span<const std::byte> rest_;
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
};

void throw_if_cancelled(const StreamHooks& hooks);

struct StreamReport : EngineReport {
  std::uint64_t input_bytes = 0;
  std::uint64_t output_bytes = 0;
  std::uint64_t block_count = 0;
  std::uint64_t frame_count = 0;  // without skippable frames
  unsigned threads = 0;
  std::uint64_t planned_bytes = 0;  // memory of the plan
  // Restoring: where bytes that are no frame begin after the last frame. The data before them is complete.
  std::optional<std::uint64_t> trailing_garbage_at;
};

// Reads `source` to its end and writes one frame. Validates the options first.
StreamReport compress_stream(Source& source, Sink& sink, const CompressOptions& options,
                             const StreamHooks& hooks = {});

// Reads frames until the end of `source` and writes their content.
StreamReport restore_stream(Source& source, Sink& sink, const RestoreOptions& options,
                            const StreamHooks& hooks = {});

// Writes content[range_begin, range_end) of all frames together and restores only the blocks that the range
// touches; those before it are passed over. A range_end past the content means its end. Linked frames are
// restored from their beginning. Throws kRangeOutsideContent when range_begin lies past the content.
StreamReport restore_range(Source& source, Sink& sink, std::uint64_t range_begin, std::uint64_t range_end,
                           const RestoreOptions& options, const StreamHooks& hooks = {});

// What one frame's header says and what its blocks add up to.
struct FrameSummary {
  enum class Kind { kLz4, kLz4Legacy, kSkippable };
  Kind kind = Kind::kLz4;
  std::uint64_t compressed_bytes = 0;  // the whole frame, headers and checksums included
  std::uint64_t content_bytes = 0;     // 0 for a skippable frame
  std::uint64_t block_count = 0;
  std::uint64_t stored_block_count = 0;
  std::size_t block_bytes = 0;  // the frame's maximum block size
  bool linked_blocks = false;
  bool block_checksums = false;
  bool content_checksum = false;
  bool content_size_in_header = false;
  std::optional<std::uint32_t> dictionary_id;
};

struct StreamSummary {
  std::vector<FrameSummary> frames;
  std::optional<std::uint64_t> trailing_garbage_at;
};

// Reads headers and sizes, restoring nothing: block sizes come from walking the tokens.
StreamSummary summarise_stream(Source& source);

}  // namespace hemstitch
