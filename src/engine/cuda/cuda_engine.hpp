// The engine of the `cuda` backend: batches of blocks in host memory, compressed and restored on an NVIDIA GPU, with
// the bytes and statuses of the `reference` engine.
//
// Slots. A call takes one of three slots: a stream, device memory, and pinned memory at both ends. What stands
// in make_buffer()'s memory is transferred from and to where it is; all else is copied into pinned memory and out of it by
// the calling thread. Transfers and kernels run on the slot's stream. So three calls from three threads overlap: one
// uploads while the next one computes and the third downloads. A fourth waits for a slot. Slots belong to the device, not to an engine: pinning memory takes longer than compressing it, and a tool that
// works on many files makes an engine for each.
//
//   call:   stage | upload | kernels | sizes down | results down | hand out
//           host    stream ------------------------------------>   host
//
// Sizes come down first, so that only bytes that hold results do.
//
// Time. Events on the slot's stream say when uploads, kernels and downloads began and ended (core/time_line.hpp). A stage's time
// begins when the one before it is over: another slot's work may be what the device does first.
//
// Streams. What is one stream of DEFLATE goes by pieces of tens of megabytes instead, in memory of its own (cuda_pieces.hpp), since each of them
// needs the one before.
//
// Failures. An error of CUDA is thrown as an Error of the device family: the tasks are unspecified then, the caller's
// input is untouched, and the next call starts afresh (after a lost device it fails again, at once). Where memory runs out, the
// batch is halved until a single block does not fit. A block's own failure stands in its status.
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
  // The device outlives it.
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
  // Streams of DEFLATE, by pieces (cuda_pieces.hpp); what is too short for that, or has no memory here, by the processor.
  StreamMemory stream_memory(Format format, const StreamMeans& means) const override;
  std::unique_ptr<StreamDecoder> make_stream_decoder(Format format, std::span<const std::byte> history,
                                                     const StreamMeans& means) override;

  // Gives back the device memory that slots not in use keep for later calls.
  void release_memory();

 private:
  std::optional<std::uint64_t> free_bytes() const;
  std::uint64_t stream_limit_bytes(const StreamMeans& means) const;

  Device& device_;
  EngineSlots& slots_;
  std::unique_ptr<DeviceClock> clock_;  // where the time is kept
};

}  // namespace hemstitch::cuda
