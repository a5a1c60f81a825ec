// A backend: where blocks are compressed and restored. An object with a name, a description and, when it
// cannot be used here, the reason.
//
// A BlockEngine is what a backend makes for one run. The pipeline calls it from several threads at once, each
// call with a batch of its own, and each call returns when its batch is done: overlap of upload, compute and
// download comes from batches in flight, not from an engine's own threads. An engine keeps no state between
// calls that shows in its output.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/large_buffer.hpp"
#include "core/status.hpp"
#include "core/time_line.hpp"
#include "core/workspace.hpp"
#include "format/stream_decoder.hpp"
#include "hemstitch/choice.hpp"

namespace hemstitch {

// One block of a batch, as data: the caller fills the upper part, the engine the lower one.
struct BlockTask {
  std::span<const std::byte> input;    // the block: raw bytes to compress, or a block's data to restore
  std::span<const std::byte> history;  // what stands before the raw block, at most the last 64 KB of it
  // Exactly the room that may be used: as much as the format gives (FrameWriter::data_room_bytes()). Where the outputs may be moved (EncodeParameters), the engine sets this to where the
  // data came to stand.
  std::span<std::byte> output;

  std::size_t output_bytes = 0;  // bytes written, when status is kOk
  // Of the last one, from the lowest bit on: those of a block that ends inside a byte. The others are 0.
  unsigned last_byte_bits = 8;
  Status status = Status::kInternal;  // kOutputTooSmall: a block that does not fit into `output`
};

struct EncodeParameters {
  Format format = Format::kLz4;
  int level = 1;                        // kMinLevel..kMaxLevel
  int acceleration = 0;                 // 0: off; see CompressOptions
  std::size_t block_bytes = 256 << 10;  // the frame's block size; a task may be shorter

  // Of the memory around each task's output: so much before and behind it is the frame's, and stays free. Where outputs may be
  // moved, those of a batch stand in one piece of memory, in order, each with room for its input at least, and nothing but that
  // room and what is the frame's between; the engine may then put the data closer together. One that did leaves no room for a block to
  // be redone alone: where a block fails, it throws.
  std::size_t before_block_bytes = 0;
  std::size_t behind_block_bytes = 0;
  bool movable_outputs = false;
};

// What blocks an engine will be given, as far as a device's memory follows from it.
struct BlockWork {
  Direction direction = Direction::kCompress;
  Format format = Format::kLz4;
  std::uint64_t block_bytes = 0;    // of a full one; restoring: of its content
  std::uint64_t history_bytes = 0;  // that a block may bring
  std::uint64_t more_blocks =
      0;                // in a batch besides the full ones that its bytes make, since many are shorter
  int level = 1;        // compressing
  bool verify = false;  // compressing: the blocks are restored as well
};

class BlockEngine {
 public:
  virtual ~BlockEngine() = default;

  // How many input bytes one call should carry to be efficient. The pipeline puts at least one block in a
  // batch.
  virtual std::size_t preferred_batch_bytes() const = 0;
  // And how many blocks, however large they are: a device works on many at once.
  virtual std::size_t preferred_batch_blocks() const { return 1; }
  // How many batches should be in flight at once, given the number of host threads.
  virtual unsigned preferred_batches_in_flight(unsigned threads) const = 0;
  // Host memory for the inputs and outputs of tasks. An engine with a device copies from and to its own kind by itself, where
  // all inputs of a batch stand in one such buffer, and all outputs in one, in the order of the tasks. Throws std::bad_alloc.
  virtual LargeBuffer make_buffer(std::size_t bytes) const { return LargeBuffer(bytes); }
  // Host memory besides that it may hold for a task with so much input and room, while the task is in flight.
  virtual std::size_t staging_bytes(std::size_t /*input_bytes*/, std::size_t /*output_bytes*/) const {
    return 0;
  }

  // What a batch takes of the device's memory.
  virtual DeviceNeeds device_needs(const BlockWork& /*work*/) const { return {}; }
  // Asks it to tell `line`, which outlives it, what its device's clock says of each call from now on. False where there is no such
  // clock: the whole call counts as kKernel then.
  virtual bool keep_time(TimeLine& /*line*/) { return false; }
  // Of an engine over several devices: which it goes on without, and why; empty where all work.
  virtual std::string lost_devices() const { return {}; }

  // Every task ends with a status. Throws Error (device family) when the batch as a whole failed; the tasks'
  // outputs are unspecified then.
  virtual void compress(std::span<BlockTask> tasks, const EncodeParameters& parameters) = 0;
  virtual void restore(std::span<BlockTask> tasks, Format format) = 0;
  // How much memory a decoder of streams takes of what it may use.
  virtual StreamMemory stream_memory(Format /*format*/, const StreamMeans& /*means*/) const { return {}; }
  // For a frame of the format whose blocks cannot be told apart; null where the engine restores none. `history` is the dictionary,
  // and stays.
  virtual std::unique_ptr<StreamDecoder> make_stream_decoder(Format /*format*/,
                                                             std::span<const std::byte> /*history*/,
                                                             const StreamMeans& /*means*/) {
    return nullptr;
  }
};

class Backend {
 public:
  virtual ~Backend() = default;

  virtual std::string_view name() const = 0;

  // Whether there are devices to choose from. `device`, below, says which is meant (gpu/device_names.hpp), and is empty for
  // the best one; backends that have none pay no regard to it.
  virtual bool has_devices() const { return false; }
  virtual std::string description(std::string_view device) const = 0;
  // Of the device, as its driver calls it; empty for the processor.
  virtual std::string device_name(std::string_view /*device*/) const { return {}; }
  // Why this backend cannot be used here and what mends it; nothing when it can.
  virtual std::optional<std::string> unavailable_reason(std::string_view device) const = 0;
  // Why it makes no engine though it can be used: it runs single stages only. Nothing for those that compress and
  // restore.
  virtual std::optional<std::string> no_engine_reason() const { return std::nullopt; }
  // Whether `auto` may choose it, where it pays off: there may be hardware behind it. Never for the twins.
  virtual bool chosen_by_auto() const = 0;
  // What `auto` chooses by (hemstitch/choice.hpp); a software adapter says that it is one. Asked where the device can be used.
  virtual BackendFacts facts(std::string_view /*device*/) const { return {.backend = std::string(name())}; }
  virtual std::optional<BackendFigures> figures(const BackendFacts& facts, Format format) const {
    return default_figures(facts, format);
  }
  // Whether this process has paid for the device's start already.
  virtual bool is_started() const { return false; }
  // Whether an engine is made so soon that nothing is worth doing meanwhile.
  virtual bool starts_at_once() const { return is_started(); }
  // The backend that redoes a block which failed here, when this backend was asked for by name.
  virtual std::string_view fallback_name() const = 0;

  // Whether its engines compress, or restore, blocks of that format.
  virtual bool supports(Format format, Direction direction) const = 0;
  // Whether its engines make decoders for frames whose blocks cannot be told apart.
  virtual bool restores_streams() const { return false; }
  bool takes(const Workload& work) const { return !work.format || supports(*work.format, work.direction); }
  virtual std::unique_ptr<BlockEngine> make_engine(std::string_view device) const = 0;

  // Lines for people who tune it, e.g. how full its kernels keep the device. May take a moment.
  virtual std::vector<std::string> details(std::string_view /*device*/) const { return {}; }
};

}  // namespace hemstitch
