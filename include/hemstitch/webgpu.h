/* A WebGPU device for Hemstitch to work on, for C: one that it opens, or the device of a caller who computes
 * there too. And compaction in buffers of that device. These are the functions of webgpu.hpp, with statuses
 * instead of exceptions. That header and docs/webgpu.md explain how a caller shares a device.
 *
 * Handles are those of webgpu.h of wgpu-native 29, as void*. Buffers belong to the caller, and need the
 * usages STORAGE, COPY_SRC and COPY_DST, and sizes in multiples of 16 bytes. The functions return
 * HEMSTITCH_DEVICE_UNAVAILABLE if the library or the device is missing, also in builds without WebGPU.
 *
 * Thread safety: any number of threads may use one device at once, except to free it. */
#ifndef HEMSTITCH_WEBGPU_H
#define HEMSTITCH_WEBGPU_H

#include <stdint.h>

#include "hemstitch/hemstitch.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hemstitch_webgpu_device hemstitch_webgpu_device;

/* Opens a device, as hemstitch_compress_options::device names it; `name` may be NULL. Free *device with
 * hemstitch_webgpu_device_free(). */
HEMSTITCH_API hemstitch_status hemstitch_webgpu_device_new(const char* name,
                                                           hemstitch_webgpu_device** device);
/* Uses the caller's WGPUDevice and its WGPUQueue, and adds a reference to both. Free *device with
 * hemstitch_webgpu_device_free(). */
HEMSTITCH_API hemstitch_status hemstitch_webgpu_device_of(void* wgpu_device, void* wgpu_queue,
                                                          hemstitch_webgpu_device** device);
/* Objects made with it (loaders, searchers, their results) keep the device alive. NULL: does nothing. */
HEMSTITCH_API void hemstitch_webgpu_device_free(hemstitch_webgpu_device* device);

HEMSTITCH_API void* hemstitch_webgpu_device_handle(const hemstitch_webgpu_device* device); /* WGPUDevice */
HEMSTITCH_API void* hemstitch_webgpu_device_queue(const hemstitch_webgpu_device* device);  /* WGPUQueue */

/* begins[i] = sizes[0] + ... + sizes[i-1]. `begins` has count + 1 elements; the last is the total, which must
 * be below 4 GiB. Both are WGPUBuffers of 32-bit words, and must be different. The work is queued; the call
 * does not wait for it. */
HEMSTITCH_API hemstitch_status hemstitch_webgpu_scan_sizes(const hemstitch_webgpu_device* device, void* sizes,
                                                           uint32_t count, void* begins);

/* Copies pieces from anywhere in `source` into one span in `output`; all are WGPUBuffers. `pieces` has two
 * words per piece, its first byte in `source` and its size in bytes. `begins` has the offset of each piece in
 * `output`, and the total, as hemstitch_webgpu_scan_sizes() writes them. The bytes after the total, up to a
 * multiple of 16, are set to 0. The work is queued; the call does not wait for it. */
HEMSTITCH_API hemstitch_status hemstitch_webgpu_gather_pieces(const hemstitch_webgpu_device* device,
                                                              void* source, void* pieces, void* begins,
                                                              uint32_t piece_count, void* output);

#ifdef __cplusplus
}
#endif

#endif /* HEMSTITCH_WEBGPU_H */
