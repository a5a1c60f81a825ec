// Memory of a CUDA device, and the way to it and back, for callers of batch.hpp that have no CUDA headers.
//
//   const hemstitch::OnDevice here(0);
//   const hemstitch::DeviceContent memory = hemstitch::make_device_memory(bytes, stream);
//   hemstitch::upload_to_device(pieces, places, memory.data());
//   hemstitch::batch::lz4_restore(.., stream);
//   hemstitch::download_from_device(memory.data(), into, stream);
//
// All of it is about the calling thread's current device, which OnDevice chooses for a scope. In builds without CUDA, and where there is no
// device, every function throws kDeviceUnavailable with the reason. Thread safety: any number of threads may call these at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "hemstitch/files.hpp"

namespace hemstitch {

// The device of that number is the thread's current one, until the scope ends.
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

// The number of the device that has the memory at that address. Throws kInvalidOption where no device has it.
HEMSTITCH_API int device_of(const std::byte* d_memory);

// Memory that every stream may use at once, from a pool. Work that was given to `stream`, which has to outlive it, is over before the memory is
// used for something else. Throws kDeviceOutOfMemory.
HEMSTITCH_API DeviceContent make_device_memory(std::uint64_t bytes, CUstream_st* stream);

// Copies pieces[i], in the host's memory, to d_to + places[i]; places ascend and pieces do not overlap. Bytes between two pieces are written with
// something. Returns when the copies are there, for every stream; waits for no stream of the caller's.
HEMSTITCH_API void upload_to_device(std::span<const std::span<const std::byte>> pieces,
                                    std::span<const std::uint64_t> places, std::byte* d_to);

// Copies `into.size()` bytes to the host when the work given to `stream` so far is over, and waits for that.
HEMSTITCH_API void download_from_device(const std::byte* d_from, std::span<std::byte> into,
                                        CUstream_st* stream);

// Copies within the device, as a step of `stream`.
HEMSTITCH_API void copy_on_device(const std::byte* d_from, std::uint64_t bytes, std::byte* d_to,
                                  CUstream_st* stream);

// What is given to `stream` from now on begins when the work given to `before` so far is over. Waits for nothing.
HEMSTITCH_API void order_after(CUstream_st* before, CUstream_st* stream);

}  // namespace hemstitch
