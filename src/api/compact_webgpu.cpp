// The public functions for compaction on a WebGPU device.
#include <fmt/format.h>

#include <cstddef>
#include <span>
#include <vector>

#include "compact/gather/gather_webgpu.hpp"
#include "compact/scan/scan_webgpu.hpp"
#include "core/status.hpp"
#include "gpu/webgpu/device.hpp"
#include "hemstitch/webgpu.hpp"

namespace hemstitch {

using webgpu::Buffer;
using webgpu::BufferId;
using webgpu::BufferPlan;

namespace {

// Wraps a caller's buffer; it must have room for `least_bytes`.
Buffer wrapped(webgpu::Device& device, void* handle, std::string_view name, std::uint64_t least_bytes) {
  if (handle == nullptr) throw Error(Status::kInvalidOption, fmt::format("{} is NULL", name));
  Buffer buffer = device.wrap(static_cast<WGPUBuffer>(handle));
  if (buffer.bytes() < least_bytes || buffer.bytes() % webgpu::kSlackBytes != 0)
    throw Error(Status::kInvalidOption,
                fmt::format("{} has {} bytes; it needs at least {}, and a multiple of {}", name,
                            buffer.bytes(), least_bytes, webgpu::kSlackBytes));
  return buffer;
}

}  // namespace

void scan_sizes(const WebgpuDevice& on, void* sizes, std::uint32_t count, void* begins) {
  webgpu::Device& device = *on.shared();
  constexpr std::uint64_t kWordBytes = sizeof(std::uint32_t);
  if (sizes == begins) throw Error(Status::kInvalidOption, "sizes and begins are the same buffer; give two");
  webgpu::BufferSet buffers;
  buffers.push_back(wrapped(device, sizes, "sizes", count * kWordBytes));
  buffers.push_back(wrapped(device, begins, "begins", (count + std::uint64_t{1}) * kWordBytes));
  if (count == 0) {  // no step would write the total
    const std::uint32_t total = 0;
    return device.write(buffers[1], std::as_bytes(std::span(&total, 1)));
  }
  BufferPlan plan;
  const BufferId size_id = plan.add("sizes", 0), begin_id = plan.add("begins", 0);
  const webgpu::ScanBuffers scan = webgpu::plan_scan(plan, count);
  // The buffers of the scan's levels are released once the queue no longer needs them.
  device.make_buffers(plan, buffers);
  webgpu::Recording recording;
  webgpu::record_scan(recording, size_id, begin_id, scan, count);
  device.run(recording, buffers);
}

void gather_pieces(const WebgpuDevice& on, const WebgpuGather& gather) {
  webgpu::Device& device = *on.shared();
  if (gather.source == gather.output)
    throw Error(Status::kInvalidOption, "source and output are the same buffer; give two");
  webgpu::BufferSet buffers;
  buffers.push_back(wrapped(device, gather.source, "source", 0));
  buffers.push_back(
      wrapped(device, gather.pieces, "pieces", gather.piece_count * sizeof(webgpu::GatherPiece)));
  buffers.push_back(wrapped(device, gather.begins, "begins",
                            (gather.piece_count + std::uint64_t{1}) * sizeof(std::uint32_t)));
  buffers.push_back(wrapped(device, gather.output, "output", 0));
  webgpu::Recording recording;
  webgpu::record_gather(recording, {{0}, {1}, {2}, {3}}, gather.piece_count, buffers[3].bytes());
  device.run(recording, buffers);
}

}  // namespace hemstitch
