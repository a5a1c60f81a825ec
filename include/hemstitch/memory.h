/* Many inputs in one call, for C: what memory.hpp says, with statuses in place of exceptions. (hemstitch.h has its calls for one input, and their progress.)
 *
 *   hemstitch_item items[2] = {{.input = a, .input_bytes = 4096, .output = frame_a, .output_capacity = room},
 *                              {.input = b, .input_bytes = 4096, .output = frame_b, .output_capacity = room}};
 *   status = hemstitch_compress_many(NULL, items, 2);      // then items[i].status and items[i].output_bytes
 *
 * Thread safety: any number of threads may call these at once. */
#ifndef HEMSTITCH_MEMORY_H
#define HEMSTITCH_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "hemstitch/hemstitch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An input, and room for what becomes of it. Rooms overlap neither each other nor an input. */
typedef struct hemstitch_item {
  const void* input;
  size_t input_bytes;
  void* output;
  size_t output_capacity;
  size_t output_bytes;     /* set: 0 unless status is HEMSTITCH_OK */
  hemstitch_status status; /* set: HEMSTITCH_OUTPUT_TOO_SMALL, or what is wrong with this input */
  hemstitch_place place;   /* set: where in it; all unknown for LZ4 blocks */
} hemstitch_item;

/* Each input becomes a frame of its own, as hemstitch_compress_with() writes it; but all go to the backend in large batches, and the processor
 * takes a batch a thread. Room of hemstitch_compress_bound_of() suffices for each. The call fails for options and where a backend fails as a whole; then nothing is
 * set. `options` may be NULL; their `progress` and `report` are refused with HEMSTITCH_INVALID_OPTION, as in the calls below. */
HEMSTITCH_API hemstitch_status hemstitch_compress_many(const hemstitch_compress_options* options,
                                                       hemstitch_item* items, size_t count);

/* The way back: what hemstitch_restore_with() gives for each of them. Damage of one is its own: HEMSTITCH_OK is what the call returns. */
HEMSTITCH_API hemstitch_status hemstitch_restore_many(const hemstitch_restore_options* options,
                                                      hemstitch_item* items, size_t count);

/* Blocks of LZ4 without a frame (docs/formats/lz4.md): what HDF5's filters and numcodecs store. By liblz4 on the processor, at options->level (0: 1) and
 * options->acceleration, by options->threads threads; other options say nothing here. Room of hemstitch_lz4_compress_bound() (batch.h) suffices. An input has
 * at most 2,113,929,216 bytes (LZ4_MAX_INPUT_SIZE), else the call returns HEMSTITCH_INVALID_OPTION. */
HEMSTITCH_API hemstitch_status hemstitch_compress_lz4_blocks(const hemstitch_compress_options* options,
                                                             hemstitch_item* items, size_t count);

/* The way back, on the backend of the options, on the processor by all threads. A block that would fill more than its room is
 * HEMSTITCH_CORRUPT_BLOCK. */
HEMSTITCH_API hemstitch_status hemstitch_restore_lz4_blocks(const hemstitch_restore_options* options,
                                                            hemstitch_item* items, size_t count);

#ifdef __cplusplus
}
#endif

#endif /* HEMSTITCH_MEMORY_H */
