// The kernels of pages, compiled for the processor: those of lz4_pages_cuda.hpp, and level 1. At other levels a page's block is
// written by the reference.
#include <cuda_runtime.h>

#include <algorithm>

#include "format/lz4/compress/lz4_compress_reference.hpp"

namespace hemstitch::cuda {
namespace {

// The shared memory of kernels that get it at their launch.
__shared__ uint4 sh_memory[emulated::kSharedBytes / sizeof(uint4)];

}  // namespace
}  // namespace hemstitch::cuda

#include "format/lz4/compress/lz4_one_pass.cu"
#include "format/lz4/pages/lz4_pages.cu"

namespace hemstitch::cuda {

std::size_t compress_lz4_cuda_scratch_bytes(const DeviceBlocks&, const Lz4Level&) { return 0; }

void compress_lz4_cuda(const DeviceBlocks& blocks, const Lz4Level& level, const DeviceLz4Output& output,
                       void*, std::size_t, cudaStream_t stream) {
  if (one_pass_takes_as_pages(blocks, level)) return compress_pages_one_pass_cuda(blocks, output, stream);
  for (std::uint32_t i = 0; i < blocks.block_count; ++i) {
    const DeviceBlock& block = blocks.d_blocks[i];
    const EncodedBlock encoded =
        compress_lz4_block_reference({std::span(block.d_block, block.block_bytes), 0}, level,
                                     std::span(output.d_outputs[i], output.d_capacities[i]));
    output.d_statuses[i] = static_cast<hemstitch_status>(encoded.status);
    output.d_output_bytes[i] = encoded.bytes;
  }
}

}  // namespace hemstitch::cuda
