// scatter: the copy of pieces/copy_pieces.cuh, out of the span. CPU twin: scatter_cpu.cpp.
#include "compact/pieces/copy_pieces.cuh"
#include "compact/scatter/scatter_cuda.hpp"
#include "gpu/cuda/launch.hpp"
#include "gpu/cuda/scratch.hpp"

namespace hemstitch::cuda {
namespace {

constexpr KernelBudget kScatterBudget("scatter.copy", "copy_pieces",
                                      {.threads = kCopyPiecesThreads, .registers = 40, .shared_bytes = 8192});
const KernelRegistration kScatterRegistration(kScatterBudget, copy_pieces<ScatteredPieces>);

}  // namespace

std::size_t scatter_pieces_cuda_scratch_bytes(std::uint64_t) { return 0; }

void scatter_pieces_cuda(const std::byte* d_input, const std::uint64_t* d_offsets,
                         const std::uint32_t* d_sizes, std::uint64_t count, std::byte* const* d_targets,
                         void* d_scratch, std::size_t scratch_bytes, cudaStream_t stream) {
  check_scratch("scatter", scatter_pieces_cuda_scratch_bytes(count), d_scratch, scratch_bytes);
  if (count == 0) return;
  launch({.kernel = kScatterBudget, .grid = kCopyPiecesBlocks, .stream = stream},
         copy_pieces<ScatteredPieces>, PieceList{d_sizes, d_offsets, count},
         ScatteredPieces{d_input, d_targets});
}

}  // namespace hemstitch::cuda
