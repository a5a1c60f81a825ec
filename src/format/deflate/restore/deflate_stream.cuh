// A DEFLATE stream of a batch on the device: its place and its bits.
//
// Nothing outside the stream is read: an aligned word that straddles an end of it is put together from its single bytes, and
// what is outside reads as 0.
#pragma once

#include "format/deflate/restore/deflate_restore_tuning.hpp"
#include "format/deflate/restore/deflate_restore_ways_cuda.hpp"
#include "gpu/cuda/kernel_trace.hpp"

namespace hemstitch::cuda {

struct DeflateStream {
  const std::uint32_t* d_words;      // aligned; the stream's first byte lies in the first of them
  std::uint64_t begin_bit, end_bit;  // from there on
  std::uint8_t* d_output;            // nullptr: only sizes and statuses are wanted
  std::uint64_t capacity;
  std::uint32_t history_bytes;  // at most kDeflateWindowBytes of them are used

  // 32 bits, the first of them bit 32 * index.
  __device__ std::uint32_t word(std::uint64_t index) const {
    if (32 * index >= begin_bit && 32 * index + 32 <= end_bit) return d_words[index];
    const auto* d_bytes = reinterpret_cast<const std::uint8_t*>(d_words + index);
    std::uint32_t word = 0;
    for (unsigned i = 0; i < 4; ++i)
      if (32 * index + 8 * i >= begin_bit && 32 * index + 8 * i < end_bit)
        word |= std::uint32_t{d_bytes[i]} << (8 * i);
    return word;
  }
  // The 32 bits from bit `bit` on.
  __device__ std::uint32_t bits(std::uint64_t bit) const {
    return __funnelshift_r(word(bit / 32), word(bit / 32 + 1), static_cast<unsigned>(bit % 32));
  }
  __device__ const std::uint8_t* byte_at(std::uint64_t bit) const {
    return reinterpret_cast<const std::uint8_t*>(d_words) + bit / 8;
  }
};

// Opens stream `index` of the batch. If the stream breaks the batch's bounds, writes its status and returns false. `writes`: this
// thread writes for all that call together.
__device__ inline bool open_deflate_stream(const DeviceRestore& batch, std::uint64_t index,
                                           DeflateStream& stream, bool writes) {
  if (writes) trace_mark(kTraceRestoreStream, static_cast<std::uint32_t>(index));
  const std::size_t bytes = batch.d_block_bytes[index], capacity = batch.d_capacities[index];
  if (bytes > batch.max_block_bytes || capacity > batch.max_capacity) {
    if (writes) {
      batch.d_output_bytes[index] = 0;
      batch.d_statuses[index] = HEMSTITCH_INVALID_OPTION;
    }
    return false;
  }
  const auto address = reinterpret_cast<std::uintptr_t>(batch.d_blocks[index]);
  stream.d_words = reinterpret_cast<const std::uint32_t*>(address & ~std::uintptr_t{3});
  stream.begin_bit = 8 * (address & 3);
  stream.end_bit = stream.begin_bit + 8 * std::uint64_t{bytes};
  stream.d_output =
      batch.d_outputs == nullptr ? nullptr : reinterpret_cast<std::uint8_t*>(batch.d_outputs[index]);
  stream.capacity = capacity;
  stream.history_bytes = batch.d_history_bytes == nullptr ? 0 : batch.d_history_bytes[index];
  return true;
}

// Whether the stream is set apart. One thread calls this and must tell the others.
__device__ inline bool set_apart(const DeviceRestore& batch, const LongDeflateStreams& streams,
                                 std::uint64_t index) {
  if (streams.d_indices == nullptr || batch.d_block_bytes[index] < kDeflateLongStreamBytes) return false;
  const std::uint32_t place = atomicAdd(streams.d_count, 1u);
  if (place >= kDeflateMostLongStreams) return false;
  streams.d_indices[place] = static_cast<std::uint32_t>(index);
  return true;
}

// Called by one thread: writes the results of a stream that was restored or given up.
__device__ inline void close_deflate_stream(const DeviceRestore& batch, const LeftDeflateStreams& left,
                                            std::uint64_t index, bool done, std::uint64_t written) {
  if (done) {
    batch.d_output_bytes[index] = written;
    batch.d_statuses[index] = HEMSTITCH_OK;
  } else {
    left.d_indices[atomicAdd(left.d_count, 1u)] = static_cast<std::uint32_t>(index);
  }
}

}  // namespace hemstitch::cuda
