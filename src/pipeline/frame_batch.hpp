// Many short inputs at once, each its own frame. All their blocks go to the engine in one call. The result is
// the same, to the byte, as that of a stream (compress_stream.cpp, restore_stream.cpp), but a call to a
// device costs about as much for three blocks as for three thousand.
//
// The owner passes inputs that are whole in memory and gets whole results. It opens, reads and writes files
// with as many threads as it likes, and keeps several batches in flight, as for any engine. Inputs that are
// not plain are left to streams, which report what is wrong with them: restoring returns nothing for such an
// input.
//
// Memory. A batch holds its inputs and its results. Their sizes are planned before the first input is read,
// as for streams.
//
// Thread safety: several threads may call compress() and restore() at once, each with its own memory.
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

// The size of a batch; tests make it small.
struct FrameBatchLimits {
  // Of content. A batch of this size costs far more than the start of a device call, and is small enough
  // that several batches are read and written while one is computed. 100,000 files of 11 KB on an H200's
  // host took 1.28 times the time for reading and creating them in batches of 2 MB, 1.24 in 8 MB and 1.16
  // in 24 MB.
  std::size_t content_bytes = std::size_t{16} << 20;
  // Bookkeeping takes about a kilobyte for each input, however short it is.
  std::size_t inputs = 4096;
};

// The bytes of all batches together, if known, for the choice of a backend by "auto". Both ends are files.
using AllInputBytes = std::optional<std::uint64_t>;

// What compressing and restoring share: the engine, and the size of a batch.
class FrameBatchPlan {
 public:
  unsigned threads() const { return threads_; }
  unsigned batches_in_flight() const { return batches_in_flight_; }
  std::size_t most_inputs() const { return most_inputs_; }
  // The most for the inputs of a batch, each counted by input_cost().
  std::size_t input_bytes() const { return input_bytes_; }
  // For the owner, which adds its times for reading and writing.
  TimeLine& time_line() { return engine_.time_line(); }
  void report(StreamReport& report) const;

 protected:
  FrameBatchPlan(const std::string& backend, const std::string& device, const Workload& work,
                 const FrameBatchLimits& limits, const BetweenPieces& between_pieces)
      : engine_(backend, device, work, DeviceTime::kBefore, between_pieces),
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
  // Validates, chooses the backend, plans. Throws what a stream with these options throws.
  explicit FrameCompressor(const CompressOptions& given, const FrameBatchLimits& limits = {},
                           AllInputBytes all_input_bytes = std::nullopt);

  // How many bytes an input of this size counts. If that is more than input_bytes(), no batch can hold it.
  std::uint64_t input_cost(std::uint64_t bytes) const;
  LargeBuffer make_output() const { return engine_.preferred().make_buffer(output_bytes_); }

  // Returns the frames. They are in `output`, valid until its next use. A frame's header has the size of
  // its content unless that is 0. Throws an error of the device family if the engine failed and no other
  // one could redo the work.
  std::vector<std::span<const std::byte>> compress(std::span<const std::span<const std::byte>> inputs,
                                                   LargeBuffer& output);

 private:
  // In a stream's linked frame, every block has its history directly before it in memory; for the first
  // block that is the dictionary. liblz4 writes other bytes if the history lies elsewhere.
  bool brings_dictionary() const {
    return writer_->history_bytes() != 0 && !dictionary_.empty() && format_.dictionary_is_history();
  }

  CompressOptions options_;
  const FrameFormat& format_;
  std::vector<std::byte> dictionary_;
  std::unique_ptr<FrameWriter> writer_;
  FrameRoom frame_room_;
  std::size_t frames_bytes_ =
      0;  // of the output; after these lies what blocks restore to, if that is compared
  std::size_t output_bytes_ = 0;
};

class FrameRestorer : public FrameBatchPlan {
 public:
  explicit FrameRestorer(const RestoreOptions& options, const FrameBatchLimits& limits = {},
                         AllInputBytes all_input_bytes = std::nullopt);

  LargeBuffer make_output() const { return engine_.preferred().make_buffer(output_bytes_); }

  // Returns one element for each input that was processed, from the first one on. That is at least one
  // input, and may be fewer than all: contents can be much longer than inputs, so they may not all fit into
  // `output`. `content` is empty for an input that must be restored as a stream: it is damaged, has linked
  // blocks, or is not a frame.
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
