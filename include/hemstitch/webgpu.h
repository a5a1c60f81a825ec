/* A WebGPU device for Hemstitch to work on, for C: one that it opens, or one of a caller who computes there too; and compaction in its
 * buffers. What webgpu.hpp says, with statuses in place of exceptions: how a caller shares his device stands there and in docs/webgpu.md.
 *
 * Handles are those of webgpu.h of wgpu-native 29, as void*. Buffers are the caller's, with the usages STORAGE, COPY_SRC and COPY_DST, and sizes in
 * multiples of 16 bytes. HEMSTITCH_DEVICE_UNAVAILABLE where the library or the device is missing, also in builds without
 * WebGPU. Thread safety: any number of threads may use one device at once, but for freeing it. */
#ifndef HEMSTITCH_WEBGPU_H
#define HEMSTITCH_WEBGPU_H

#include <stdint.h>

#include "hemstitch/hemstitch.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hemstitch_webgpu_device hemstitch_webgpu_device;

/* One of Hemstitch's own, as hemstitch_compress_options::device names it; `name` may be NULL. To be freed. */
HEMSTITCH_API hemstitch_status hemstitch_webgpu_device_new(const char* name,
                                                           hemstitch_webgpu_device** device);
/* A WGPUDevice of the caller's and its WGPUQueue, which both get a reference. To be freed. */
HEMSTITCH_API hemstitch_status hemstitch_webgpu_device_of(void* wgpu_device, void* wgpu_queue,
                                                          hemstitch_webgpu_device** device);
/* What was made with it (loaders, searchers, their results) keeps the device itself. NULL: nothing. */
HEMSTITCH_API void hemstitch_webgpu_device_free(hemstitch_webgpu_device* device);

HEMSTITCH_API void* hemstitch_webgpu_device_handle(const hemstitch_webgpu_device* device); /* WGPUDevice */
HEMSTITCH_API void* hemstitch_webgpu_device_queue(const hemstitch_webgpu_device* device);  /* WGPUQueue */

/* begins[i] = sizes[0] + ... + sizes[i-1], and one element more, the total, which must be below 4 GiB. Both are WGPUBuffers of words of 32
 * bits, and not the same. Queued, not awaited. */
HEMSTITCH_API hemstitch_status hemstitch_webgpu_scan_sizes(const hemstitch_webgpu_device* device, void* sizes,
                                                           uint32_t count, void* begins);

/* WGPUBuffers: `pieces` has two words a piece, its first byte in `source` and how many it has; `begins` says where each goes in `output`, and
 * the total, as hemstitch_webgpu_scan_sizes() gives them. Bytes behind the total become 0 up to a multiple of 16. Queued, not awaited. */
HEMSTITCH_API hemstitch_status hemstitch_webgpu_gather_pieces(const hemstitch_webgpu_device* device,
                                                              void* source, void* pieces, void* begins,
                                                              uint32_t piece_count, void* output);

#ifdef __cplusplus
}
#endif

#endif /* HEMSTITCH_WEBGPU_H */
