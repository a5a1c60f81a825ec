// Compressing to DEFLATE in the batch interface on a CUDA device: a caller's arrays become a batch (batch_layout.hpp), the encoder
// writes the DEFLATE data, and kernels here write the format's headers and trailers around it.
//
//   begin_streams  one thread a block: which bytes the checksum covers, and the block's room; no room for a block that was left out
//   end_streams    one thread a block: the header before the data, the trailer behind it, and the status of a block that was left out
//
// No shared memory, no synchronisation.
#include "batch/batch_layout.hpp"
#include "batch/deflate_batch_device.hpp"
#include "format/deflate/compress/deflate_compress_cuda.hpp"
#include "format/deflate/frame/deflate_checksum_cuda.hpp"
#include "gpu/cuda/launch.hpp"

namespace hemstitch {
namespace {

using cuda::BatchLayout;
using cuda::Carver;

constexpr unsigned kThreads = 128;

unsigned grid_for(std::uint32_t count) { return count / kThreads + (count % kThreads != 0); }

struct StreamArrays {
  const std::byte** d_contents;
  std::size_t* d_content_bytes;
  std::size_t* d_capacities;
  std::uint32_t* d_checksums;
  hemstitch_status* d_admitted;
};

__global__ void __launch_bounds__(kThreads)
    begin_streams(const DeviceBlocks blocks, const std::size_t* d_given_capacities, std::size_t capacity,
                  const StreamArrays arrays) {
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= blocks.block_count) return;
  const DeviceBlock block = blocks.d_blocks[i];
  arrays.d_contents[i] = block.d_block;
  arrays.d_content_bytes[i] = block.block_bytes;
  if (d_given_capacities != nullptr) capacity = d_given_capacities[i];
  arrays.d_capacities[i] = arrays.d_admitted[i] == HEMSTITCH_OK ? capacity : 0;
}

__device__ void store_bytes(std::byte* to, std::uint32_t value, unsigned count) {
  for (unsigned i = 0; i < count; ++i) to[i] = static_cast<std::byte>(value >> (8 * i));
}

__global__ void __launch_bounds__(kThreads)
    end_streams(std::uint32_t count, const DeflateStreams streams, const StreamArrays arrays,
                void* const* d_outputs, std::size_t* d_output_bytes, hemstitch_status* d_statuses) {
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= count) return;
  if (arrays.d_admitted[i] != HEMSTITCH_OK) d_statuses[i] = arrays.d_admitted[i];
  if (d_statuses[i] != HEMSTITCH_OK) return;
  auto* const begin = static_cast<std::byte*>(d_outputs[i]);
  std::byte* const end = begin + d_output_bytes[i];
#pragma unroll
  for (std::uint32_t byte = 0; byte < kMostDeflateLeadBytes; ++byte)
    if (byte < streams.lead_bytes) begin[byte] = static_cast<std::byte>(streams.lead[byte]);
  if (streams.lead_has_size)
    store_bytes(begin + streams.lead_bytes - 2, static_cast<std::uint32_t>(d_output_bytes[i] - 1), 2);
  if (streams.checksum == Checksum::kCrc32) {
    store_bytes(end - 8, arrays.d_checksums[i], 4);
    store_bytes(end - 4, static_cast<std::uint32_t>(arrays.d_content_bytes[i]), 4);
  } else if (streams.checksum == Checksum::kAdler32) {
    store_bytes(end - 4, __byte_perm(arrays.d_checksums[i], 0, 0x0123), 4);
  }
}

constexpr cuda::KernelBudget kBeginBudget("batch.begin_streams", "begin_streams",
                                          {.threads = kThreads, .registers = 32});
constexpr cuda::KernelBudget kEndBudget("batch.end_streams", "end_streams",
                                        {.threads = kThreads, .registers = 32});
const cuda::KernelRegistration kBeginRegistration(kBeginBudget, begin_streams);
const cuda::KernelRegistration kEndRegistration(kEndBudget, end_streams);

struct StreamTemp {
  Carver carver;
  BatchLayout layout;
  std::uint64_t* d_first;
  StreamArrays arrays;
  std::size_t stage_bytes;
  std::byte* d_stage;

  StreamTemp(const hemstitch_deflate_blocks& blocks, const DeflateLevel& level, void* d_temp)
      : carver(d_temp),
        layout({.d_inputs = blocks.blocks,
                .d_input_bytes_64 = blocks.block_bytes,
                .d_history_bytes = blocks.history_bytes,
                .count = blocks.count,
                .max_input_bytes = static_cast<std::uint32_t>(blocks.max_block_bytes),
                .max_history_bytes = blocks.max_history_bytes,
                .total_input_bytes = blocks.total_block_bytes},
               carver) {
    d_first = carver.take<std::uint64_t>(std::size_t{blocks.count} + 1);
    arrays.d_contents = carver.take<const std::byte*>(blocks.count);
    arrays.d_content_bytes = carver.take<std::size_t>(blocks.count);
    arrays.d_capacities = carver.take<std::size_t>(blocks.count);
    arrays.d_checksums = carver.take<std::uint32_t>(blocks.count);
    arrays.d_admitted = carver.take<hemstitch_status>(blocks.count);
    stage_bytes = cuda::compress_deflate_cuda_scratch_bytes(layout.blocks(), level);
    d_stage = carver.take<std::byte>(stage_bytes);
  }
};

}  // namespace

std::size_t deflate_compress_temp_bytes(const hemstitch_deflate_blocks& blocks,
                                        const DeflateStreams& streams) {
  cuda::need_device();
  return StreamTemp(blocks, streams.level, nullptr).carver.bytes();
}

void deflate_compress_async(const hemstitch_deflate_blocks& blocks, const DeflateStreams& streams,
                            void* const* d_outputs, const std::size_t* d_capacities,
                            std::size_t* d_output_bytes, hemstitch_status* d_statuses, BatchTemp temp,
                            hemstitch_stream stream) {
  cuda::need_device();
  const StreamTemp memory(blocks, streams.level, temp.d_temp);
  cuda::check_scratch("deflate_compress", memory.carver.bytes(), temp.d_temp, temp.bytes);
  if (blocks.count == 0) return;
  const StreamArrays& arrays = memory.arrays;
  memory.layout.lay_out(memory.d_first, {}, nullptr, arrays.d_admitted, stream);
  const DeviceBlocks batch = memory.layout.blocks();
  const unsigned grid = grid_for(blocks.count);
  cuda::launch({.kernel = kBeginBudget, .grid = grid, .stream = stream}, begin_streams, batch, d_capacities,
               streams.bound(blocks.max_block_bytes), arrays);
  cuda::compress_deflate_cuda(batch, streams.level, DeflateEnd::kFinal,
                              {.d_outputs = reinterpret_cast<std::byte* const*>(d_outputs),
                               .d_capacities = arrays.d_capacities,
                               .d_output_bytes = d_output_bytes,
                               .d_statuses = d_statuses,
                               .lead_bytes = streams.lead_bytes,
                               .trail_bytes = streams.trail_bytes},
                              memory.d_stage, memory.stage_bytes, stream);
  if (streams.checksum != Checksum::kNone)
    deflate_checksums_async(streams.checksum, reinterpret_cast<const void* const*>(arrays.d_contents),
                            arrays.d_content_bytes, blocks.count, arrays.d_checksums, stream);
  cuda::launch({.kernel = kEndBudget, .grid = grid, .stream = stream}, end_streams, blocks.count, streams,
               arrays, d_outputs, d_output_bytes, d_statuses);
}

void deflate_checksums_async(Checksum kind, const void* const* d_spans, const std::size_t* d_span_bytes,
                             std::uint64_t count, std::uint32_t* d_checksums, hemstitch_stream stream) {
  cuda::need_device();
  (kind == Checksum::kCrc32 ? cuda::crc32_spans_cuda : cuda::adler32_spans_cuda)(
      reinterpret_cast<const std::byte* const*>(d_spans), d_span_bytes, count, d_checksums, stream);
}

}  // namespace hemstitch
