// What a store asks of a device whose memory its caller's pages are in: pages restored straight into that memory, and compressed from there.
// page_device_cuda.cpp is in builds with CUDA, page_device_no_device.cpp in others; tests have one of their own, in the host's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "core/status.hpp"

struct CUstream_st;

namespace hemstitch {

// An LZ4 block in a lane's staging memory. Of a page that was compressed and has page_bytes: the page itself.
struct StagedBlock {
  std::uint32_t at = 0;
  std::uint32_t bytes = 0;
};

// What a thread works with on a piece of a call: a way to the device and back. One thread at a time. Errors of the device are thrown; nothing
// is under way on the lane then, and it may be used again.
class PageLane {
 public:
  virtual ~PageLane() = default;

  // Memory of the host that the device copies from and to.
  virtual std::span<std::byte> staging(std::size_t bytes) = 0;
  // Restores blocks of any content to pages of page_bytes that lie one behind the other. A block that is none gets kCorruptBlock. `checksums`, where
  // there are any, get XXH32 of each page. Returns when the pages are there.
  virtual void restore(std::span<const StagedBlock> blocks, std::uint32_t page_bytes, std::byte* d_pages,
                       std::span<Status> statuses, std::span<std::uint32_t> checksums) = 0;
  // Compresses such pages, and brings the blocks into staging memory, whose beginning it returns: valid until the lane is used again.
  virtual std::span<const std::byte> compress(const std::byte* d_pages, std::uint32_t page_bytes, int level,
                                              std::span<StagedBlock> blocks,
                                              std::span<std::uint32_t> checksums) = 0;
};

class PageDevice {
 public:
  virtual ~PageDevice() = default;

  // Any thread may ask for one, and gives it back by letting it go. Throws an Error of the device family.
  virtual std::shared_ptr<PageLane> lane() = 0;
  // For what the processor does in place of the device.
  virtual void copy_to(std::byte* d_to, std::span<const std::byte> from) = 0;
  virtual void copy_from(std::span<std::byte> to, const std::byte* d_from) = 0;
};

// The CUDA device that `d_pages` is memory of, once what stands on `stream` is done. Throws kInvalidOption for memory of no device,
// kDeviceUnavailable where there is none at all.
std::unique_ptr<PageDevice> page_device_of(const void* d_pages, CUstream_st* stream);

}  // namespace hemstitch
