// The engine of the WebGPU backend: batches of blocks go through a ring of slots.
//
// A format says as data what a batch takes and which steps make it (format/device_format_webgpu.hpp); the engine
// carries that out. A slot holds everything that a batch in flight needs. It is made on first use and kept, for
// batches of any format and direction. The pipeline calls
// from several threads, each with its own batch; a call takes a free slot or waits for one. While the device
// computes one batch, the thread of another copies its bytes into mapped memory, and the thread of a third
// copies results out. Threads of the caller's arena help with both copies.
//
// Bytes and statuses are the twins', whatever the device. A block whose result cannot be right gets
// kDeviceFault.
#pragma once

#include <memory>

#include "engine/backend.hpp"
#include "gpu/webgpu/device.hpp"

namespace hemstitch::webgpu {

// Three stages: uploading, computing, reading back.
inline constexpr unsigned kSlotCount = 3;

struct EngineOptions {
  unsigned slot_count = kSlotCount;
  // The most data in a submission, histories included; 0: chosen by the device's limits and kind.
  std::uint64_t batch_bytes = 0;
};

std::unique_ptr<BlockEngine> make_engine(std::shared_ptr<Device> device, const EngineOptions& options = {});

// How the device memory of a slot is divided that compresses `bytes` of data in blocks of this size. For printing.
// Throws kInvalidOption if devices do not know the format.
WorkspacePlan device_workspace(Format format, int level, std::uint32_t block_bytes, std::uint64_t bytes);

}  // namespace hemstitch::webgpu
