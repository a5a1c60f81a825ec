// gather: the copy of pieces/copy_pieces.cuh, into the span. CPU twin: gather_cpu.cpp.
#include "compact/gather/gather_cuda.hpp"
#include "compact/pieces/copy_pieces.cuh"
#include "gpu/cuda/launch.hpp"
#include "gpu/cuda/scratch.hpp"

namespace hemstitch::cuda {
namespace {

constexpr KernelBudget kGatherBudget("gather.copy", "copy_pieces",
                                     {.threads = kCopyPiecesThreads, .registers = 40, .shared_bytes = 8192});
const KernelRegistration kGatherRegistration(kGatherBudget, copy_pieces<GatheredPieces>);

}  // namespace

std::size_t gather_pieces_cuda_scratch_bytes(std::uint64_t) { return 0; }

void gather_pieces_cuda(const std::byte* const* d_sources, const std::uint32_t* d_sizes,
                        const std::uint64_t* d_offsets, std::uint64_t count, std::byte* d_output,
                        void* d_scratch, std::size_t scratch_bytes, cudaStream_t stream) {
  check_scratch("gather", gather_pieces_cuda_scratch_bytes(count), d_scratch, scratch_bytes);
  if (count == 0) return;
  launch({.kernel = kGatherBudget, .grid = kCopyPiecesBlocks, .stream = stream}, copy_pieces<GatheredPieces>,
         PieceList{d_sizes, d_offsets, count}, GatheredPieces{d_sources, d_output});
}

}  // namespace hemstitch::cuda
