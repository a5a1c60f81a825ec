// The engine of the WebGPU backend: batches of blocks through a ring of slots.
//
// A slot holds all that a batch in flight needs, made at its first use and kept. The pipeline calls from several threads,
// each with a batch of its own; a call takes a free slot, or waits for one. While the device computes one batch, the thread
// of another copies its bytes into mapped memory, and that of a third copies results out; threads of the caller's arena help both.
//
// Bytes and statuses are the twins', whatever the device. A block whose result cannot be right gets kDeviceFault.
#pragma once

#include <memory>

#include "engine/backend.hpp"
#include "gpu/webgpu/device.hpp"

namespace hemstitch::webgpu {

// Slots of a ring: uploading, computing, reading back.
inline constexpr unsigned kSlotCount = 3;

struct EngineOptions {
  unsigned slot_count = kSlotCount;
  // The most data of one submission, histories included; 0: what the device's limits and kind suggest.
  std::uint64_t batch_bytes = 0;
};

std::unique_ptr<BlockEngine> make_engine(std::shared_ptr<Device> device, const EngineOptions& options = {});

// How the device memory of a slot is divided: `bytes` of data in blocks of that size. For people who plan.
WorkspacePlan device_workspace(std::uint64_t block_bytes, std::uint64_t bytes);

}  // namespace hemstitch::webgpu
