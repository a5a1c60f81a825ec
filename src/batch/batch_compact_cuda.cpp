#include "batch/batch_compact_device.hpp"
#include "compact/bitshuffle/bitshuffle_cuda.hpp"
#include "compact/gather/gather_cuda.hpp"
#include "compact/scan/scan_cuda.hpp"
#include "compact/scatter/scatter_cuda.hpp"
#include "compact/shuffle/shuffle_cuda.hpp"
#include "gpu/cuda/cuda_error.hpp"

namespace hemstitch {
namespace {

// Throws, with the reason, if there is no device.
void need_device() {
  int device = 0;
  cuda::check(cudaGetDevice(&device), "cudaGetDevice");
}

cuda::ShuffleBatch shuffle_batch(const void* const* d_sources, const std::size_t* d_sizes,
                                 void* const* d_targets, std::uint64_t count, std::uint32_t element_bytes) {
  return {reinterpret_cast<const std::byte* const*>(d_sources), d_sizes,
          reinterpret_cast<std::byte* const*>(d_targets), count, element_bytes};
}

cuda::BitshuffleBatch bitshuffle_batch(const void* const* d_sources, const std::size_t* d_sizes,
                                       void* const* d_targets, std::uint64_t count,
                                       std::uint32_t element_bytes, std::size_t block_bytes) {
  return {reinterpret_cast<const std::byte* const*>(d_sources),
          d_sizes,
          reinterpret_cast<std::byte* const*>(d_targets),
          count,
          element_bytes,
          block_bytes};
}

}  // namespace

std::size_t batch_scan_temp_bytes(std::uint64_t count) {
  need_device();
  return cuda::scan_sizes_cuda_scratch_bytes(count);
}

void batch_scan_async(const std::uint32_t* d_sizes, std::uint64_t count, std::uint64_t* d_offsets,
                      void* d_temp, std::size_t temp_bytes, hemstitch_stream stream) {
  need_device();
  cuda::scan_sizes_cuda(d_sizes, count, d_offsets, d_temp, temp_bytes, stream);
}

std::size_t batch_gather_temp_bytes(std::uint64_t count) {
  need_device();
  return cuda::gather_pieces_cuda_scratch_bytes(count);
}

void batch_gather_async(const void* const* d_sources, const std::uint32_t* d_sizes,
                        const std::uint64_t* d_offsets, std::uint64_t count, void* d_output, void* d_temp,
                        std::size_t temp_bytes, hemstitch_stream stream) {
  need_device();
  cuda::gather_pieces_cuda(reinterpret_cast<const std::byte* const*>(d_sources), d_sizes, d_offsets, count,
                           static_cast<std::byte*>(d_output), d_temp, temp_bytes, stream);
}

std::size_t batch_scatter_temp_bytes(std::uint64_t count) {
  need_device();
  return cuda::scatter_pieces_cuda_scratch_bytes(count);
}

void batch_scatter_async(const void* d_input, const std::uint64_t* d_offsets, const std::uint32_t* d_sizes,
                         std::uint64_t count, void* const* d_targets, void* d_temp, std::size_t temp_bytes,
                         hemstitch_stream stream) {
  need_device();
  cuda::scatter_pieces_cuda(static_cast<const std::byte*>(d_input), d_offsets, d_sizes, count,
                            reinterpret_cast<std::byte* const*>(d_targets), d_temp, temp_bytes, stream);
}

std::size_t batch_shuffle_temp_bytes(std::uint64_t count) {
  need_device();
  return cuda::shuffle_cuda_scratch_bytes(count);
}

void batch_shuffle_async(const void* const* d_sources, const std::size_t* d_sizes, void* const* d_targets,
                         std::uint64_t count, std::uint32_t element_bytes, void* d_temp,
                         std::size_t temp_bytes, hemstitch_stream stream) {
  need_device();
  cuda::shuffle_cuda(shuffle_batch(d_sources, d_sizes, d_targets, count, element_bytes), d_temp, temp_bytes,
                     stream);
}

void batch_unshuffle_async(const void* const* d_sources, const std::size_t* d_sizes, void* const* d_targets,
                           std::uint64_t count, std::uint32_t element_bytes, void* d_temp,
                           std::size_t temp_bytes, hemstitch_stream stream) {
  need_device();
  cuda::unshuffle_cuda(shuffle_batch(d_sources, d_sizes, d_targets, count, element_bytes), d_temp, temp_bytes,
                       stream);
}

std::size_t batch_bitshuffle_temp_bytes(std::uint64_t count) {
  need_device();
  return cuda::bitshuffle_cuda_scratch_bytes(count);
}

void batch_bitshuffle_async(const void* const* d_sources, const std::size_t* d_sizes, void* const* d_targets,
                            std::uint64_t count, std::uint32_t element_bytes, std::size_t block_bytes,
                            void* d_temp, std::size_t temp_bytes, hemstitch_stream stream) {
  need_device();
  cuda::bitshuffle_cuda(bitshuffle_batch(d_sources, d_sizes, d_targets, count, element_bytes, block_bytes),
                        d_temp, temp_bytes, stream);
}

void batch_bitunshuffle_async(const void* const* d_sources, const std::size_t* d_sizes,
                              void* const* d_targets, std::uint64_t count, std::uint32_t element_bytes,
                              std::size_t block_bytes, void* d_temp, std::size_t temp_bytes,
                              hemstitch_stream stream) {
  need_device();
  cuda::bitunshuffle_cuda(bitshuffle_batch(d_sources, d_sizes, d_targets, count, element_bytes, block_bytes),
                          d_temp, temp_bytes, stream);
}

}  // namespace hemstitch
