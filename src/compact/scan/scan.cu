// CUB's DeviceScan under our contract: one pass with decoupled look-back, 12 bytes of traffic an item.
// CPU twin: scan_cpu.cpp. Sizes and sums are where CUB's own call would have them; the thread that stores the last sum also stores
// the total behind it. (Other ways to come to the total are slower: docs/decisions/gather.md.)
#include <cub/device/device_scan.cuh>
#include <cuda/std/functional>
#include <iterator>

#include "compact/scan/scan_cuda.hpp"
#include "gpu/cuda/cuda_error.hpp"
#include "gpu/cuda/scratch.hpp"

namespace hemstitch::cuda {
namespace {

// The offsets as CUB's output.
class OffsetsWithTotal {
 public:
  struct Place {
    std::uint64_t* d_offset;
    const std::uint32_t* d_last_size;
    bool is_last;
    __device__ void operator=(std::uint64_t sum) const {
      *d_offset = sum;
      if (is_last) d_offset[1] = sum + *d_last_size;
    }
  };
  using iterator_category = std::random_access_iterator_tag;
  using value_type = std::uint64_t;
  using difference_type = std::ptrdiff_t;
  using pointer = void;
  using reference = Place;

  OffsetsWithTotal(std::uint64_t* d_offsets, const std::uint64_t* d_last, const std::uint32_t* d_last_size)
      : d_at_(d_offsets), d_last_(d_last), d_last_size_(d_last_size) {}
  __host__ __device__ OffsetsWithTotal operator+(difference_type distance) const {
    OffsetsWithTotal further = *this;
    further.d_at_ += distance;
    return further;
  }
  __device__ Place operator[](difference_type distance) const {
    return {d_at_ + distance, d_last_size_, d_at_ + distance == d_last_};
  }

 private:
  std::uint64_t* d_at_;
  const std::uint64_t* d_last_;
  const std::uint32_t* d_last_size_;
};

// Called without scratch memory (and without sizes), returns how much it needs.
cudaError_t scan(void* d_scratch, std::size_t& scratch_bytes, const std::uint32_t* d_sizes,
                 std::uint64_t count, std::uint64_t* d_offsets, cudaStream_t stream) {
  const std::uint64_t last = d_scratch == nullptr ? 0 : count - 1;
  return cub::DeviceScan::ExclusiveScan(d_scratch, scratch_bytes, d_sizes,
                                        OffsetsWithTotal(d_offsets, d_offsets + last, d_sizes + last),
                                        ::cuda::std::plus<std::uint64_t>{}, std::uint64_t{0}, count, stream);
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
  if (count == 0)
    check(cudaMemsetAsync(d_offsets, 0, sizeof *d_offsets, stream), "scan");
  else
    check(scan(d_scratch, scratch_bytes, d_sizes, count, d_offsets, stream), "scan");
}

}  // namespace hemstitch::cuda
