/* Compaction on the processor, for C: the functions of compact.hpp, with statuses instead of exceptions. For
 * CUDA devices the same functions are in batch.h (hemstitch_scan_async() and those after it); for WebGPU
 * devices some of them are in webgpu.h.
 *
 * Offsets and sizes are in bytes. Work is divided by bytes over all cores. Thread safety: any number of
 * threads may call these at once. */
#ifndef HEMSTITCH_COMPACT_H
#define HEMSTITCH_COMPACT_H

#include <stddef.h>
#include <stdint.h>

#include "hemstitch/hemstitch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* offsets[i] = sizes[0] + ... + sizes[i-1]. `offsets` has count + 1 elements; the last is the total. */
HEMSTITCH_API hemstitch_status hemstitch_scan_sizes(const uint32_t* sizes, size_t count, uint64_t* offsets);

/* Copies sizes[i] bytes from sources[i] to output + offsets[i], for each of `count` pieces. Offsets ascend.
 * Pieces must not overlap in `output`; gaps between them are unchanged. Returns HEMSTITCH_INVALID_OPTION if
 * offsets descend, HEMSTITCH_OUTPUT_TOO_SMALL if a piece does not fit; then nothing is copied. */
HEMSTITCH_API hemstitch_status hemstitch_gather_pieces(const void* const* sources, const uint32_t* sizes,
                                                       const uint64_t* offsets, size_t count, void* output,
                                                       size_t output_capacity);

/* Copies sizes[i] bytes from input + offsets[i] to targets[i]. Targets must not overlap. Offsets ascend. The
 * same errors, with HEMSTITCH_OUTPUT_TOO_SMALL if a piece is not inside the input. */
HEMSTITCH_API hemstitch_status hemstitch_scatter_pieces(const void* input, size_t input_bytes,
                                                        const uint64_t* offsets, const uint32_t* sizes,
                                                        size_t count, void* const* targets);

/* HDF5's shuffle filter. It turns n elements of element_bytes bytes (1 to 256) into element_bytes planes of n
 * bytes: first the first bytes of all elements, then their second bytes, and so on. Bytes left over after the
 * last whole element are copied to the end. Source and target have `bytes` bytes each and must not overlap.
 * Runs on the calling thread. hemstitch_unshuffle_bytes() reverses it. */
HEMSTITCH_API hemstitch_status hemstitch_shuffle_bytes(const void* source, size_t bytes,
                                                       uint32_t element_bytes, void* target);
HEMSTITCH_API hemstitch_status hemstitch_unshuffle_bytes(const void* source, size_t bytes,
                                                         uint32_t element_bytes, void* target);

/* HDF5's bitshuffle filter (32008) and Blosc's. It turns n elements of element_bytes bytes into 8 *
 * element_bytes planes of n / 8 bytes: first the lowest bits of all elements' first bytes, 8 elements a byte,
 * the first in its lowest bit; then the next bits, and so on. It does so for each block of block_bytes bytes
 * by itself; the last block is shorter. block_bytes is a multiple of 8 elements; 0 makes everything one block.
 * Elements beyond the last multiple of 8, and bytes that fill no element, are copied to the end. Everything
 * else is as with hemstitch_shuffle_bytes(). hemstitch_bitunshuffle_bytes() reverses it. */
HEMSTITCH_API hemstitch_status hemstitch_bitshuffle_bytes(const void* source, size_t bytes,
                                                          uint32_t element_bytes, size_t block_bytes,
                                                          void* target);
HEMSTITCH_API hemstitch_status hemstitch_bitunshuffle_bytes(const void* source, size_t bytes,
                                                            uint32_t element_bytes, size_t block_bytes,
                                                            void* target);

/* numcodecs' filter delta for integers: each element becomes its difference from the one before, modulo 256 to the
 * power of element_bytes, which is 1, 2, 4 or 8; the first one stays. Elements are little-endian. Everything else is
 * as with hemstitch_shuffle_bytes(). hemstitch_undelta_bytes() reverses it. */
HEMSTITCH_API hemstitch_status hemstitch_delta_bytes(const void* source, size_t bytes, uint32_t element_bytes,
                                                     void* target);
HEMSTITCH_API hemstitch_status hemstitch_undelta_bytes(const void* source, size_t bytes,
                                                       uint32_t element_bytes, void* target);

#ifdef __cplusplus
}
#endif

#endif /* HEMSTITCH_COMPACT_H */
