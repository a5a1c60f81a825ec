// CUB's DeviceScan under our contract: one pass with decoupled look-back, 12 bytes of traffic an item.
// CPU twin: scan_cpu.cpp. The total comes for nothing: the scan runs over one item more, which counts as 0
// and is never read.
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cub/device/device_scan.cuh>
#include <cuda/std/functional>

#include "compact/scan/scan_cuda.hpp"
#include "device/cuda/cuda_error.hpp"
#include "device/cuda/scratch.hpp"

namespace hemstitch::cuda {
namespace {

struct SizeOrEnd {
  const std::uint32_t* d_sizes;
  std::uint64_t count;
  __device__ std::uint64_t operator()(std::uint64_t index) const {
    return index < count ? d_sizes[index] : 0;
  }
};

cudaError_t scan(void* d_scratch, std::size_t& scratch_bytes, const std::uint32_t* d_sizes,
                 std::uint64_t count, std::uint64_t* d_offsets, cudaStream_t stream) {
  const auto sizes = thrust::make_transform_iterator(thrust::make_counting_iterator(std::uint64_t{0}),
                                                     SizeOrEnd{d_sizes, count});
  return cub::DeviceScan::ExclusiveScan(d_scratch, scratch_bytes, sizes, d_offsets,
                                        ::cuda::std::plus<std::uint64_t>{}, std::uint64_t{0}, count + 1,
                                        stream);
}

}  // namespace

std::size_t scan_sizes_cuda_scratch_bytes(std::uint64_t count) {
  std::size_t scratch_bytes = 0;
  check(scan(nullptr, scratch_bytes, nullptr, count, nullptr, nullptr), "scan: scratch size");
  return scratch_bytes;
}

void scan_sizes_cuda(const std::uint32_t* d_sizes, std::uint64_t count, std::uint64_t* d_offsets,
                     void* d_scratch, std::size_t scratch_bytes, cudaStream_t stream) {
  check_scratch("scan", scan_sizes_cuda_scratch_bytes(count), d_scratch, scratch_bytes);
  check(scan(d_scratch, scratch_bytes, d_sizes, count, d_offsets, stream), "scan");
}

}  // namespace hemstitch::cuda
