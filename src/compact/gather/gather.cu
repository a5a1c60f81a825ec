// CUB's DeviceMemcpy::Batched under our contract: pieces are binned by size and given to threads, warps and
// whole grids, so that work is divided by bytes; misaligned pieces are read in aligned words and shifted.
// CPU twin: gather_cpu.cpp.
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cub/device/device_memcpy.cuh>

#include "compact/gather/gather_cuda.hpp"
#include "device/cuda/cuda_error.hpp"
#include "device/cuda/scratch.hpp"

namespace hemstitch::cuda {
namespace {

struct SourceAt {
  const std::byte* const* d_sources;
  __device__ const void* operator()(std::uint64_t index) const { return d_sources[index]; }
};

struct PlaceAt {
  std::byte* d_output;
  const std::uint64_t* d_offsets;
  __device__ void* operator()(std::uint64_t index) const { return d_output + d_offsets[index]; }
};

cudaError_t gather(void* d_scratch, std::size_t& scratch_bytes, const std::byte* const* d_sources,
                   const std::uint32_t* d_sizes, const std::uint64_t* d_offsets, std::uint64_t count,
                   std::byte* d_output, cudaStream_t stream) {
  const auto index = thrust::make_counting_iterator(std::uint64_t{0});
  return cub::DeviceMemcpy::Batched(d_scratch, scratch_bytes,
                                    thrust::make_transform_iterator(index, SourceAt{d_sources}),
                                    thrust::make_transform_iterator(index, PlaceAt{d_output, d_offsets}),
                                    d_sizes, static_cast<std::int64_t>(count), stream);
}

}  // namespace

std::size_t gather_pieces_cuda_scratch_bytes(std::uint64_t count) {
  std::size_t scratch_bytes = 0;
  check(gather(nullptr, scratch_bytes, nullptr, nullptr, nullptr, count, nullptr, nullptr),
        "gather: scratch size");
  return scratch_bytes;
}

void gather_pieces_cuda(const std::byte* const* d_sources, const std::uint32_t* d_sizes,
                        const std::uint64_t* d_offsets, std::uint64_t count, std::byte* d_output,
                        void* d_scratch, std::size_t scratch_bytes, cudaStream_t stream) {
  check_scratch("gather", gather_pieces_cuda_scratch_bytes(count), d_scratch, scratch_bytes);
  if (count == 0) return;
  check(gather(d_scratch, scratch_bytes, d_sources, d_sizes, d_offsets, count, d_output, stream), "gather");
}

}  // namespace hemstitch::cuda
