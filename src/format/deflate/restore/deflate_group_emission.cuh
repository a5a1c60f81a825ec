// From tokens to bytes by a group of warps: some tokens a thread, and then a part of their bytes at a time.
//
// In a part no byte waits for another one. A map of bits says at which bytes tokens begin, so each byte counts to its own; bytes
// that are literals, or that repeat bytes before the part, are fetched at once. Every other byte points to the byte of the part
// that it repeats. Pointers are then doubled, all at once, until each leads to a byte that was fetched: log2 of the part's bytes
// times at most, for any chain of matches.
#pragma once

#include "format/deflate/restore/deflate_emission.cuh"
#include "format/deflate/restore/deflate_group.cuh"

namespace hemstitch::cuda {

static_assert(kDeflateThreadBytes % kDeflateFetchedBytes == 0 && kDeflateThreadBytes % 2 == 0 &&
              kDeflateThreadBytes <= 32);

// Sums of a value of each thread: over the threads before this one, and over all. Has a barrier inside; there must be another one
// between two calls.
struct DeflateSums {
  std::uint32_t before, all;
};
template <unsigned kWarps>
__device__ DeflateSums sum_over_group(std::uint32_t value, std::uint32_t (&sh_sums)[kWarps],
                                      unsigned thread) {
  const unsigned lane = thread % 32, warp = thread / 32;
  const std::uint32_t up_to_lane = sum_up_to_lane(value, lane);
  if (lane == 31) sh_sums[warp] = up_to_lane;
  __syncthreads();
  DeflateSums sums{up_to_lane - value, 0};
#pragma unroll
  for (unsigned i = 0; i < kWarps; ++i) {
    if (i < warp) sums.before += sh_sums[i];
    sums.all += sh_sums[i];
  }
  return sums;
}

// This thread's share of the tokens that were read, from number kDeflateThreadTokens * thread on: where each begins in the output,
// and where the last one ends.
struct DeflateThreadTokens {
  std::uint32_t begins[kDeflateThreadTokens + 1];
};

// Finds which tokens begin in the part that begins at `begin`.
template <unsigned kWarps>
__device__ void map_starts(const DeflateThreadTokens& tokens, std::uint32_t begin, DeflatePart<kWarps>& part,
                           unsigned thread) {
  const std::uint32_t first_stripe = begin / 32;
  if (begin == 0 && thread == 0) part.tokens_before[0] = 0;
#pragma unroll
  for (unsigned i = 0; i < kDeflateThreadTokens; ++i) {
    const std::uint32_t token_begin = tokens.begins[i], token_end = tokens.begins[i + 1];
    if (token_begin == token_end) continue;
    const std::uint32_t at = token_begin - begin;
    if (at < part.kBytes) atomicOr(&part.starts[at / 32], 1u << at % 32);
    // Stripes that begin inside the token, or where it ends.
    const std::uint32_t last = min(token_end / 32, first_stripe + part.kStripes - 1);
    for (std::uint32_t stripe = max(token_begin / 32 + 1, first_stripe); stripe <= last; ++stripe)
      part.tokens_before[stripe - first_stripe] = kDeflateThreadTokens * thread + i + 1;
  }
}

// Writes the `bytes` that the tokens in sh.infos describe, from d_output on. All sources exist: in the output before, or in the
// history. Begins and ends with a barrier.
template <unsigned kWarps>
__device__ void write_group(const DeflateThreadTokens& tokens, std::uint32_t bytes, std::uint8_t* d_output,
                            DeflateGroupMemory<kWarps>& sh, unsigned thread) {
  constexpr unsigned kThreads = DeflateGroup<kWarps>::kThreads, kPartBytes = DeflateGroup<kWarps>::kPartBytes;
  DeflatePart<kWarps>& part = sh.window.part;
  const std::uint32_t up_to_lane = kAllLanes >> (31 - thread % 32);
  // Byte i of this thread is byte first_at + 32 * i: a warp takes stripes side by side.
  const unsigned first_at = thread / 32 * (32 * kDeflateThreadBytes) + thread % 32;
  for (std::uint32_t begin = 0; begin < bytes; begin += kPartBytes, d_output += kPartBytes) {
    for (unsigned i = thread; i < part.kStripes; i += kThreads) part.starts[i] = 0;
    __syncthreads();
    map_starts(tokens, begin, part, thread);
    __syncthreads();
    const std::uint32_t part_bytes = min(kPartBytes, bytes - begin);
    std::uint32_t points = 0;  // bit i: byte i points to a byte that may itself be a pointer
#pragma unroll 1
    for (unsigned first = 0; first < kDeflateThreadBytes; first += kDeflateFetchedBytes) {
      std::uint32_t values[kDeflateFetchedBytes];
#pragma unroll
      for (unsigned i = 0; i < kDeflateFetchedBytes; ++i) {
        const std::uint32_t at = first_at + 32 * (first + i);
        std::uint32_t root = at;
        values[i] = 0;
        if (at < part_bytes) {
          const auto starts_up_to = static_cast<std::uint32_t>(__popc(part.starts[at / 32] & up_to_lane));
          values[i] = sh.infos[part.tokens_before[at / 32] + starts_up_to - 1];
          if ((values[i] & kDeflateMatch) != 0) {
            const auto source = static_cast<std::int32_t>(at - (values[i] & ~kDeflateMatch));
            if (source < 0) {
              values[i] = d_output[source];
            } else {
              root = static_cast<std::uint32_t>(source);
              points |= 1u << (first + i);
            }
          }
        }
        part.roots[at] = static_cast<std::uint16_t>(root);
      }
#pragma unroll
      for (unsigned i = 0; i < kDeflateFetchedBytes; ++i)
        part.values[first_at + 32 * (first + i)] = static_cast<std::uint8_t>(values[i]);
    }
    while (__syncthreads_or(points != 0 ? 1 : 0) != 0) {
      std::uint32_t nexts[kDeflateThreadBytes / 2] = {};  // two in each, since registers are scarce
#pragma unroll
      for (unsigned i = 0; i < kDeflateThreadBytes; ++i) {
        if ((points >> i & 1) == 0) continue;
        const std::uint32_t root = part.roots[first_at + 32 * i], next = part.roots[root];
        if (next == root) points &= ~(1u << i);
        nexts[i / 2] |= next << 16 * (i % 2);
      }
      __syncthreads();
#pragma unroll
      for (unsigned i = 0; i < kDeflateThreadBytes; ++i)
        if ((points >> i & 1) != 0)
          part.roots[first_at + 32 * i] = static_cast<std::uint16_t>(nexts[i / 2] >> 16 * (i % 2));
    }
#pragma unroll kDeflateFetchedBytes
    for (unsigned i = 0; i < kDeflateThreadBytes; ++i) {
      const std::uint32_t at = first_at + 32 * i;
      if (at < part_bytes) d_output[at] = part.values[part.roots[at]];
    }
    __syncthreads();
  }
}

// Writes the `count` listed tokens and moves `written`. False if one reaches too far back or does not fit. Ends with a barrier.
template <unsigned kWarps>
__device__ bool restore_group_tokens(const DeflateStream& stream, unsigned count, std::uint64_t& written,
                                     DeflateGroupMemory<kWarps>& sh, unsigned thread) {
  for (unsigned first = 0; first < count; first += DeflateGroup<kWarps>::kReadTokens) {
    const unsigned own = kDeflateThreadTokens * thread;
    DeflateThreadTokens tokens;
    std::uint32_t own_bytes = 0, reach = 0;  // how far back before the tokens' output the farthest match goes
#pragma unroll
    for (unsigned i = 0; i < kDeflateThreadTokens; ++i) {
      tokens.begins[i] = own_bytes;
      if (first + own + i >= count) continue;
      const DeflateTokenBytes token = read_token(sh.window, sh.tables, sh.window.tokens[first + own + i]);
      sh.infos[own + i] = token.info;
      if ((token.info & kDeflateMatch) != 0 && (token.info & ~kDeflateMatch) > own_bytes)
        reach = max(reach, (token.info & ~kDeflateMatch) - own_bytes);
      own_bytes += token.bytes;
    }
    tokens.begins[kDeflateThreadTokens] = own_bytes;
    const DeflateSums sums = sum_over_group(own_bytes, sh.sums, thread);
#pragma unroll
    for (unsigned i = 0; i <= kDeflateThreadTokens; ++i) tokens.begins[i] += sums.before;
    const bool too_far = reach > written + sums.before + stream.history_bytes;
    if (__syncthreads_or(too_far ? 1 : 0) != 0 || sums.all > stream.capacity - written) return false;
    if (stream.d_output != nullptr) write_group(tokens, sums.all, stream.d_output + written, sh, thread);
    written += sums.all;
  }
  __syncthreads();
  return true;
}

}  // namespace hemstitch::cuda
