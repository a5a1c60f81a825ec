// A WebGPU device for Hemstitch to work on: one that it opens, or one of a caller who computes there too. And compaction in its buffers, the
// same as compact.hpp has for memory. Files are loaded to such a device by load_files() (LoadOptions::webgpu), and texts searched there by
// TextSearcher (search.hpp).
//
//   const hemstitch::WebgpuDevice device(my_device, my_queue);       // or WebgpuDevice(): Hemstitch's own
//   hemstitch::scan_sizes(device, sizes, count, begins);             // queued, in the order of the calls
//   hemstitch::gather_pieces(device, {.source = data, .pieces = pieces, .begins = begins, .output = span, .piece_count = count});
//   .. my own work on my_queue finds the bytes there ..
//
// Handles are those of webgpu.h, as wgpu-native 29 gives them, passed as void*; this header needs none of its own. A caller's must come from
// the copy of wgpu-native that Hemstitch loads: one that is in the process already is taken before any other (docs/webgpu.md).
// Buffers are the caller's, and keep their contents but for what is said here. They have the usages STORAGE, COPY_SRC and
// COPY_DST, and sizes in multiples of 16 bytes.
//
// Errors are thrown as hemstitch::Error: kDeviceUnavailable where the library or the device is missing, also in builds without WebGPU,
// kInvalidOption for what a caller can mend, else the device family. An error of the caller's own calls stays the caller's. Thread safety: any number
// of threads may use one WebgpuDevice.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "hemstitch/hemstitch.hpp"

namespace hemstitch {

namespace webgpu {
class Device;
}

// Shares its device with its copies; shaders are compiled once for all of them.
class HEMSTITCH_API WebgpuDevice {
 public:
  // One of Hemstitch's own, as CompressOptions::device names it.
  explicit WebgpuDevice(std::string_view device = {});
  // A WGPUDevice of the caller's, and its WGPUQueue. Both get a reference.
  WebgpuDevice(void* device, void* queue);

  void* device() const;  // WGPUDevice
  void* queue() const;   // WGPUQueue
  const std::shared_ptr<webgpu::Device>& shared() const { return device_; }

 private:
  std::shared_ptr<webgpu::Device> device_;
};

// begins[i] = sizes[0] + ... + sizes[i-1], and one element more, the total, which must be below 4 GiB. Both are WGPUBuffers of words of 32 bits,
// and not the same. Queued, not awaited.
HEMSTITCH_API void scan_sizes(const WebgpuDevice& device, void* sizes, std::uint32_t count, void* begins);

struct WebgpuGather {
  void* source = nullptr;  // WGPUBuffer
  void* pieces = nullptr;  // WGPUBuffer: two words a piece, its first byte in `source` and how many it has
  void* begins =
      nullptr;  // WGPUBuffer: where each goes in `output`, and the total, as scan_sizes() gives them
  void* output = nullptr;  // WGPUBuffer, not `source`
  std::uint32_t piece_count = 0;
};

// Brings pieces from anywhere in `source` into one span, which must fit `output`: bytes behind it become 0 up to a multiple of 16. Queued, not
// awaited.
HEMSTITCH_API void gather_pieces(const WebgpuDevice& device, const WebgpuGather& gather);

}  // namespace hemstitch
