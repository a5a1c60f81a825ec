// Turns the symbols of a piece into its content, as the last stage of restoring one frame (zstd_frame_cuda.hpp).
//
// A mark names an earlier place, where there may be a mark as well. Thread blocks begin in about their order; each follows marks until a byte and
// writes it back, so later ones find bytes after a few steps. Nothing waits for anything: marks are below their own block, so the bytes are the
// same in any order.
#include "format/zstd/stream/zstd_frame_stages.cuh"
#include "gpu/cuda/launch.hpp"
#include "gpu/cuda/warp.cuh"

namespace hemstitch::cuda {
namespace {

constexpr unsigned kWarps = 8;
constexpr unsigned kRows = 4, kWarpBytes = 32 * kRows;  // a lane has a symbol of each row

// Places of the content count from where its first 128 bytes of address begin, so that all but the first and the last are whole.
__device__ std::uint32_t lead_of(const ZstdFramePiece& piece) {
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(piece.d_content) % kWarpBytes);
}

// Mapping: a warp for 128 bytes. Shared memory: 128 bytes a warp. Synchronisation inside of warps alone; symbols are read while others write them
// back: both a mark and its byte are right. Work: linear in content, times the steps of the longest chain of a warp. CPU twin:
// resolve_zstd_symbols().
__global__ void __launch_bounds__(32 * kWarps) resolve_zstd_frame(const ZstdFrameWork work) {
  __shared__ std::uint32_t sh_words[kWarps][kWarpBytes / 4];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const ZstdFramePiece& piece = work.piece;
  const std::uint64_t first = (std::uint64_t{blockIdx.x} * kWarps + warp) * kWarpBytes;
  const std::uint32_t lead = lead_of(piece);
  const std::uint64_t end = lead + work.d_result->content_bytes;
  if (first >= end) return;
  const auto* const d_history = reinterpret_cast<const std::uint8_t*>(piece.d_content) - piece.history_bytes;
  volatile std::uint32_t* const d_symbols = work.d_symbols;
  std::uint32_t symbols[kRows], marks = 0;
#pragma unroll
  for (unsigned k = 0; k < kRows; ++k) {
    const std::uint64_t at = first + k * 32 + lane;
    symbols[k] = at >= lead && at < end ? work.d_symbols[at - lead] : 0;
    marks |= (symbols[k] >> 31) << k;
  }
  for (std::uint32_t left = marks; __any_sync(kAllLanes, left != 0);) {
    left = 0;
#pragma unroll
    for (unsigned k = 0; k < kRows; ++k) {
      if ((symbols[k] & kZstdMark) == 0) continue;
      const std::uint32_t place = symbols[k] - kZstdMark;
      symbols[k] = place < piece.history_bytes ? d_history[place] : d_symbols[place - piece.history_bytes];
      left |= symbols[k] >> 31;
    }
  }
#pragma unroll
  for (unsigned k = 0; k < kRows; ++k)
    if ((marks >> k & 1) != 0) d_symbols[first + k * 32 + lane - lead] = symbols[k];
  auto* const d_to = reinterpret_cast<std::uint8_t*>(piece.d_content) - lead + first;
  if (first >= lead && first + kWarpBytes <= end) {
    // Through shared memory, so that a lane has four neighbours.
    auto* const sh_bytes = reinterpret_cast<std::uint8_t*>(sh_words[warp]);
#pragma unroll
    for (unsigned k = 0; k < kRows; ++k) sh_bytes[k * 32 + lane] = static_cast<std::uint8_t>(symbols[k]);
    __syncwarp();
    reinterpret_cast<std::uint32_t*>(d_to)[lane] = sh_words[warp][lane];
    return;
  }
#pragma unroll
  for (unsigned k = 0; k < kRows; ++k) {
    const std::uint64_t at = first + k * 32 + lane;
    if (at >= lead && at < end) d_to[k * 32 + lane] = static_cast<std::uint8_t>(symbols[k]);
  }
}

constexpr KernelBudget kResolveBudget("zstd_frame.resolve", "resolve_zstd_frame",
                                      {.threads = 32 * kWarps,
                                       .registers = 40,
                                       .shared_bytes = kWarps * kWarpBytes});
const KernelRegistration kResolveRegistration(kResolveBudget, resolve_zstd_frame);

}  // namespace

void launch_zstd_frame_resolve(const ZstdFrameWork& work, cudaStream_t stream) {
  // As if the content began at the worst address.
  constexpr std::uint64_t kBytes = kWarps * kWarpBytes;
  launch({.kernel = kResolveBudget,
          .grid = static_cast<unsigned>((work.piece.capacity + kWarpBytes + kBytes - 1) / kBytes),
          .stream = stream},
         resolve_zstd_frame, work);
}

}  // namespace hemstitch::cuda
