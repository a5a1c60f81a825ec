// Turns symbols (zstd_mark.hpp) into bytes, for the last stage of content whose blocks were copied by themselves.
//
// A mark names an earlier place, where there may be a mark as well. Each warp follows marks until a byte and writes it back, so warps that come
// later find bytes after a few steps. Nothing waits for anything: marks are below their own block, so the bytes are the same in any order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "format/zstd/block/zstd_mark.hpp"
#include "gpu/cuda/warp.cuh"

#if defined(__CUDACC__)
namespace hemstitch::cuda {

inline constexpr unsigned kZstdResolvedRows = 4, kZstdResolvedBytes = 32 * kZstdResolvedRows;

// Content, at any address, and its symbols. Before it lies history that marks may name.
struct ZstdUnresolved {
  std::uint32_t* d_symbols;
  std::uint8_t* d_content;
  std::uint64_t content_bytes;
  std::uint32_t history_bytes;

  // Places count from where the content's first 128 bytes of address begin, so that all but the first and the last are whole.
  __device__ std::uint32_t lead() const {
    return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(d_content) % kZstdResolvedBytes);
  }
};

// Resolves the warp's 128 bytes from place `first` on, a multiple of 128. Symbols are read while others write them back: both a mark and its byte are
// right. `sh_words`: the warp's, kZstdResolvedBytes.
__device__ inline void resolve_zstd_bytes(const ZstdUnresolved& content, std::uint64_t first,
                                          std::uint32_t* sh_words, unsigned lane) {
  const std::uint32_t lead = content.lead();
  const std::uint64_t end = lead + content.content_bytes;
  if (first >= end) return;
  const std::uint8_t* const d_history = content.d_content - content.history_bytes;
  volatile std::uint32_t* const d_symbols = content.d_symbols;
  std::uint32_t symbols[kZstdResolvedRows], marks = 0;
#pragma unroll
  for (unsigned k = 0; k < kZstdResolvedRows; ++k) {
    const std::uint64_t at = first + k * 32 + lane;
    symbols[k] = at >= lead && at < end ? content.d_symbols[at - lead] : 0;
    marks |= (symbols[k] >> 31) << k;
  }
  for (std::uint32_t left = marks; __any_sync(kAllLanes, left != 0);) {
    left = 0;
#pragma unroll
    for (unsigned k = 0; k < kZstdResolvedRows; ++k) {
      if ((symbols[k] & kZstdMark) == 0) continue;
      const std::uint32_t place = symbols[k] - kZstdMark;
      symbols[k] =
          place < content.history_bytes ? d_history[place] : d_symbols[place - content.history_bytes];
      left |= symbols[k] >> 31;
    }
  }
#pragma unroll
  for (unsigned k = 0; k < kZstdResolvedRows; ++k)
    if ((marks >> k & 1) != 0) d_symbols[first + k * 32 + lane - lead] = symbols[k];
  std::uint8_t* const d_to = content.d_content - lead + first;
  if (first >= lead && first + kZstdResolvedBytes <= end) {
    // Through shared memory, so that a lane has four neighbours.
    auto* const sh_bytes = reinterpret_cast<std::uint8_t*>(sh_words);
#pragma unroll
    for (unsigned k = 0; k < kZstdResolvedRows; ++k)
      sh_bytes[k * 32 + lane] = static_cast<std::uint8_t>(symbols[k]);
    __syncwarp();
    reinterpret_cast<std::uint32_t*>(d_to)[lane] = sh_words[lane];
    return;
  }
#pragma unroll
  for (unsigned k = 0; k < kZstdResolvedRows; ++k) {
    const std::uint64_t at = first + k * 32 + lane;
    if (at >= lead && at < end) d_to[k * 32 + lane] = static_cast<std::uint8_t>(symbols[k]);
  }
}

}  // namespace hemstitch::cuda
#endif
