#include <optional>

#include "files/memory/file_memory.hpp"
#include "gpu/cuda/device_buffer.hpp"
#include "gpu/cuda/devices.hpp"

namespace hemstitch {
namespace {

class CudaFileMemory : public FileMemory {
 public:
  CudaFileMemory(cuda::Device& device, std::size_t bytes) : device_(device), bytes_(bytes) {
    device.make_current();
    stream_.emplace();
    if (bytes == 0) return;
    pinned_ = device.pinned().take(bytes);  // pinning it anew would cost more than reading small files
    d_bytes_ = cuda::DeviceBuffer<std::byte>(bytes, stream_->get(), device.memory());
    stream_->synchronize();  // other threads begin the copies
  }

  std::span<std::byte> bytes() override { return pinned_.span().first(bytes_); }

  void follow(std::size_t begin, std::size_t end) override {
    if (begin == end) return;
    device_.make_current();
    cuda::check(cudaMemcpyAsync(d_bytes_.get() + begin, pinned_.span().data() + begin, end - begin,
                                cudaMemcpyHostToDevice, stream_->get()),
                "cudaMemcpyAsync");
  }

  void finish(std::span<const std::uint64_t> offsets) override {
    device_.make_current();
    d_offsets_ = cuda::DeviceBuffer<std::uint64_t>(offsets.size(), stream_->get(), device_.memory());
    d_offsets_.upload(offsets);
    stream_->synchronize();
  }

  const std::byte* d_bytes() const override { return d_bytes_.get(); }
  const std::uint64_t* d_offsets() const override { return d_offsets_.get(); }

 private:
  cuda::Device& device_;
  std::size_t bytes_;
  cuda::PinnedPool::Block pinned_;
  std::optional<cuda::Stream> stream_;
  cuda::DeviceBuffer<std::byte> d_bytes_;
  cuda::DeviceBuffer<std::uint64_t> d_offsets_;
};

}  // namespace

std::unique_ptr<FileMemory> make_cuda_file_memory(std::size_t bytes, std::string_view device) {
  return std::make_unique<CudaFileMemory>(
      device.empty() ? cuda::open_current_device() : cuda::open_device(device), bytes);
}

}  // namespace hemstitch
