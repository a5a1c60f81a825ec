#include "gpu/cuda/pinned_pool.hpp"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "gpu/cuda/cuda_error.hpp"

namespace hemstitch::cuda {
namespace {
constexpr std::size_t kSmallestBytes = 4096;  // a page: less cannot be pinned

std::size_t size_class(std::size_t bytes) {
  return static_cast<std::size_t>(std::bit_width(std::max(bytes, kSmallestBytes) - 1));
}
}  // namespace

PinnedPool::~PinnedPool() { release_waiting(); }

PinnedPool::Block PinnedPool::take(std::size_t bytes) {
  if (bytes == 0) return {};
  const std::lock_guard lock(mutex_);
  const std::size_t wanted = size_class(bytes);
  const std::size_t block_bytes = wanted < kClassCount ? std::size_t{1} << wanted : kNoLimit;
  if (wanted < kClassCount && !waiting_[wanted].empty()) {
    std::byte* memory = waiting_[wanted].back();
    waiting_[wanted].pop_back();
    return Block(this, memory, bytes);
  }
  const auto over_limit = [&] {
    return block_bytes > limit_bytes_ || pinned_bytes_ > limit_bytes_ - block_bytes;
  };
  if (over_limit()) release_waiting();
  if (over_limit())
    throw Error(Status::kDeviceOutOfMemory,
                fmt::format("{} bytes of pinned memory asked for; {} of the limit of {} are in use", bytes,
                            pinned_bytes_, limit_bytes_));
  void* memory = nullptr;
  cudaError_t error = cudaMallocHost(&memory, block_bytes);
  if (error == cudaErrorMemoryAllocation) {
    release_waiting();
    error = cudaMallocHost(&memory, block_bytes);
  }
  check(error, fmt::format("cudaMallocHost of {} bytes", block_bytes));
  pinned_bytes_ += block_bytes;
  return Block(this, static_cast<std::byte*>(memory), bytes);
}

std::size_t PinnedPool::pinned_bytes() const {
  const std::lock_guard lock(mutex_);
  return pinned_bytes_;
}

void PinnedPool::release() {
  const std::lock_guard lock(mutex_);
  release_waiting();
}

void PinnedPool::take_back(std::byte* memory, std::size_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  waiting_[size_class(bytes)].push_back(memory);
}

void PinnedPool::release_waiting() {
  for (std::size_t size = 0; size < kClassCount; size++) {
    for (std::byte* memory : waiting_[size]) {
      cudaFreeHost(memory);
      pinned_bytes_ -= std::size_t{1} << size;
    }
    waiting_[size].clear();
  }
}

}  // namespace hemstitch::cuda
