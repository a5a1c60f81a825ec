// One LZ4 sequence restored by a warp or a thread block, straight from and to global memory, with every check of
// restore_lz4_block_reference in its order. The plain way: the fast kernels leave to it what is rare or long, and whatever they
// find wrong. So statuses are decided only here.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "format/lz4/block/lz4_token.hpp"
#include "gpu/cuda/warp.cuh"
#include "hemstitch/hemstitch.h"

namespace hemstitch::cuda {

// Words of literals that a thread has in flight at once.
inline constexpr unsigned kLz4LiteralWords = 4;

// One chunk of the batch, as its warp sees it; the same in all lanes.
struct Lz4Chunk {
  const std::uint8_t* d_block;
  std::uint32_t block_bytes;
  std::uint8_t* d_output;  // nullptr: sizes alone
  std::uint32_t capacity;
  std::uint32_t history_bytes;
};

// How far the warp is in its chunk; the same in all lanes.
struct Lz4Place {
  std::uint32_t read = 0;     // of the block
  std::uint32_t written = 0;  // of the output
};

enum class Lz4Progress { kGoesOn, kDone, kCorrupt, kTooSmall };

// Reads the rest of a number that began with a full nibble: adds the bytes from `read` up to the first one that is not 255, 32 of
// them at a time. False if the block ends before that byte. Sums stay below 2^39.
__device__ inline bool read_lz4_number(const Lz4Chunk& chunk, std::uint32_t& read, std::uint64_t& value,
                                       unsigned lane) {
  for (;;) {
    const bool inside = lane < chunk.block_bytes - read;
    const unsigned addend = inside ? chunk.d_block[read + lane] : 0;
    const unsigned ends = __ballot_sync(kAllLanes, addend != 255);
    if (ends == 0) {
      value += 32 * 255;
      read += 32;
      continue;
    }
    const unsigned last = static_cast<unsigned>(__ffs(static_cast<int>(ends))) - 1;
    if (last >= chunk.block_bytes - read) return false;
    value += 255 * last + __shfl_sync(kAllLanes, addend, static_cast<int>(last));
    read += last + 1;
    return true;
  }
}

// A sequence that was checked; either part may be empty.
struct Lz4CheckedSequence {
  std::uint32_t literals_begin = 0, literal_count = 0;
  std::uint32_t offset = 0, match_length = 0;
};

// Reads the sequence at `place`, or finds what is wrong with it; `place` moves after it. All lanes of a warp call it with the same
// values, and get the same result.
__device__ inline Lz4Progress check_lz4_sequence(const Lz4Chunk& chunk, Lz4Place& place,
                                                 Lz4CheckedSequence& sequence, unsigned lane) {
  sequence = {};
  if (place.read >= chunk.block_bytes) return Lz4Progress::kCorrupt;
  const unsigned token = chunk.d_block[place.read++];

  std::uint64_t literal_count = token >> 4;
  if (literal_count == kLz4NibbleMax && !read_lz4_number(chunk, place.read, literal_count, lane))
    return Lz4Progress::kCorrupt;
  if (literal_count > chunk.block_bytes - place.read) return Lz4Progress::kCorrupt;
  if (literal_count > chunk.capacity - place.written) return Lz4Progress::kTooSmall;
  sequence.literals_begin = place.read;
  sequence.literal_count = static_cast<std::uint32_t>(literal_count);
  place.read += sequence.literal_count;
  place.written += sequence.literal_count;
  if (place.read == chunk.block_bytes) return Lz4Progress::kDone;

  if (chunk.block_bytes - place.read < kLz4OffsetBytes) return Lz4Progress::kCorrupt;
  sequence.offset = chunk.d_block[place.read] | static_cast<std::uint32_t>(chunk.d_block[place.read + 1])
                                                    << 8;
  place.read += kLz4OffsetBytes;
  if (sequence.offset == 0 || sequence.offset > std::uint64_t{chunk.history_bytes} + place.written)
    return Lz4Progress::kCorrupt;

  std::uint64_t length_code = token & kLz4NibbleMax;
  if (length_code == kLz4NibbleMax && !read_lz4_number(chunk, place.read, length_code, lane))
    return Lz4Progress::kCorrupt;
  if (length_code + kLz4MinMatchBytes > chunk.capacity - place.written) return Lz4Progress::kTooSmall;
  sequence.match_length = static_cast<std::uint32_t>(length_code) + kLz4MinMatchBytes;
  place.written += sequence.match_length;
  return Lz4Progress::kGoesOn;
}

// Copies `count` literals from position `read` of the block to d_to; both ranges were checked. Copies words of the output, shifted
// into place, with kLz4LiteralWords of a thread in flight; single bytes at both ends, and where source words would reach outside
// the block.
template <unsigned kThreads>
__device__ inline void copy_lz4_literals(const Lz4Chunk& chunk, std::uint32_t read, std::uint8_t* d_to,
                                         std::uint32_t count, unsigned thread) {
  const std::uint8_t* const d_from = chunk.d_block + read;
  // After a token and at least two literals, the word that holds a byte begins inside the block.
  const auto misaligned = static_cast<std::uint32_t>(-reinterpret_cast<std::uintptr_t>(d_to) % 4);
  const std::uint32_t head = min(misaligned < 2 ? misaligned + 4 : misaligned, count);
  const std::uint8_t* const d_body = d_from + head;
  const auto shift_bytes = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(d_body) % 4);
  // Two words are read for each that is written. The second one may be after the literals, but not after the block.
  const std::uint32_t readable = chunk.block_bytes - read - head + shift_bytes;
  const std::uint32_t words = min((count - head) / 4, max(readable / 4, 1u) - 1);
  // A short run is loaded completely before anything is stored.
  const std::uint32_t tail = head + 4 * words + thread;
  std::uint8_t head_byte = 0, tail_byte = 0;
  if (thread < head) head_byte = d_from[thread];
  if (tail < count) tail_byte = d_from[tail];
  const auto* d_words = reinterpret_cast<const std::uint32_t*>(d_body - shift_bytes) + thread;
  auto* d_target = reinterpret_cast<std::uint32_t*>(d_to + head) + thread;
#pragma unroll 1
  for (std::uint32_t begin = thread; begin - thread < words; begin += kLz4LiteralWords * kThreads) {
    std::uint32_t low[kLz4LiteralWords], high[kLz4LiteralWords];
#pragma unroll
    for (unsigned i = 0; i < kLz4LiteralWords; ++i)
      if (begin + i * kThreads < words) {
        low[i] = d_words[i * kThreads];
        high[i] = d_words[i * kThreads + 1];
      }
#pragma unroll
    for (unsigned i = 0; i < kLz4LiteralWords; ++i)
      if (begin + i * kThreads < words)
        d_target[i * kThreads] = __funnelshift_r(low[i], high[i], 8 * shift_bytes);
    d_words += kLz4LiteralWords * kThreads;
    d_target += kLz4LiteralWords * kThreads;
  }
  if (thread < head) d_to[thread] = head_byte;
  if (tail < count) d_to[tail] = tail_byte;
}

// Copies `length` bytes from `offset` back; both ranges were checked. Bytes before the match do not change, so rounds of 32 bytes
// need no order among their lanes: a short offset repeats the bytes before the match, a longer one reads what earlier rounds wrote.
__device__ inline void copy_lz4_match(std::uint8_t* d_to, std::uint32_t offset, std::uint32_t length,
                                      unsigned lane) {
  __syncwarp();
  if (offset < 32) {
    const std::uint8_t* d_period = d_to - offset;
    const std::uint8_t byte_of_lane = d_period[lane % offset];
    // A round of 32 bytes moves on in the period by 32 modulo `offset`.
    std::uint32_t place = lane % offset;
    const std::uint32_t step = 32 % offset;
    for (std::uint32_t i = lane; i - lane < length; i += 32) {
      const std::uint8_t byte =
          static_cast<std::uint8_t>(__shfl_sync(kAllLanes, byte_of_lane, static_cast<int>(place)));
      if (i < length) d_to[i] = byte;
      place += step;
      if (place >= offset) place -= offset;
    }
  } else {
    // A round has as many bytes as the offset allows, up to 128: its sources are before it.
    const std::uint32_t round = offset >= 128 ? 128 : 32;
    for (std::uint32_t begin = 0; begin < length; begin += round) {
      std::uint8_t bytes[4];
#pragma unroll
      for (unsigned k = 0; k < 4; ++k) {
        const std::uint32_t i = begin + 32 * k + lane;
        if (32 * k < round && i < length) bytes[k] = (d_to - offset)[i];
      }
#pragma unroll
      for (unsigned k = 0; k < 4; ++k) {
        const std::uint32_t i = begin + 32 * k + lane;
        if (32 * k < round && i < length) d_to[i] = bytes[k];
      }
      __syncwarp();
    }
  }
  __syncwarp();
}

// Restores the whole sequence at `place` by a warp, or finds what is wrong with it. All lanes call it with the same values.
// Afterwards the written bytes are visible to the warp.
__device__ inline Lz4Progress restore_lz4_sequence(const Lz4Chunk& chunk, Lz4Place& place, unsigned lane) {
  std::uint8_t* d_to = chunk.d_output + place.written;
  Lz4CheckedSequence sequence;
  const Lz4Progress progress = check_lz4_sequence(chunk, place, sequence, lane);
  if (chunk.d_output == nullptr || progress == Lz4Progress::kCorrupt || progress == Lz4Progress::kTooSmall)
    return progress;
  copy_lz4_literals<32>(chunk, sequence.literals_begin, d_to, sequence.literal_count, lane);
  if (sequence.match_length != 0)
    copy_lz4_match(d_to + sequence.literal_count, sequence.offset, sequence.match_length, lane);
  return progress;
}

// Writes the bytes of a checked sequence to d_to, by a thread block; afterwards they are visible to it. A match's sources are taken
// from the bytes before it, so none of them is written here.
template <unsigned kThreads>
__device__ inline void copy_lz4_sequence(const Lz4Chunk& chunk, const Lz4CheckedSequence& sequence,
                                         std::uint8_t* d_to, unsigned thread) {
  copy_lz4_literals<kThreads>(chunk, sequence.literals_begin, d_to, sequence.literal_count, thread);
  __syncthreads();
  d_to += sequence.literal_count;
  const std::uint8_t* d_period = d_to - sequence.offset;
  for (std::uint32_t i = thread; i < sequence.match_length; i += kThreads)
    d_to[i] = d_period[i % sequence.offset];
  __syncthreads();
}

}  // namespace hemstitch::cuda
