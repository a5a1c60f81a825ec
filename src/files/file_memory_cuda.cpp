#include "files/file_memory.hpp"
#include "gpu/cuda/device_buffer.hpp"
#include "gpu/cuda/pinned_pool.hpp"

namespace hemstitch {
namespace {

class CudaFileMemory : public FileMemory {
 public:
  explicit CudaFileMemory(std::size_t bytes) : bytes_(bytes) {
    cuda::check(cudaGetDevice(&device_), "cudaGetDevice");
    if (bytes == 0) return;
    pinned_ = cuda::PinnedPool::of_process().take(bytes);  // pinning anew costs more than reading small files
    d_bytes_ = cuda::DeviceBuffer<std::byte>(bytes, stream_.get());
    stream_.synchronize();  // copies begin in other threads
  }

  std::span<std::byte> bytes() override { return pinned_.span().first(bytes_); }

  void follow(std::size_t begin, std::size_t end) override {
    if (begin == end) return;
    cuda::check(cudaSetDevice(device_), "cudaSetDevice");
    cuda::check(cudaMemcpyAsync(d_bytes_.get() + begin, pinned_.span().data() + begin, end - begin,
                                cudaMemcpyHostToDevice, stream_.get()),
                "cudaMemcpyAsync");
  }

  void finish(std::span<const std::uint64_t> offsets) override {
    d_offsets_ = cuda::DeviceBuffer<std::uint64_t>(offsets.size(), stream_.get());
    d_offsets_.upload(offsets);
    stream_.synchronize();
  }

  const std::byte* d_bytes() const override { return d_bytes_.get(); }
  const std::uint64_t* d_offsets() const override { return d_offsets_.get(); }

 private:
  std::size_t bytes_;
  int device_ = 0;
  cuda::PinnedPool::Block pinned_;
  cuda::Stream stream_;
  cuda::DeviceBuffer<std::byte> d_bytes_;
  cuda::DeviceBuffer<std::uint64_t> d_offsets_;
};

}  // namespace

std::unique_ptr<FileMemory> make_cuda_file_memory(std::size_t bytes) {
  return std::make_unique<CudaFileMemory>(bytes);
}

}  // namespace hemstitch
