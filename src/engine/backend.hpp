// A backend is a place where blocks are compressed and restored. It has a name, a description and, when it
// cannot be used here, the reason.
//
// A backend makes a BlockEngine for each run. The pipeline calls the engine from several threads at once,
// each call with its own batch, and a call returns when its batch is done. So upload, compute and download
// overlap because several batches are in flight; an engine needs no threads of its own. The output of a call
// never depends on earlier calls.
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
#include "format/codec.hpp"
#include "hemstitch/choice.hpp"

namespace hemstitch {

// The blocks that an engine will get, as far as they determine how much device memory it needs.
struct BlockWork {
  Direction direction = Direction::kCompress;
  Format format = Format::kLz4;
  std::uint64_t block_bytes = 0;    // of a full block; restoring: of its content
  std::uint64_t history_bytes = 0;  // the most history of a block
  bool linked = false;              // compressing: histories are the content before the blocks
  std::uint64_t more_blocks =
      0;                // blocks in a batch beyond bytes / block_bytes, since many blocks are shorter
  int level = 1;        // compressing
  bool verify = false;  // compressing: the blocks are restored as well
};

class BlockEngine {
 public:
  virtual ~BlockEngine() = default;

  // How many input bytes a call should have to be efficient. A batch has at least one block.
  virtual std::size_t preferred_batch_bytes() const = 0;
  // How many blocks a call should have, whatever their size: a device works on many blocks at once.
  virtual std::size_t preferred_batch_blocks() const { return 1; }
  // How many batches should be in flight at once with this number of host threads.
  virtual unsigned preferred_batches_in_flight(unsigned threads) const = 0;
  // Host memory for the inputs and outputs of tasks. An engine with a device transfers directly from and to
  // this memory if one such buffer holds all inputs of a batch and another one all outputs, in the order of
  // the tasks. Throws std::bad_alloc.
  virtual LargeBuffer make_buffer(std::size_t bytes) const { return LargeBuffer(bytes); }
  // Further host memory that the engine may need for a task of these sizes while it is in flight.
  virtual std::size_t staging_bytes(std::size_t /*input_bytes*/, std::size_t /*output_bytes*/) const {
    return 0;
  }

  // How much device memory a batch takes.
  virtual DeviceNeeds device_needs(const BlockWork& /*work*/) const { return {}; }
  // From now on the engine adds to `line` the times that its device measures for each call. `line` must
  // outlive the engine. Returns false if there is no such clock; then the whole call counts as kKernel.
  virtual bool keep_time(TimeLine& /*line*/) { return false; }
  // For an engine over several devices: which devices it no longer uses, and why. Empty if all work.
  virtual std::string lost_devices() const { return {}; }

  // Gives every task a status. Throws Error (device family) if the batch failed as a whole; the outputs are
  // unspecified then.
  virtual void compress(std::span<BlockTask> tasks, const EncodeParameters& parameters) = 0;
  virtual void restore(std::span<BlockTask> tasks, Format format) = 0;
  // Whether restore() takes this format, of which the engine may only have decoders of streams.
  virtual bool restores_blocks(Format /*format*/) const { return true; }
  // Whether it can restore what it compresses, to compare it: with histories too.
  virtual bool verifies_blocks(Format format) const { return restores_blocks(format); }
  // An encoder for all of a frame, or null if the engine has none.
  virtual std::unique_ptr<StreamEncoder> make_stream_encoder(Format /*format*/,
                                                             const StreamEncoding& /*encoding*/) {
    return nullptr;
  }
  // How much memory a decoder of the frame's stream would take.
  virtual StreamMemory stream_memory(Format /*format*/, const FrameHeader& /*header*/,
                                     const StreamMeans& /*means*/) const {
    return {};
  }
  // A decoder for a frame whose blocks cannot be told apart, or null if the engine has none. `history` is
  // the dictionary; it must outlive the decoder.
  virtual std::unique_ptr<StreamDecoder> make_stream_decoder(Format /*format*/, const FrameHeader& /*header*/,
                                                             std::span<const std::byte> /*history*/,
                                                             const StreamMeans& /*means*/) {
    return nullptr;
  }
};

class Backend {
 public:
  virtual ~Backend() = default;

  virtual std::string_view name() const = 0;

  // Whether the backend has devices to choose from. `device` in the functions below names one of them
  // (gpu/device_names.hpp); empty means the best one. Backends without devices ignore it.
  virtual bool has_devices() const { return false; }
  virtual std::string description(std::string_view device) const = 0;
  // The name that the driver gives to the device; empty for the processor.
  virtual std::string device_name(std::string_view /*device*/) const { return {}; }
  // Why this backend cannot be used here and how to fix it; nothing if it can be used.
  virtual std::optional<std::string> unavailable_reason(std::string_view device) const = 0;
  // Why the backend makes no engines although it can be used: it runs single stages only. Nothing for a
  // backend that compresses and restores.
  virtual std::optional<std::string> no_engine_reason() const { return std::nullopt; }
  // Whether `auto` may choose this backend if it pays off. Never true for the twins.
  virtual bool chosen_by_auto() const = 0;
  // The facts by which `auto` chooses (hemstitch/choice.hpp); they say if an adapter is software. Call it
  // only if the device can be used.
  virtual BackendFacts facts(std::string_view /*device*/) const { return {.backend = std::string(name())}; }
  virtual std::optional<BackendFigures> figures(const BackendFacts& facts, Format format) const {
    return default_figures(facts, format);
  }
  // Whether this process has started the device already.
  virtual bool is_started() const { return false; }
  // Whether an engine is made so quickly that nothing should be done meanwhile.
  virtual bool starts_at_once() const { return is_started(); }
  // The backend that redoes a block that failed here, if the user named this backend.
  virtual std::string_view fallback_name() const = 0;

  // Whether its engines compress, or restore, blocks of this format, or frames of it whose blocks cannot be told apart.
  virtual bool supports(Format format, Direction direction) const = 0;
  // Whether its engines make decoders for frames whose blocks cannot be told apart.
  virtual bool restores_streams() const { return false; }
  bool takes(const Workload& work) const { return !work.format || supports(*work.format, work.direction); }
  virtual std::unique_ptr<BlockEngine> make_engine(std::string_view device) const = 0;

  // Lines for tuning, such as how fully its kernels use the device. May take a while.
  virtual std::vector<std::string> details(std::string_view /*device*/) const { return {}; }
};

// Whether it writes the project's own bytes, which the twins define.
inline bool writes_own_bytes(const Backend& backend) { return backend.fallback_name() == "reference"; }

}  // namespace hemstitch
