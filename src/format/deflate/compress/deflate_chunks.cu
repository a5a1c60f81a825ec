// Thread mapping: a thread a block of the batch, which fills the places from its first one to the next block's. No shared memory, no
// synchronisation. Work: O(1) a chunk.
#include "format/deflate/compress/deflate_stages_cuda.hpp"
#include "gpu/cuda/kernel_trace.hpp"
#include "gpu/cuda/launch.hpp"
#include "match/common/cuda/device_work.hpp"

namespace hemstitch::cuda {
namespace {

constexpr unsigned kThreads = 128;

__global__ void __launch_bounds__(kThreads)
    cut_chunks(const DeviceBlocks blocks, const DeflateChunkPlaces places, DeviceBlock* d_chunks,
               DeflateChunkOf* d_of) {
  const std::uint32_t index = blockIdx.x * kThreads + threadIdx.x;
  if (index >= blocks.block_count) return;
  trace_mark(kTraceCutBlock, index);
  const DeviceBlock block = blocks.d_blocks[index];
  const std::uint32_t first = places.first(block.position, index);
  const std::uint32_t end = index + 1 < blocks.block_count
                                ? places.first(blocks.d_blocks[index + 1].position, index + 1)
                                : places.count;
  // If the first block's position is not 0, there are places before its first one.
  for (std::uint32_t place = 0; index == 0 && place < first; ++place) {
    d_chunks[place] = {block.d_block, 0, 0, 0};
    d_of[place] = {DeflateChunkOf::kNoBlock, 0};
  }
  const std::uint32_t count = deflate_chunk_count(block.block_bytes);
  for (std::uint32_t place = first; place < end; ++place) {
    const std::uint32_t chunk = place - first;
    if (chunk >= count) {
      d_chunks[place] = {block.d_block + block.block_bytes, 0, 0, block.position + block.block_bytes};
      d_of[place] = {DeflateChunkOf::kNoBlock, 0};
      continue;
    }
    constexpr auto kChunkBytes = static_cast<std::uint32_t>(kDeflateChunkBytes);
    const std::uint32_t begin = chunk * kChunkBytes;
    d_chunks[place] = {block.d_block + begin, min(kChunkBytes, block.block_bytes - begin),
                       min(kDeflateWindowBytes, block.history_bytes + begin), block.position + begin};
    d_of[place] = {index, begin};
  }
}

constexpr KernelBudget kCutBudget("deflate.cut_chunks", "cut_chunks", {.threads = kThreads, .registers = 48});
const KernelRegistration kCutRegistration(kCutBudget, cut_chunks);

}  // namespace

void cut_deflate_chunks_cuda(const DeviceBlocks& blocks, const DeviceChunks& chunks, DeviceBlock* d_chunks,
                             DeflateChunkOf* d_of, cudaStream_t stream) {
  launch({.kernel = kCutBudget,
          .grid = (blocks.block_count + kThreads - 1) / kThreads,
          .stream = stream,
          .work = work_of(blocks)},
         cut_chunks, blocks, chunks.places, d_chunks, d_of);
}

}  // namespace hemstitch::cuda
