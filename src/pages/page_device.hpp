// What a store needs of a device: to restore pages into its memory or the host's, and to compress pages that are in its
// memory. Builds with CUDA have page_device_cuda.cpp, others stubs (cmake/no_device_stubs.cmake). Tests have their own, in
// host memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "core/status.hpp"

struct CUstream_st;

namespace hemstitch {

// An LZ4 block in a lane's staging memory. After compress(), a block of page_bytes is the page itself.
struct StagedBlock {
  std::uint32_t at = 0;
  std::uint32_t bytes = 0;
};

// Where the caller's pages are.
enum class PageMemory { kDevice, kHost };

// Used by a thread for a piece of a call: transfers to the device and back. One thread at a time. Errors of
// the device are thrown; then the lane is of no more use. A lane that is destroyed first waits for what it has
// begun.
class PageLane {
 public:
  virtual ~PageLane() = default;

  // Host memory that the device copies from and to.
  virtual std::span<std::byte> staging(std::size_t bytes) = 0;
  // Begins to restore blocks of any content, in staging memory, to consecutive pages of page_bytes. Pages in pinned
  // host memory are copied there directly.
  virtual void begin_restore(std::span<const StagedBlock> blocks, std::uint32_t page_bytes, std::byte* pages,
                             PageMemory memory, bool wants_checksums) = 0;
  // Returns when the pages are complete. An invalid block has kCorruptBlock. `checksums`, if they are wanted,
  // receives the XXH32 of each page, else it is empty.
  virtual void end_restore(std::span<Status> statuses, std::span<std::uint32_t> checksums) = 0;
  // Compresses such pages and copies the blocks into staging memory. Returns that memory, which is valid
  // until the lane is used again.
  virtual std::span<const std::byte> compress(const std::byte* d_pages, std::uint32_t page_bytes, int level,
                                              std::span<StagedBlock> blocks,
                                              std::span<std::uint32_t> checksums) = 0;
};

class PageDevice {
 public:
  virtual ~PageDevice() = default;

  // Any thread may get a lane; destroying the pointer returns it. Throws an Error of the device family.
  virtual std::shared_ptr<PageLane> lane() = 0;
  // For pages that the processor handles in place of the device.
  virtual void copy_to(std::byte* d_to, std::span<const std::byte> from) = 0;
  virtual void copy_from(std::span<std::byte> to, const std::byte* d_from) = 0;
};

// The CUDA device whose memory holds `d_pages`, once the work on `stream` is done. Throws kInvalidOption for
// other memory, kDeviceUnavailable if there is no CUDA device.
std::unique_ptr<PageDevice> page_device_of(const void* d_pages, CUstream_st* stream);

// The CUDA device that a backend would use, named as CompressOptions::device, for pages in host memory. Null if the name
// means several devices. Throws kDeviceUnavailable.
std::unique_ptr<PageDevice> page_device(std::string_view name);

}  // namespace hemstitch
