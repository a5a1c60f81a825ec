/* Many inputs in one call, for C: the functions of memory.hpp, with statuses instead of exceptions. The calls
 * for one input, and their progress, are in hemstitch.h.
 *
 *   hemstitch_item items[2] = {
 *       {.input = a, .input_bytes = 4096, .output = frame_a, .output_capacity = room},
 *       {.input = b, .input_bytes = 4096, .output = frame_b, .output_capacity = room}};
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

/* An input, and room for its result. Rooms overlap neither each other nor an input, else the call returns
 * HEMSTITCH_INVALID_OPTION. */
typedef struct hemstitch_item {
  const void* input;
  size_t input_bytes;
  void* output;
  size_t output_capacity;
  size_t output_bytes;     /* set: 0 unless status is HEMSTITCH_OK, or HEMSTITCH_TRAILING_GARBAGE */
  hemstitch_status status; /* set: HEMSTITCH_OUTPUT_TOO_SMALL, or the error of this input */
  hemstitch_place place;   /* set: where in the input; "not known" for LZ4 blocks */
} hemstitch_item;

/* Each input becomes a separate frame, as hemstitch_compress_with() writes it. The inputs go to the backend
 * in large batches; the processor works on one batch per thread. For each, room of
 * hemstitch_compress_bound_of() bytes is always enough. The call fails, and sets nothing, if the options are
 * wrong or a backend fails as a whole. `options` may be NULL; here and in the calls below its `progress` and
 * `report` must be NULL, else the call returns HEMSTITCH_INVALID_OPTION. */
HEMSTITCH_API hemstitch_status hemstitch_compress_many(const hemstitch_compress_options* options,
                                                       hemstitch_item* items, size_t count);

/* The reverse: what hemstitch_restore_with() gives for each input. Damage to one input does not affect the
 * others; the call still returns HEMSTITCH_OK. An input with the status HEMSTITCH_TRAILING_GARBAGE was restored
 * up to its `place`, where bytes that are no frame begin. */
HEMSTITCH_API hemstitch_status hemstitch_restore_many(const hemstitch_restore_options* options,
                                                      hemstitch_item* items, size_t count);

/* LZ4 blocks without a frame (docs/formats/lz4.md), which is what HDF5's filters and numcodecs store. liblz4
 * compresses them on the processor, at options->level (0: 1) and options->acceleration, with options->threads
 * threads. Other options are ignored. Room of hemstitch_lz4_compress_bound() bytes (batch.h) is always
 * enough. An input has at most 2,113,929,216 bytes (LZ4_MAX_INPUT_SIZE), else the call returns
 * HEMSTITCH_INVALID_OPTION. */
HEMSTITCH_API hemstitch_status hemstitch_compress_lz4_blocks(const hemstitch_compress_options* options,
                                                             hemstitch_item* items, size_t count);

/* The reverse, on the backend of the options; the processor uses all threads. A block that restores to more
 * than its room gets HEMSTITCH_CORRUPT_BLOCK. */
HEMSTITCH_API hemstitch_status hemstitch_restore_lz4_blocks(const hemstitch_restore_options* options,
                                                            hemstitch_item* items, size_t count);

#ifdef __cplusplus
}
#endif

#endif /* HEMSTITCH_MEMORY_H */
