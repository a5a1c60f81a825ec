// Finds the place of each block's output: a thread a block of the batch. No shared memory, no synchronisation.
// deflate_encoder_cuda.hpp has everything else.
#include "compact/scan/scan_cuda.hpp"
#include "format/deflate/compress/deflate_compress_cuda.hpp"
#include "format/deflate/compress/deflate_encoder_cuda.hpp"
#include "gpu/cuda/launch.hpp"
#include "match/common/cuda/device_work.hpp"

namespace hemstitch::cuda {
namespace {

constexpr unsigned kThreads = 128;

__global__ void __launch_bounds__(kThreads)
    choose_outputs(std::uint32_t count, const std::uint32_t* d_sizes, const DeviceDeflateOutput output,
                   std::byte** d_targets) {
  const std::uint32_t index = blockIdx.x * kThreads + threadIdx.x;
  if (index >= count) return;
  const std::size_t bytes = std::size_t{output.lead_bytes} + d_sizes[index] + output.trail_bytes;
  const bool fits = bytes <= output.d_capacities[index];
  d_targets[index] = fits ? output.d_outputs[index] + output.lead_bytes : nullptr;
  output.d_output_bytes[index] = fits ? bytes : 0;
  output.d_statuses[index] = fits ? HEMSTITCH_OK : HEMSTITCH_OUTPUT_TOO_SMALL;
}

__global__ void __launch_bounds__(kThreads) size_rooms(std::uint32_t count, const std::uint32_t* d_sizes,
                                                       const DeviceSpan span, std::uint32_t* d_rooms) {
  const std::uint32_t index = blockIdx.x * kThreads + threadIdx.x;
  if (index >= count) return;
  span.d_sizes[index] = d_sizes[index];
  d_rooms[index] = span.lead_bytes + d_sizes[index] + span.trail_bytes;
}

__global__ void __launch_bounds__(kThreads)
    choose_rooms(std::uint32_t count, const DeviceSpan span, std::byte** d_targets) {
  const std::uint32_t index = blockIdx.x * kThreads + threadIdx.x;
  if (index >= count) return;
  const bool fits = span.d_offsets[index + 1] <= span.capacity_bytes;
  d_targets[index] = fits ? span.d_span + span.d_offsets[index] + span.lead_bytes : nullptr;
  span.d_statuses[index] = fits ? HEMSTITCH_OK : HEMSTITCH_OUTPUT_TOO_SMALL;
}

constexpr KernelLimits kLimits{.threads = kThreads, .registers = 32};
constexpr KernelBudget kOutputsBudget("deflate.choose_outputs", "choose_outputs", kLimits);
constexpr KernelBudget kSizeBudget("deflate.size_rooms", "size_rooms", kLimits);
constexpr KernelBudget kRoomsBudget("deflate.choose_rooms", "choose_rooms", kLimits);
const KernelRegistration kOutputsRegistration(kOutputsBudget, choose_outputs);
const KernelRegistration kSizeRegistration(kSizeBudget, size_rooms);
const KernelRegistration kRoomsRegistration(kRoomsBudget, choose_rooms);

constexpr unsigned grid_of(std::uint32_t count) { return (count + kThreads - 1) / kThreads; }

struct ToOutputs {
  Carver carver;
  DeflateEncoder encoder;
  std::byte** d_targets;

  ToOutputs(const DeviceBlocks& blocks, const DeflateLevel& level, DeflateEnd end, void* d_scratch)
      : carver(d_scratch), encoder(blocks, level, end, carver) {
    d_targets = carver.take<std::byte*>(blocks.block_count);
  }
};

struct ToSpan {
  ToOutputs to;
  std::uint32_t* d_rooms;
  std::size_t scan_bytes;
  std::byte* d_scan;

  ToSpan(const DeviceBlocks& blocks, const DeflateLevel& level, DeflateEnd end, void* d_scratch)
      : to(blocks, level, end, d_scratch), scan_bytes(scan_sizes_cuda_scratch_bytes(blocks.block_count)) {
    d_rooms = to.carver.take<std::uint32_t>(blocks.block_count);
    d_scan = to.carver.take<std::byte>(scan_bytes);
  }
};

}  // namespace

std::size_t compress_deflate_cuda_scratch_bytes(const DeviceBlocks& blocks, const DeflateLevel& level) {
  return ToOutputs(blocks, level, DeflateEnd::kFinal, nullptr).carver.bytes();
}

void compress_deflate_cuda(const DeviceBlocks& blocks, const DeflateLevel& level, DeflateEnd end,
                           const DeviceDeflateOutput& output, void* d_scratch, std::size_t scratch_bytes,
                           cudaStream_t stream) {
  const ToOutputs to(blocks, level, end, d_scratch);
  check_scratch("compress_deflate", to.carver.bytes(), d_scratch, scratch_bytes);
  to.encoder.find_and_parse(stream);
  launch({.kernel = kOutputsBudget,
          .grid = grid_of(blocks.block_count),
          .stream = stream,
          .work = work_of(blocks)},
         choose_outputs, blocks.block_count, to.encoder.d_sizes(), output, to.d_targets);
  to.encoder.pack(to.d_targets, stream);
}

std::size_t compress_deflate_span_cuda_scratch_bytes(const DeviceBlocks& blocks, const DeflateLevel& level) {
  return ToSpan(blocks, level, DeflateEnd::kFinal, nullptr).to.carver.bytes();
}

void compress_deflate_span_cuda(const DeviceBlocks& blocks, const DeflateLevel& level, DeflateEnd end,
                                const DeviceSpan& span, void* d_scratch, std::size_t scratch_bytes,
                                cudaStream_t stream) {
  const ToSpan to_span(blocks, level, end, d_scratch);
  const ToOutputs& to = to_span.to;
  check_scratch("compress_deflate_span", to.carver.bytes(), d_scratch, scratch_bytes);
  to.encoder.find_and_parse(stream);
  const unsigned grid = grid_of(blocks.block_count);
  launch({.kernel = kSizeBudget, .grid = grid, .stream = stream, .work = work_of(blocks)}, size_rooms,
         blocks.block_count, to.encoder.d_sizes(), span, to_span.d_rooms);
  scan_sizes_cuda(to_span.d_rooms, blocks.block_count, span.d_offsets, to_span.d_scan, to_span.scan_bytes,
                  stream);
  launch({.kernel = kRoomsBudget, .grid = grid, .stream = stream, .work = work_of(blocks)}, choose_rooms,
         blocks.block_count, span, to.d_targets);
  to.encoder.pack(to.d_targets, stream);
}

}  // namespace hemstitch::cuda
