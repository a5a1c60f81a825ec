// Implements webgpu.h with webgpu.hpp.
#include "api/c/webgpu_c.hpp"

#include "core/c_call.hpp"

using namespace hemstitch;

extern "C" {

hemstitch_status hemstitch_webgpu_device_new(const char* name, hemstitch_webgpu_device** device) {
  return guarded([&] {
    needed(device, "device");
    *device = new hemstitch_webgpu_device{WebgpuDevice(name != nullptr ? name : "")};
  });
}

hemstitch_status hemstitch_webgpu_device_of(void* wgpu_device, void* wgpu_queue,
                                            hemstitch_webgpu_device** device) {
  return guarded([&] {
    needed(device, "device");
    needed(wgpu_device, "wgpu_device");
    needed(wgpu_queue, "wgpu_queue");
    *device = new hemstitch_webgpu_device{WebgpuDevice(wgpu_device, wgpu_queue)};
  });
}

void hemstitch_webgpu_device_free(hemstitch_webgpu_device* device) { delete device; }

void* hemstitch_webgpu_device_handle(const hemstitch_webgpu_device* device) {
  return device != nullptr ? device->device.device() : nullptr;
}

void* hemstitch_webgpu_device_queue(const hemstitch_webgpu_device* device) {
  return device != nullptr ? device->device.queue() : nullptr;
}

hemstitch_status hemstitch_webgpu_scan_sizes(const hemstitch_webgpu_device* device, void* sizes,
                                             uint32_t count, void* begins) {
  return guarded([&] { scan_sizes(needed(device, "device")->device, sizes, count, begins); });
}

hemstitch_status hemstitch_webgpu_gather_pieces(const hemstitch_webgpu_device* device, void* source,
                                                void* pieces, void* begins, uint32_t piece_count,
                                                void* output) {
  return guarded([&] {
    gather_pieces(
        needed(device, "device")->device,
        {.source = source, .pieces = pieces, .begins = begins, .output = output, .piece_count = piece_count});
  });
}

}  // extern "C"
