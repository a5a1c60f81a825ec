// A WebGPU device for Hemstitch to work on: one that it opens, or the device of a caller who computes there
// too. And compaction in buffers of that device, as compact.hpp does in memory. load_files() can load files
// to such a device (LoadOptions::webgpu), and TextSearcher (search.hpp) can search texts there.
//
//   const hemstitch::WebgpuDevice device(my_device, my_queue);       // or WebgpuDevice(): Hemstitch's own
//   hemstitch::scan_sizes(device, sizes, count, begins);             // queued, in the order of the calls
//   hemstitch::gather_pieces(device, {.source = data, .pieces = pieces, .begins = begins,
//                                     .output = span, .piece_count = count});
//   ... my own work on my_queue finds the bytes there ...
//
// Handles are those of webgpu.h, as wgpu-native 29 defines them, passed as void*: this header does not
// include it. A caller's handles must come from the same copy of wgpu-native that Hemstitch loads. If the
// process has loaded a copy already, Hemstitch uses that one (docs/webgpu.md).
//
// Buffers belong to the caller. Calls change only what their comments name. Buffers need the usages STORAGE,
// COPY_SRC and COPY_DST, and sizes in multiples of 16 bytes.
//
// Errors are thrown as hemstitch::Error: kDeviceUnavailable if the library or the device is missing, also in
// builds without WebGPU; kInvalidOption for what a caller can correct; otherwise an error of the device
// family. Errors of the caller's own WebGPU calls are still reported to the caller.
//
// Thread safety: any number of threads may use one WebgpuDevice at once.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "hemstitch/hemstitch.hpp"

namespace hemstitch {

namespace webgpu {
class Device;
}

// Copies share the device. Shaders are compiled once for all copies.
class HEMSTITCH_API WebgpuDevice {
 public:
  // Opens a device, as CompressOptions::device names it.
  explicit WebgpuDevice(std::string_view device = {});
  // Uses the caller's WGPUDevice and its WGPUQueue, and adds a reference to both.
  WebgpuDevice(void* device, void* queue);

  void* device() const;  // WGPUDevice
  void* queue() const;   // WGPUQueue
  const std::shared_ptr<webgpu::Device>& shared() const { return device_; }

 private:
  std::shared_ptr<webgpu::Device> device_;
};

// begins[i] = sizes[0] + ... + sizes[i-1]. `begins` has count + 1 elements; the last is the total, which must
// be below 4 GiB. Both are WGPUBuffers of 32-bit words, and must be different. The work is queued; the call
// does not wait for it.
HEMSTITCH_API void scan_sizes(const WebgpuDevice& device, void* sizes, std::uint32_t count, void* begins);

struct WebgpuGather {
  void* source = nullptr;  // WGPUBuffer
  // WGPUBuffer: two words per piece, its first byte in `source` and its size in bytes
  void* pieces = nullptr;
  // WGPUBuffer: where each piece goes in `output`, and the total, as scan_sizes() writes them
  void* begins = nullptr;
  void* output = nullptr;  // WGPUBuffer, not `source`
  std::uint32_t piece_count = 0;
};

// Copies pieces from anywhere in `source` into one span, which must fit in `output`. The bytes after the
// span, up to a multiple of 16, are set to 0. The work is queued; the call does not wait for it.
HEMSTITCH_API void gather_pieces(const WebgpuDevice& device, const WebgpuGather& gather);

}  // namespace hemstitch
