// Many short inputs at once, each a frame of its own: all their blocks go to the engine in one call. What a stream makes of an
// input (compress_stream.cpp, restore_stream.cpp) is made of it here, to the byte; but a call of a device costs what it
// costs for three blocks or for three thousand.
//
// The owner brings inputs that are whole in memory, and takes results that are: it opens, reads and writes by as many
// threads as it likes, and keeps several batches in flight, as for any engine. Whatever is not plain is left to streams,
// which know what to say about it: restoring gives nothing for such an input.
//
// Memory. A batch holds its inputs and its results; how much of either is planned before the first one is read, as for
// streams. Thread safety: compress() and restore() from several threads at once, with memory of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/large_buffer.hpp"
#include "core/options.hpp"
#include "core/workspace.hpp"
#include "engine/resilient_engine.hpp"
#include "format/formats.hpp"
#include "pipeline/stream.hpp"

namespace hemstitch {

// How much a batch takes; tests make it small.
struct FrameBatchLimits {
  // Contents. Far more than a call of a device costs to begin, and little enough that several batches are read and written
  // while one is computed. 100,000 files of 11 KB on an H200's host: 1.28 times the time to read and create them in batches of
  // 2 MB, 1.24 in 8, 1.16 in 24.
  std::size_t content_bytes = std::size_t{16} << 20;
  // Bookkeeping of an input is a kilobyte or so, however short it is.
  std::size_t inputs = 4096;
};

// Of all batches together, where it is known: for the choice of a backend by "auto". Files, both ways.
using AllInputBytes = std::optional<std::uint64_t>;

// What both ways have in common: which engine, and what a batch may hold.
class FrameBatchPlan {
 public:
  unsigned threads() const { return threads_; }
  unsigned batches_in_flight() const { return batches_in_flight_; }
  std::size_t most_inputs() const { return most_inputs_; }
  // Of the inputs of a batch, each counted by input_cost().
  std::size_t input_bytes() const { return input_bytes_; }
  // Where whoever reads and writes for it says how long that took.
  TimeLine& time_line() { return engine_.time_line(); }
  void report(StreamReport& report) const;

 protected:
  FrameBatchPlan(const std::string& backend, const std::string& device, const Workload& work,
                 const FrameBatchLimits& limits)
      : engine_(backend, device, work),
        threads_(resolve_threads(work.threads)),
        most_inputs_(limits.inputs) {}

  ResilientEngine engine_;
  unsigned threads_;
  unsigned batches_in_flight_ = 1;
  std::size_t most_inputs_;
  std::size_t input_bytes_ = 0;
  std::uint64_t device_bytes_ = 0, device_limit_bytes_ = 0;
};

class FrameCompressor : public FrameBatchPlan {
 public:
  // Validates, chooses the backend, plans. Throws as a stream of these options would.
  explicit FrameCompressor(const CompressOptions& given, const FrameBatchLimits& limits = {},
                           AllInputBytes all_input_bytes = std::nullopt);

  // What an input of so many bytes counts for; more than input_bytes() is too much for any batch.
  std::uint64_t input_cost(std::uint64_t bytes) const;
  LargeBuffer make_output() const { return engine_.preferred().make_buffer(output_bytes_); }

  // The frames, in `output`, until that is used again; each has its content's size in its header, but where that is 0.
  // Throws of the device family where the engine failed and no other one could do it.
  std::vector<std::span<const std::byte>> compress(std::span<const std::span<const std::byte>> inputs,
                                                   LargeBuffer& output);

 private:
  // In a stream's linked frame every block has its history directly before it in memory, the first one the dictionary. liblz4
  // writes other bytes where it stands elsewhere.
  bool brings_dictionary() const { return writer_->history_bytes() != 0 && !dictionary_.empty(); }

  CompressOptions options_;
  const FrameFormat& format_;
  std::vector<std::byte> dictionary_;
  std::unique_ptr<FrameWriter> writer_;
  FrameRoom frame_room_;
  std::size_t frames_bytes_ =
      0;  // of the output; behind them is what blocks restore to, where that is compared
  std::size_t output_bytes_ = 0;
};

class FrameRestorer : public FrameBatchPlan {
 public:
  explicit FrameRestorer(const RestoreOptions& options, const FrameBatchLimits& limits = {},
                         AllInputBytes all_input_bytes = std::nullopt);

  LargeBuffer make_output() const { return engine_.preferred().make_buffer(output_bytes_); }

  // One for each input that was taken, from the first on: contents may be much longer than inputs, so that not all may fit into
  // `output` at once. At least one is taken. Nothing stands for an input that a stream has to look at: it is damaged, its
  // blocks are linked, it is no frame at all.
  struct Restored {
    std::optional<std::span<const std::byte>> content;
    std::size_t block_count = 0;
  };
  std::vector<Restored> restore(std::span<const std::span<const std::byte>> inputs, LargeBuffer& output);

 private:
  struct Frames;
  std::optional<Frames> plan_frames(std::span<const std::byte> input) const;
  bool is_right(const Frames& frames, std::span<const std::byte> input,
                std::span<const std::byte> content) const;

  RestoreOptions options_;
  std::vector<std::byte> dictionary_;
  std::size_t output_bytes_ = 0;
};

}  // namespace hemstitch
