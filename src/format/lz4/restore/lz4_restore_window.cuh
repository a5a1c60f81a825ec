// What the kernels for large LZ4 blocks have in common: bytes of a window in shared memory, and the tables of exits of
// its segments (lz4_segment.hpp).
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "format/lz4/block/lz4_segment.hpp"
#include "format/lz4/restore/lz4_restore_sequence.cuh"
#include "gpu/cuda/instructions.cuh"

namespace hemstitch::cuda {

inline constexpr std::uint32_t kVectorBytes = 16;
// Vectors that hold this many bytes at any alignment.
constexpr unsigned vectors_around(std::uint32_t bytes) {
  return (bytes + 2 * (kVectorBytes - 1)) / kVectorBytes;
}
inline constexpr std::uint32_t kLz4MaxOffset = 65535;

// 32 bytes of output: where pieces begin, and how many began before it, less one.
struct Lz4Stripe {
  std::uint32_t starts, pieces_before;
};

// Bytes in shared memory, by addresses of 32 bits.
struct SharedBytes {
  std::uint32_t address;

  explicit __device__ SharedBytes(const void* sh_bytes) : address(shared_address(sh_bytes)) {}
  __device__ std::uint32_t operator()(std::uint32_t position) const {
    return load_shared_byte(address + position);
  }
  __device__ std::uint32_t get_if(bool condition, std::uint32_t position) const {
    return load_shared_byte_if(condition, address + position);
  }
};

// Stages `kVectors` vectors, beginning with the one that holds byte `begin` of the block, as far as they are in the block; only
// those at its ends go byte by byte. The caller's threads need a barrier before they read the bytes.
template <unsigned kThreads, unsigned kVectors>
__device__ inline SharedBytes stage_bytes(const Lz4Chunk& chunk, std::uint32_t begin, uint4* sh_stage,
                                          unsigned thread) {
  const std::uint8_t* d_begin = chunk.d_block + begin;
  const auto shift = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(d_begin) % kVectorBytes);
  // The range of the block's bytes, counted from the first vector. Negative before the block.
  const std::int32_t inside_begin = static_cast<std::int32_t>(shift) - static_cast<std::int32_t>(begin);
  const std::int32_t inside_end = static_cast<std::int32_t>(shift + (chunk.block_bytes - begin));
#pragma unroll
  for (unsigned vector = thread; vector < kVectors; vector += kThreads) {
    const auto at = static_cast<std::int32_t>(vector * kVectorBytes);
    const std::uint8_t* d_vector = d_begin - shift + at;
    if (at >= inside_begin && at + static_cast<std::int32_t>(kVectorBytes) <= inside_end) {
      sh_stage[vector] = __ldg(reinterpret_cast<const uint4*>(d_vector));
    } else {
      auto* sh_bytes = reinterpret_cast<std::uint8_t*>(sh_stage + vector);
#pragma unroll 1
      for (std::int32_t i = 0; i < static_cast<std::int32_t>(kVectorBytes); ++i)
        if (at + i >= inside_begin && at + i < inside_end) sh_bytes[i] = d_vector[i];
    }
  }
  return SharedBytes(reinterpret_cast<const std::uint8_t*>(sh_stage) + shift);
}

// The table of a segment: a column of exits[kLz4SegmentBytes][kLz4SegmentsPerWindow].
template <class Word>
struct SegmentExits {
  std::uint32_t address;

  explicit __device__ SegmentExits(const Word* sh_column) : address(shared_address(sh_column)) {}
  __device__ std::uint32_t get_if(bool condition, std::uint32_t position, std::uint32_t otherwise) const {
    return load_shared_if<Word>(condition, address + position * kRowBytes, otherwise);
  }
  __device__ void set(std::uint32_t position, std::uint32_t exit) const {
    store_shared<Word>(address + position * kRowBytes, exit);
  }

 private:
  static constexpr std::uint32_t kRowBytes = sizeof(Word) * kLz4SegmentsPerWindow;
};

}  // namespace hemstitch::cuda
