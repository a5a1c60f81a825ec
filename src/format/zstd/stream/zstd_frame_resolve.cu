// Turns the symbols of a piece into its content, as the last stage of restoring one frame (zstd_frame_cuda.hpp).
// Thread blocks begin in about the order of the content.
#include "format/zstd/restore/zstd_resolve.cuh"
#include "format/zstd/stream/zstd_frame_stages.cuh"
#include "gpu/cuda/launch.hpp"

namespace hemstitch::cuda {
namespace {

constexpr unsigned kWarps = 8;

// Mapping: a warp for 128 bytes. Shared memory: 128 bytes a warp. Synchronisation inside of warps alone (resolve_zstd_bytes()). Work: linear in content,
// times the steps of the longest chain of a warp. CPU twin: resolve_zstd_symbols().
__global__ void __launch_bounds__(32 * kWarps) resolve_zstd_frame(const ZstdFrameWork work) {
  __shared__ std::uint32_t sh_words[kWarps][kZstdResolvedBytes / 4];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const ZstdFramePiece& piece = work.piece;
  resolve_zstd_bytes({work.d_symbols, reinterpret_cast<std::uint8_t*>(piece.d_content),
                      work.d_result->content_bytes, piece.history_bytes},
                     (std::uint64_t{blockIdx.x} * kWarps + warp) * kZstdResolvedBytes, sh_words[warp], lane);
}

constexpr KernelBudget kResolveBudget("zstd_frame.resolve", "resolve_zstd_frame",
                                      {.threads = 32 * kWarps,
                                       .registers = 40,
                                       .shared_bytes = kWarps * kZstdResolvedBytes});
const KernelRegistration kResolveRegistration(kResolveBudget, resolve_zstd_frame);

}  // namespace

void launch_zstd_frame_resolve(const ZstdFrameWork& work, cudaStream_t stream) {
  // As if the content began at the worst address.
  constexpr std::uint64_t kBytes = kWarps * kZstdResolvedBytes;
  launch({.kernel = kResolveBudget,
          .grid = static_cast<unsigned>((work.piece.capacity + kZstdResolvedBytes + kBytes - 1) / kBytes),
          .stream = stream},
         resolve_zstd_frame, work);
}

}  // namespace hemstitch::cuda
