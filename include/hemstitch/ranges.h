/* Any part of a compressed input, as often as you like, for C: the reader of ranges.hpp, with statuses instead
 * of exceptions. hemstitch_restore_ranges() (hemstitch.h) does the same once, for an input in memory.
 *
 *   hemstitch_range_reader* reader = NULL;
 *   status = hemstitch_range_reader_open(NULL, "log.lz4", &reader);
 *   if (status == HEMSTITCH_OK)
 *     status = hemstitch_range_reader_read(reader, 123456789, line, sizeof line, &line_bytes);
 *   hemstitch_range_reader_free(reader);
 *
 * What a read costs, what a reader keeps and what is checked: see ranges.hpp.
 *
 * Thread safety: several threads may call one reader at once, without locks; only freeing it has to wait for
 * all of them. A child of fork() may use it, too. */
#ifndef HEMSTITCH_RANGES_H
#define HEMSTITCH_RANGES_H

#include <stddef.h>
#include <stdint.h>

#include "hemstitch/hemstitch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads where the blocks are once and keeps it, in less than 1 % of the input's size. So a read restores the
 * blocks that it touches and reads nothing else. */
typedef struct hemstitch_range_reader hemstitch_range_reader;

/* Reads bytes of an input: fills `into` with those from `at` on, and sets *read_bytes to how many there were;
 * fewer than `bytes` only at the end. Several threads may call it at once. Return 0, or anything else to end
 * the call with HEMSTITCH_READ_FAILED; the message contains the returned number. */
typedef int (*hemstitch_read_at)(void* context, uint64_t at, void* into, size_t bytes, size_t* read_bytes);

/* These four make a reader: of an input in memory, which may be a mapped file; of an input of that size, which
 * only `read` reads; of a regular file; of a descriptor of one, which is duplicated, and whose position does
 * not matter and does not change. They read the headers of all blocks and restore nothing. Block sizes that
 * no header gives are found by walking the blocks' tokens, on options->threads threads. With options->index
 * they read only the index.
 *
 * The input must stay as it is while the reader lives, and so must the memory of options->index. `options` may
 * be NULL; its `progress` and `report` must be NULL. If other bytes follow the last frame, they return
 * HEMSTITCH_TRAILING_GARBAGE, unless options->used_bytes is set (not with an index). On success *reader is set;
 * free it with hemstitch_range_reader_free(). They fail where hemstitch_restore_ranges() fails as a whole. */
HEMSTITCH_API hemstitch_status hemstitch_range_reader_new(const hemstitch_restore_options* options,
                                                          const void* input, size_t input_bytes,
                                                          hemstitch_range_reader** reader);
HEMSTITCH_API hemstitch_status hemstitch_range_reader_new_from(const hemstitch_restore_options* options,
                                                               hemstitch_read_at read, void* context,
                                                               uint64_t input_bytes,
                                                               hemstitch_range_reader** reader);
HEMSTITCH_API hemstitch_status hemstitch_range_reader_open(const hemstitch_restore_options* options,
                                                           const char* path, hemstitch_range_reader** reader);
HEMSTITCH_API hemstitch_status hemstitch_range_reader_open_descriptor(
    const hemstitch_restore_options* options, int descriptor, hemstitch_range_reader** reader);

/* The size of the content of all frames together. */
HEMSTITCH_API hemstitch_status hemstitch_range_reader_content_bytes(const hemstitch_range_reader* reader,
                                                                    uint64_t* content_bytes);

/* Fills `output` with the content from `at` on. On success *output_bytes is set: it is less than
 * output_capacity only at the end of the content, and 0 behind it. After an error, which is that of the first
 * bad block, `output` is unspecified. */
HEMSTITCH_API hemstitch_status hemstitch_range_reader_read(const hemstitch_range_reader* reader, uint64_t at,
                                                           void* output, size_t output_capacity,
                                                           size_t* output_bytes);

/* Restores many ranges, as hemstitch_restore_ranges() does. */
HEMSTITCH_API hemstitch_status hemstitch_range_reader_restore(const hemstitch_range_reader* reader,
                                                              hemstitch_range* ranges, size_t count);

HEMSTITCH_API void hemstitch_range_reader_free(hemstitch_range_reader* reader); /* NULL: does nothing */

#ifdef __cplusplus
}
#endif

#endif /* HEMSTITCH_RANGES_H */
