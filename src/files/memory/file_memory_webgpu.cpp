#include "files/memory/file_memory_webgpu.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "core/status.hpp"
#include "gpu/webgpu/device.hpp"

namespace hemstitch {
namespace {

// How much is written at once: wgpu copies it to memory that it allocates for that.
constexpr std::size_t kWriteBytes = std::size_t{16} << 20;

class WebgpuFileMemory : public FileMemory {
 public:
  WebgpuFileMemory(std::unique_ptr<FileMemory> host, std::shared_ptr<webgpu::Device> device)
      : host_(std::move(host)), device_(std::move(device)) {
    // Room for whole vectors, and for a word after the last byte, as every shader expects.
    const std::uint64_t bytes =
        (host_->bytes().size() + webgpu::kSlackBytes - 1) / webgpu::kSlackBytes * webgpu::kSlackBytes;
    if (bytes > std::numeric_limits<std::uint32_t>::max() - webgpu::kSlackBytes)
      throw Error(Status::kDeviceOutOfMemory, "the files have 4 GiB or more together: load them in batches");
    buffer_ = device_->make_buffer("files", bytes + webgpu::kSlackBytes, webgpu::BufferUse::kStorage);
  }

  std::span<std::byte> bytes() override { return host_->bytes(); }
  void follow(std::size_t begin, std::size_t end) override { host_->follow(begin, end); }

  void finish(std::span<const std::uint64_t> offsets) override {
    host_->finish(offsets);
    const std::span<const std::byte> all = host_->bytes().first(offsets.back());
    for (std::size_t begin = 0; begin < all.size(); begin += kWriteBytes)
      device_->write(buffer_, all.subspan(begin, std::min(kWriteBytes, all.size() - begin)), begin);
    const std::vector<std::uint32_t> words(offsets.begin(), offsets.end());
    const std::uint64_t bytes = (words.size() * sizeof(std::uint32_t) + webgpu::kSlackBytes - 1) /
                                webgpu::kSlackBytes * webgpu::kSlackBytes;
    offsets_ = device_->make_buffer("offsets of files", bytes, webgpu::BufferUse::kStorage);
    device_->write(offsets_, std::as_bytes(std::span(words)));
  }

  const std::byte* d_bytes() const override { return host_->d_bytes(); }
  const std::uint64_t* d_offsets() const override { return host_->d_offsets(); }
  void* webgpu_bytes() const override { return buffer_.get(); }
  void* webgpu_offsets() const override { return offsets_.get(); }

 private:
  std::unique_ptr<FileMemory> host_;
  std::shared_ptr<webgpu::Device> device_;  // must outlive the buffers
  webgpu::Buffer buffer_, offsets_;
};

}  // namespace

std::unique_ptr<FileMemory> with_webgpu_memory(std::unique_ptr<FileMemory> host,
                                               std::shared_ptr<webgpu::Device> device) {
  return std::make_unique<WebgpuFileMemory>(std::move(host), std::move(device));
}

}  // namespace hemstitch
