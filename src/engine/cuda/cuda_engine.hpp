// The engine of the `cuda` backend. It compresses and restores batches of blocks in host memory on an NVIDIA
// GPU, with the bytes and statuses of the `reference` engine.
//
// Slots. A call takes one of five slots. A slot is a stream, device memory, and pinned memory at both ends.
// Data in memory from make_buffer() is transferred directly; the calling thread copies all other data through
// pinned memory. Transfers and kernels run on the slot's stream. So five calls from five threads overlap:
// one uploads, one downloads and the others compute. A sixth call waits for a slot. Slots belong to the
// device, not to an engine, because pinning memory takes longer than compressing it, and a tool that
// processes many files makes an engine for each.
//
//   call:   stage | upload | kernels | sizes down | results down | hand out
//           host    stream ------------------------------------>   host
//
// Sizes are downloaded first, so that only bytes that hold results are downloaded after them.
//
// Time. Events on the slot's stream record when uploads, kernels and downloads began and ended
// (core/time_line.hpp). A stage begins when the stage before it ends, even if the device works on another
// slot first.
//
// Streams. One long stream goes in pieces of tens of megabytes instead, in memory of its own, since each piece needs
// the one before. Its format makes the decoder (format/device_format.hpp).
//
// Failures. A CUDA error is thrown as an Error of the device family. The tasks are unspecified then, the
// caller's input is unchanged, and the next call starts afresh (after a lost device it fails at once). If
// memory runs out, the batch is halved, down to a single block. A failure of one block is in its status.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "engine/backend.hpp"

namespace hemstitch::cuda {

class Device;
class EngineSlots;
class DeviceClock;

class CudaEngine : public BlockEngine {
 public:
  // The device must outlive the engine.
  explicit CudaEngine(Device& device);
  ~CudaEngine() override;

  std::size_t preferred_batch_bytes() const override;
  std::size_t preferred_batch_blocks() const override;
  unsigned preferred_batches_in_flight(unsigned threads) const override;
  LargeBuffer make_buffer(std::size_t bytes) const override;
  std::size_t staging_bytes(std::size_t input_bytes, std::size_t output_bytes) const override;
  DeviceNeeds device_needs(const BlockWork& work) const override;
  bool keep_time(TimeLine& line) override;

  void compress(std::span<BlockTask> tasks, const EncodeParameters& parameters) override;
  void restore(std::span<BlockTask> tasks, Format format) override;
  bool restores_blocks(Format format) const override;
  bool verifies_blocks(Format format) const override;
  // The processor restores streams that are too short, or that find no memory here.
  StreamMemory stream_memory(Format format, const FrameHeader& header,
                             const StreamMeans& means) const override;
  std::unique_ptr<StreamDecoder> make_stream_decoder(Format format, const FrameHeader& header,
                                                     std::span<const std::byte> history,
                                                     const StreamMeans& means) override;

  // Frees the device memory that unused slots keep for later calls.
  void release_memory();

 private:
  std::optional<std::uint64_t> free_bytes() const;
  std::uint64_t stream_limit_bytes(const StreamMeans& means) const;

  Device& device_;
  EngineSlots& slots_;
  std::unique_ptr<DeviceClock> clock_;  // set if the engine keeps the time
};

}  // namespace hemstitch::cuda
