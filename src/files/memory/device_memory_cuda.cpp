#include <algorithm>
#include <string>

#include "core/status.hpp"
#include "files/memory/frame_memory_cuda.hpp"
#include "files/memory/on_device.hpp"
#include "gpu/cuda/current_device.hpp"
#include "gpu/cuda/device_buffer.hpp"
#include "gpu/cuda/devices.hpp"
#include "gpu/cuda/event.hpp"
#include "gpu/cuda/staged_upload.hpp"
#include "hemstitch/device_memory.hpp"

namespace hemstitch {

using cuda::check;

std::shared_ptr<void> make_device_current(int device) {
  return std::make_shared<cuda::CurrentDevice>(cuda::open_device(std::to_string(device)));
}

int device_of(const std::byte* d_memory) {
  cuda::open_current_device();  // throws, with the reason, if there is no device
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, d_memory), "cudaPointerGetAttributes");
  if (attributes.type != cudaMemoryTypeDevice && attributes.type != cudaMemoryTypeManaged)
    throw Error(Status::kInvalidOption, "the array is not in a device's memory");
  return attributes.device;
}

DeviceContent make_device_memory(std::uint64_t bytes, CUstream_st* stream) {
  if (bytes == 0) return {nullptr, 0, true};
  // Allocated in a stream of its own that is then idle, so other streams may use the memory from here on.
  const cuda::Stream made_on;
  cuda::FrameMemory memory(cuda::open_current_device(), bytes, made_on.get());
  made_on.synchronize();
  memory.complete(bytes, stream);
  return {std::move(memory).share(), bytes, true};
}

void upload_to_device(std::span<const std::span<const std::byte>> pieces,
                      std::span<const std::uint64_t> places, std::byte* d_to) {
  if (pieces.size() != places.size())
    throw Error(Status::kInvalidOption, "upload_to_device: " + std::to_string(places.size()) +
                                            " places for " + std::to_string(pieces.size()) + " pieces");
  if (pieces.empty()) return;
  const cuda::Stream stream;
  {
    cuda::StagedUpload upload(cuda::open_current_device());
    const std::uint64_t first = places.front(), end = places.back() + pieces.back().size();
    // Even if something throws, the copies end before their pinned memory is lent to another caller.
    struct Through {
      cudaStream_t stream;
      ~Through() { cudaStreamSynchronize(stream); }
    } through{stream.get()};
    upload.fill(
        d_to + first, end - first,
        [&](std::size_t at, std::span<std::byte> staged) {
          const std::uint64_t begin = first + at;
          // The last piece that begins at or before these bytes, and the pieces after it.
          std::size_t i = static_cast<std::size_t>(std::upper_bound(places.begin(), places.end(), begin) -
                                                   places.begin()) -
                          1;
          for (; i < pieces.size() && places[i] < begin + staged.size(); ++i) {
            const std::uint64_t from = std::max(begin, places[i]);
            const std::uint64_t to = std::min(begin + staged.size(), places[i] + pieces[i].size());
            if (from < to)
              std::memcpy(staged.data() + (from - begin), pieces[i].data() + (from - places[i]), to - from);
          }
        },
        stream.get());
  }
  stream.synchronize();
}

void download_from_device(const std::byte* d_from, std::span<std::byte> into, CUstream_st* stream) {
  if (!into.empty())
    check(cudaMemcpyAsync(into.data(), d_from, into.size(), cudaMemcpyDeviceToHost, stream),
          "cudaMemcpyAsync");
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

void copy_on_device(const std::byte* d_from, std::uint64_t bytes, std::byte* d_to, CUstream_st* stream) {
  if (bytes != 0)
    check(cudaMemcpyAsync(d_to, d_from, bytes, cudaMemcpyDeviceToDevice, stream), "cudaMemcpyAsync");
}

void order_after(CUstream_st* before, CUstream_st* stream) {
  if (before == stream) return;
  cuda::Event reached;
  reached.record(before);
  reached.hold(stream);
}

}  // namespace hemstitch
