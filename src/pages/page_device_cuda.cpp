// Pages in memory of a CUDA device.
//
//   restore    blocks and arrays up, in two copies | LZ4 blocks restored to pages | checksums | results down, and pages of the host
//   compress   arrays up | pages to one span | offsets, sizes, checksums down | the span's bytes down
//
// A lane does one of these at a time, on its own stream. The work of several lanes overlaps. Lanes and their memory belong to the
// device, not to a store.
#include <cuda_runtime.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "format/formats_cuda.hpp"
#include "gpu/cuda/current_device.hpp"
#include "gpu/cuda/device_buffer.hpp"
#include "gpu/cuda/devices.hpp"
#include "gpu/cuda/event.hpp"
#include "gpu/cuda/growing_buffer.hpp"
#include "gpu/cuda/nvtx_range.hpp"
#include "gpu/cuda/pinned_arrays.hpp"
#include "pages/page_device.hpp"

namespace hemstitch {
namespace {

using cuda::check;
using cuda::copy_async;

// Kernels read whole words, also at the end.
constexpr std::size_t kSlackBytes = 64;

// Of memory that CUDA does not know, the type is cudaMemoryTypeUnregistered.
cudaPointerAttributes attributes_of(const void* memory) {
  cudaPointerAttributes attributes{};
  const cudaError_t error = cudaPointerGetAttributes(&attributes, memory);
  if (error == cudaErrorInvalidValue) {
    cudaGetLastError();  // it would be the next call's
    attributes.type = cudaMemoryTypeUnregistered;
  } else {
    check(error, "cudaPointerGetAttributes");
  }
  return attributes;
}

const cuda::DeviceFormat& lz4() { return *cuda::device_format(Format::kLz4); }

template <class T>
using Array = cuda::PinnedArrays::Array<T>;

// First the arrays that go up, then those that come down; each group in one copy.
struct RestoreArrays {
  RestoreArrays(cuda::PinnedArrays& arrays, std::size_t count)
      : blocks(arrays.take<const std::byte*>(count)),
        block_bytes(arrays.take<std::size_t>(count)),
        pages(arrays.take<std::byte*>(count)),
        page_bytes(arrays.take<std::size_t>(count)),
        restored_bytes(arrays.take<std::size_t>(count)),
        statuses(arrays.take<hemstitch_status>(count)),
        checksums(arrays.take<std::uint32_t>(count)),
        end(arrays.take<std::byte>(1)) {}

  Array<const std::byte*> blocks;
  Array<std::size_t> block_bytes;
  Array<std::byte*> pages;
  Array<std::size_t> page_bytes;
  Array<std::size_t> restored_bytes;
  Array<hemstitch_status> statuses;
  Array<std::uint32_t> checksums;
  Array<std::byte> end;
};

struct CompressArrays {
  CompressArrays(cuda::PinnedArrays& arrays, std::size_t count)
      : blocks(arrays.take<DeviceBlock>(count)),
        pages(arrays.take<const std::byte*>(count)),
        page_bytes(arrays.take<std::size_t>(count)),
        offsets(arrays.take<std::uint64_t>(count + 1)),
        sizes(arrays.take<std::uint32_t>(count)),
        statuses(arrays.take<hemstitch_status>(count)),
        checksums(arrays.take<std::uint32_t>(count)),
        end(arrays.take<std::byte>(1)) {}

  Array<DeviceBlock> blocks;
  Array<const std::byte*> pages;
  Array<std::size_t> page_bytes;
  Array<std::uint64_t> offsets;
  Array<std::uint32_t> sizes;
  Array<hemstitch_status> statuses;
  Array<std::uint32_t> checksums;
  Array<std::byte> end;
};

// The bytes from the begin of one array to that of another.
template <class From, class To>
std::size_t bytes_between(const Array<From>& from, const Array<To>& to) {
  return static_cast<std::size_t>(reinterpret_cast<const std::byte*>(to.d) -
                                  reinterpret_cast<const std::byte*>(from.d));
}

class CudaPageLane : public PageLane {
 public:
  // Call it while the device is the thread's current one.
  explicit CudaPageLane(cuda::Device& device)
      : device_(device),
        h_staging_(device.pinned()),
        h_arrays_(device.pinned()),
        d_arrays_(device.memory()),
        d_staging_(device.memory()),
        d_scratch_(device.memory()),
        d_pages_(device.memory()),
        h_pages_(device.pinned()) {}

  // Waits for whatever was begun. The lane may be used again then.
  void settle() noexcept {
    cudaStreamSynchronize(stream_.get());
    restored_.reset();
    landed_ = {};
  }

  std::span<std::byte> staging(std::size_t bytes) override {
    const cuda::CurrentDevice current(device_);
    return {h_staging_.at_least(bytes), bytes};
  }

  void begin_restore(std::span<const StagedBlock> blocks, std::uint32_t page_bytes, std::byte* pages,
                     PageMemory memory, bool wants_checksums) override {
    const cuda::NvtxRange range("pages.begin_restore");
    const cuda::CurrentDevice current(device_);
    const std::size_t count = blocks.size();
    restored_.emplace(arrays_of<RestoreArrays>(count));
    restored_page_bytes_ = page_bytes;
    const RestoreArrays& arrays = *restored_;
    std::byte* const d_pages =
        memory == PageMemory::kDevice ? pages : d_pages_.at_least(count * page_bytes, stream_.get());
    std::size_t staged_bytes = 0, most_bytes = 0;
    for (const StagedBlock& block : blocks) {
      staged_bytes = std::max<std::size_t>(staged_bytes, std::size_t{block.at} + block.bytes);
      most_bytes = std::max<std::size_t>(most_bytes, block.bytes);
    }
    std::byte* const d_staging = d_staging_.at_least(staged_bytes + kSlackBytes, stream_.get());
    copy_async(d_staging, h_staging_.at_least(staged_bytes), staged_bytes, cudaMemcpyHostToDevice,
               stream_.get());
    for (std::size_t i = 0; i < count; ++i) {
      arrays.blocks.h[i] = d_staging + blocks[i].at;
      arrays.block_bytes.h[i] = blocks[i].bytes;
      arrays.pages.h[i] = d_pages + i * page_bytes;
      arrays.page_bytes.h[i] = page_bytes;
    }
    copy_async(arrays.blocks.d, arrays.blocks.h, bytes_between(arrays.blocks, arrays.restored_bytes),
               cudaMemcpyHostToDevice, stream_.get());

    const cuda::DeviceRestore batch{.d_blocks = arrays.blocks.d,
                                    .d_block_bytes = arrays.block_bytes.d,
                                    .d_outputs = arrays.pages.d,
                                    .d_capacities = arrays.page_bytes.d,
                                    .d_output_bytes = arrays.restored_bytes.d,
                                    .d_statuses = arrays.statuses.d,
                                    .count = count,
                                    .max_capacity = page_bytes,
                                    .max_block_bytes = most_bytes};
    const std::size_t scratch_bytes = lz4().restore_scratch_bytes(batch);
    lz4().restore(batch, d_scratch_.at_least(scratch_bytes, stream_.get()), scratch_bytes, stream_.get());
    if (wants_checksums)
      lz4().checksums(arrays.pages.d, arrays.page_bytes.d, count, arrays.checksums.d, stream_.get());
    copy_async(arrays.restored_bytes.h, arrays.restored_bytes.d,
               wants_checksums ? bytes_between(arrays.restored_bytes, arrays.end)
                               : bytes_between(arrays.restored_bytes, arrays.checksums),
               cudaMemcpyDeviceToHost, stream_.get());
    if (memory == PageMemory::kHost) {
      const bool is_pinned = attributes_of(pages).type == cudaMemoryTypeHost;
      std::byte* const h_pages = is_pinned ? pages : h_pages_.at_least(count * page_bytes);
      if (h_pages != pages) landed_ = {h_pages, pages, count * page_bytes};
      copy_async(h_pages, d_pages, count * page_bytes, cudaMemcpyDeviceToHost, stream_.get());
    }
    done_.record(stream_.get());
  }

  void end_restore(std::span<Status> statuses, std::span<std::uint32_t> checksums) override {
    const cuda::NvtxRange range("pages.end_restore");
    const cuda::CurrentDevice current(device_);
    done_.await();
    const RestoreArrays arrays = *std::exchange(restored_, std::nullopt);
    const Landed landed = std::exchange(landed_, {});
    if (landed.bytes != 0) std::memcpy(landed.to, landed.from, landed.bytes);
    for (std::size_t i = 0; i < statuses.size(); ++i)
      statuses[i] = arrays.statuses.h[i] == HEMSTITCH_OK && arrays.restored_bytes.h[i] == restored_page_bytes_
                        ? Status::kOk
                        : Status::kCorruptBlock;
    std::copy_n(arrays.checksums.h, checksums.size(), checksums.begin());
  }

  std::span<const std::byte> compress(const std::byte* d_pages, std::uint32_t page_bytes, int level,
                                      std::span<StagedBlock> blocks,
                                      std::span<std::uint32_t> checksums) override {
    const cuda::NvtxRange range("pages.compress");
    const cuda::CurrentDevice current(device_);
    const std::size_t count = blocks.size();
    const CompressArrays arrays = arrays_of<CompressArrays>(count);
    for (std::size_t i = 0; i < count; ++i) {
      const std::byte* const d_page = d_pages + i * page_bytes;
      arrays.blocks.h[i] = {d_page, page_bytes, 0, std::uint64_t{i} * page_bytes};
      arrays.pages.h[i] = d_page;
      arrays.page_bytes.h[i] = page_bytes;
    }
    copy_async(arrays.blocks.d, arrays.blocks.h, bytes_between(arrays.blocks, arrays.offsets),
               cudaMemcpyHostToDevice, stream_.get());

    const DeviceBlocks batch{.d_blocks = arrays.blocks.d,
                             .block_count = static_cast<std::uint32_t>(count),
                             .max_block_bytes = page_bytes,
                             .total_block_bytes = std::uint64_t{count} * page_bytes};
    const std::size_t most_bytes = count * page_bytes;
    const cuda::DeviceSpan span{.d_span = d_staging_.at_least(most_bytes + kSlackBytes, stream_.get()),
                                .capacity_bytes = most_bytes,
                                .lead_bytes = 0,
                                .trail_bytes = 0,
                                .d_offsets = arrays.offsets.d,
                                .d_sizes = arrays.sizes.d,
                                .d_statuses = arrays.statuses.d};
    const std::size_t scratch_bytes = lz4().compress_span_scratch_bytes(batch, level, page_bytes);
    lz4().compress_span(batch, level, page_bytes, span, d_scratch_.at_least(scratch_bytes, stream_.get()),
                        scratch_bytes, stream_.get());
    if (!checksums.empty())
      lz4().checksums(arrays.pages.d, arrays.page_bytes.d, count, arrays.checksums.d, stream_.get());
    copy_async(arrays.offsets.h, arrays.offsets.d,
               checksums.empty() ? bytes_between(arrays.offsets, arrays.checksums)
                                 : bytes_between(arrays.offsets, arrays.end),
               cudaMemcpyDeviceToHost, stream_.get());
    wait();
    const auto all_bytes = static_cast<std::size_t>(arrays.offsets.h[count]);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t bytes = arrays.sizes.h[i] & ~cuda::kStoredBit;
      if (arrays.statuses.h[i] != HEMSTITCH_OK || arrays.offsets.h[i] + bytes > most_bytes ||
          bytes > page_bytes)
        throw Error(Status::kDeviceFault, fmt::format("page {} of a batch could not be compressed", i));
      blocks[i] = {static_cast<std::uint32_t>(arrays.offsets.h[i]), bytes};
    }
    std::copy_n(arrays.checksums.h, checksums.size(), checksums.begin());
    const std::span<std::byte> compressed = staging(all_bytes);
    copy_async(compressed.data(), span.d_span, all_bytes, cudaMemcpyDeviceToHost, stream_.get());
    wait();
    return compressed;
  }

 private:
  // If that takes long, the thread sleeps: there may be more lanes than cores.
  void wait() {
    done_.record(stream_.get());
    done_.await();
  }

  template <class Of>
  Of arrays_of(std::size_t count) {
    cuda::PinnedArrays counted(nullptr, nullptr);
    const Of none(counted, count);
    static_cast<void>(none);
    cuda::PinnedArrays arrays(h_arrays_.at_least(counted.bytes()),
                              d_arrays_.at_least(counted.bytes(), stream_.get()));
    return Of(arrays, count);
  }

  cuda::Device& device_;
  cuda::Stream stream_;
  cuda::Event done_{cuda::Event::Kind::kWait};
  std::optional<RestoreArrays> restored_;  // what is being restored
  std::uint32_t restored_page_bytes_ = 0;
  cuda::GrowingPinned h_staging_, h_arrays_;
  cuda::GrowingBuffer<std::byte> d_arrays_, d_staging_, d_scratch_;
  // For pages in host memory; the second for those in memory that is not pinned.
  cuda::GrowingBuffer<std::byte> d_pages_;
  cuda::GrowingPinned h_pages_;
  struct Landed {
    const std::byte* from = nullptr;
    std::byte* to = nullptr;
    std::size_t bytes = 0;
  };
  Landed landed_;  // pages that have to be copied to their places
};

// The lanes of a device that are not in use.
class IdleLanes {
 public:
  explicit IdleLanes(cuda::Device& device) : device_(device) { lanes_.reserve(kMostIdle); }

  std::unique_ptr<CudaPageLane> take() {
    {
      const std::scoped_lock lock(mutex_);
      if (!lanes_.empty()) {
        std::unique_ptr<CudaPageLane> lane = std::move(lanes_.back());
        lanes_.pop_back();
        return lane;
      }
    }
    return std::make_unique<CudaPageLane>(device_);
  }
  void give_back(std::unique_ptr<CudaPageLane> lane) {
    const std::scoped_lock lock(mutex_);
    if (lanes_.size() < kMostIdle) lanes_.push_back(std::move(lane));  // never more than is reserved
  }

 private:
  static constexpr std::size_t kMostIdle = 32;

  cuda::Device& device_;
  std::mutex mutex_;  // guards what follows
  std::vector<std::unique_ptr<CudaPageLane>> lanes_;
};

class CudaPageDevice : public PageDevice {
 public:
  explicit CudaPageDevice(cuda::Device& device) : device_(device), lanes_(device.kept<IdleLanes>()) {}

  std::shared_ptr<PageLane> lane() override {
    const cuda::CurrentDevice current(device_);
    return {lanes_.take().release(), [&lanes = lanes_](CudaPageLane* lane) {
              lane->settle();
              lanes.give_back(std::unique_ptr<CudaPageLane>(lane));
            }};
  }
  void copy_to(std::byte* d_to, std::span<const std::byte> from) override {
    const cuda::CurrentDevice current(device_);
    check(cudaMemcpy(d_to, from.data(), from.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  void copy_from(std::span<std::byte> to, const std::byte* d_from) override {
    const cuda::CurrentDevice current(device_);
    check(cudaMemcpy(to.data(), d_from, to.size(), cudaMemcpyDeviceToHost), "cudaMemcpy");
  }

 private:
  cuda::Device& device_;
  IdleLanes& lanes_;
};

}  // namespace

std::unique_ptr<PageDevice> page_device_of(const void* d_pages, CUstream_st* stream) {
  const cudaPointerAttributes attributes = attributes_of(d_pages);
  if (attributes.type != cudaMemoryTypeDevice && attributes.type != cudaMemoryTypeManaged)
    throw Error(
        Status::kInvalidOption,
        "the pages are not in a CUDA device's memory; put_many() and get_many() take pages on the host");
  cuda::Device& device = cuda::open_device(std::to_string(attributes.device));
  const cuda::CurrentDevice current(device);
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  return std::make_unique<CudaPageDevice>(device);
}

std::unique_ptr<PageDevice> page_device(std::string_view name) {
  const std::vector<cuda::Device*> devices = cuda::open_devices(name);
  if (devices.size() > 1) return nullptr;
  const cuda::CurrentDevice current(*devices[0]);
  return std::make_unique<CudaPageDevice>(*devices[0]);
}

}  // namespace hemstitch
