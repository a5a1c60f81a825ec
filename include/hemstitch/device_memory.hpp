// Memory of a CUDA device, and copies to and from it, for callers of batch.hpp that have no CUDA headers.
//
//   const hemstitch::OnDevice here(0);
//   const hemstitch::DeviceContent memory = hemstitch::make_device_memory(bytes, stream);
//   hemstitch::upload_to_device(pieces, places, memory.data());
//   hemstitch::batch::lz4_restore(.., stream);
//   hemstitch::download_from_device(memory.data(), into, stream);
//
// All functions work on the calling thread's current device; OnDevice chooses it for a scope. In builds
// without CUDA, and if there is no device, every function throws kDeviceUnavailable with the reason. Thread
// safety: any number of threads may call these at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "hemstitch/files.hpp"

namespace hemstitch {

// Makes device number `device` the calling thread's current one until the scope ends.
class HEMSTITCH_API OnDevice {
 public:
  explicit OnDevice(int device);
  ~OnDevice();
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The number of the device that owns the memory at that address. Throws kInvalidOption if no device does.
HEMSTITCH_API int device_of(const std::byte* d_memory);

// Allocates memory from a pool. Every stream may use it at once. When it is released, it is reused only after
// the work given to `stream` so far; `stream` must outlive it. Throws kDeviceOutOfMemory.
HEMSTITCH_API DeviceContent make_device_memory(std::uint64_t bytes, CUstream_st* stream);

// Copies pieces[i], in host memory, to d_to + places[i]. Places ascend and pieces do not overlap. Bytes
// between two pieces are overwritten with unspecified values. The copies are complete for every stream when
// the call returns. It waits for no stream of the caller's. Throws kInvalidOption if the counts differ.
HEMSTITCH_API void upload_to_device(std::span<const std::span<const std::byte>> pieces,
                                    std::span<const std::uint64_t> places, std::byte* d_to);

// Waits for the work given to `stream` so far, and copies `into.size()` bytes to the host.
HEMSTITCH_API void download_from_device(const std::byte* d_from, std::span<std::byte> into,
                                        CUstream_st* stream);

// Copies within the device, as a step of `stream`. Does not wait.
HEMSTITCH_API void copy_on_device(const std::byte* d_from, std::uint64_t bytes, std::byte* d_to,
                                  CUstream_st* stream);

// Work given to `stream` from now on begins after the work given to `before` so far. Does not wait.
HEMSTITCH_API void order_after(CUstream_st* before, CUstream_st* stream);

}  // namespace hemstitch
