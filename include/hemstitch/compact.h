/* Compaction on the processor, for C: what compact.hpp says, with statuses in place of exceptions. For CUDA devices batch.h has all of these
 * (hemstitch_scan_async() and its neighbours), for WebGPU devices webgpu.h has some.
 *
 * Offsets and sizes are bytes. Work is divided by bytes over all cores. Thread safety: any number of calls at once. */
#ifndef HEMSTITCH_COMPACT_H
#define HEMSTITCH_COMPACT_H

#include <stddef.h>
#include <stdint.h>

#include "hemstitch/hemstitch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* offsets[i] = sizes[0] + ... + sizes[i-1] for i up to `count`: count + 1 elements, the last one the total. */
HEMSTITCH_API hemstitch_status hemstitch_scan_sizes(const uint32_t* sizes, size_t count, uint64_t* offsets);

/* Copies sizes[i] bytes from sources[i] to output + offsets[i], for each of `count`. Offsets ascend; pieces may have gaps between them in
 * `output`, which keep their contents, and must not overlap there. HEMSTITCH_INVALID_OPTION for descending offsets,
 * HEMSTITCH_OUTPUT_TOO_SMALL where a piece does not fit; then nothing is copied. */
HEMSTITCH_API hemstitch_status hemstitch_gather_pieces(const void* const* sources, const uint32_t* sizes,
                                                       const uint64_t* offsets, size_t count, void* output,
                                                       size_t output_capacity);

/* Copies sizes[i] bytes from input + offsets[i] to targets[i], which must not overlap. Offsets ascend. Errors as above. */
HEMSTITCH_API hemstitch_status hemstitch_scatter_pieces(const void* input, size_t input_bytes,
                                                        const uint64_t* offsets, const uint32_t* sizes,
                                                        size_t count, void* const* targets);

/* HDF5's shuffle filter: n elements of element_bytes bytes each (1 to 256) become as many planes of n bytes, the first one of all
 * first bytes; bytes that fill no element are copied behind them. `bytes` of source and target, which must not overlap. By the calling thread. */
HEMSTITCH_API hemstitch_status hemstitch_shuffle_bytes(const void* source, size_t bytes,
                                                       uint32_t element_bytes, void* target);
HEMSTITCH_API hemstitch_status hemstitch_unshuffle_bytes(const void* source, size_t bytes,
                                                         uint32_t element_bytes, void* target);

#ifdef __cplusplus
}
#endif

#endif /* HEMSTITCH_COMPACT_H */
