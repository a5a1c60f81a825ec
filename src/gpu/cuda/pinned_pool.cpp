#include "gpu/cuda/pinned_pool.hpp"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <new>

#include "gpu/cuda/cuda_error.hpp"

namespace hemstitch::cuda {
namespace {

constexpr std::size_t kSmallestBytes = 4096;  // a page: less cannot be pinned

// If more memory than this is idle and none of it fits, it is released: otherwise a process with files of
// many sizes would keep memory of each size.
constexpr std::size_t kMostWaitingBytes = std::size_t{1} << 30;

// Rounds up by an eighth at most, so that blocks of similar size can replace each other.
std::size_t rounded_up(std::size_t bytes) {
  const std::size_t wanted = std::max(bytes, kSmallestBytes);
  const std::size_t step = std::bit_floor(wanted) / 8;
  return wanted > PinnedPool::kNoLimit - step ? wanted : (wanted + step - 1) & ~(step - 1);
}

// Memory that CUDA allocates and pins itself takes 0.7 s for each gigabyte. Large pages are touched and
// pinned in a fraction of that, but a buffer takes at least one such page.
LargeBuffer pinned_memory(std::size_t bytes) {
  if (bytes >= LargeBuffer::kHugeFromBytes) {
    try {
      const std::shared_ptr<LargeBuffer> memory = std::make_shared<LargeBuffer>(bytes);
      if (cudaHostRegister(memory->get(), bytes, cudaHostRegisterPortable) == cudaSuccess)
        return LargeBuffer(std::shared_ptr<std::byte>(
            memory->get(), [memory](std::byte* begin) { cudaHostUnregister(begin); }));
      cudaGetLastError();
    } catch (const std::bad_alloc&) {
    }
    // The allocation below reports what is wrong.
  }
  void* memory = nullptr;
  check(cudaHostAlloc(&memory, bytes, cudaHostAllocPortable), "cudaHostAlloc");
  return LargeBuffer(std::shared_ptr<std::byte>(static_cast<std::byte*>(memory),
                                                [](std::byte* begin) { cudaFreeHost(begin); }));
}

}  // namespace

PinnedPool::~PinnedPool() { release_waiting(); }

PinnedPool::Block PinnedPool::take(std::size_t bytes) {
  if (bytes == 0) return {};
  const std::lock_guard lock(mutex_);
  std::size_t block_bytes = rounded_up(bytes);
  LargeBuffer memory;
  // Prefers an idle block of up to twice the size to a new one, since sizes differ from run to run.
  for (auto waiting = waiting_.lower_bound(block_bytes);
       waiting != waiting_.end() && waiting->first / 2 <= block_bytes; ++waiting) {
    if (waiting->second.empty()) continue;
    block_bytes = waiting->first;
    memory = std::move(waiting->second.back());
    waiting->second.pop_back();
    break;
  }
  if (memory.get() == nullptr) {
    if (waiting_bytes() > kMostWaitingBytes) release_waiting();
    const auto over_limit = [&] {
      return block_bytes > limit_bytes_ || pinned_bytes_ > limit_bytes_ - block_bytes;
    };
    if (over_limit()) release_waiting();
    if (over_limit())
      throw Error(Status::kDeviceOutOfMemory,
                  fmt::format("{} bytes of pinned memory asked for; {} of the limit of {} are in use", bytes,
                              pinned_bytes_, limit_bytes_));
    try {
      memory = pinned_memory(block_bytes);
    } catch (const Error&) {
      release_waiting();
      memory = pinned_memory(block_bytes);
    }
    waiting_[block_bytes].reserve(++made_);  // so that giving back needs no memory
    pinned_bytes_ += block_bytes;
  }
  std::byte* const begin = memory.get();
  lent_.emplace(begin, Lent{std::move(memory), block_bytes});
  return Block(this, begin, bytes);
}

std::span<std::byte> PinnedPool::lent_around(const std::byte* at) const {
  const std::lock_guard lock(mutex_);
  auto next = lent_.upper_bound(at);
  if (next == lent_.begin()) return {};
  const auto& [begin, lent] = *--next;
  return at - begin < static_cast<std::ptrdiff_t>(lent.bytes) ? std::span(lent.memory.get(), lent.bytes)
                                                              : std::span<std::byte>();
}

std::size_t PinnedPool::pinned_bytes() const {
  const std::lock_guard lock(mutex_);
  return pinned_bytes_;
}

std::size_t PinnedPool::waiting_bytes() const {
  std::size_t total = 0;
  for (const auto& [bytes, memory] : waiting_) total += memory.size() * bytes;
  return total;
}

void PinnedPool::release() {
  const std::lock_guard lock(mutex_);
  release_waiting();
}

void PinnedPool::take_back(const std::byte* memory) noexcept {
  const std::lock_guard lock(mutex_);
  const auto lent = lent_.find(memory);
  waiting_.find(lent->second.bytes)->second.push_back(std::move(lent->second.memory));
  lent_.erase(lent);
}

void PinnedPool::release_waiting() {
  for (auto& [bytes, memory] : waiting_) {
    pinned_bytes_ -= memory.size() * bytes;
    memory.clear();
  }
}

}  // namespace hemstitch::cuda
