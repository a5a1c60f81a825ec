/* Reads a compressed input as a file, for C: the reader of reader.hpp, with statuses instead of exceptions. For those who
 * know zlib's gzread(), gzseek() and gztell(): all formats, and a seek() that does not begin anew each time.
 *
 *   hemstitch_reader* reader = NULL;
 *   hemstitch_status status = hemstitch_reader_open_path(NULL, "run.log.gz", &reader);
 *   while (status == HEMSTITCH_OK) {
 *     status = hemstitch_reader_read(reader, piece, sizeof piece, &bytes);
 *     if (status != HEMSTITCH_OK || bytes == 0) break;
 *     use(piece, bytes);
 *   }
 *   hemstitch_reader_close(reader);
 *
 * What a seek costs, what a reader keeps and what is checked: see reader.hpp.
 *
 * Thread safety: one thread at a time may use a reader; hemstitch_range_reader (ranges.h) serves several. */
#ifndef HEMSTITCH_READER_H
#define HEMSTITCH_READER_H

#include <stddef.h>
#include <stdint.h>

#include "hemstitch/hemstitch.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hemstitch_reader hemstitch_reader;

/* Gives an input in order: fills `into` with what comes next, a byte at least, and sets *read_bytes to how much that was; to
 * 0 only at the end. Return 0, or anything else to end the call with HEMSTITCH_READ_FAILED; the message contains the returned
 * number. */
typedef int (*hemstitch_read_next)(void* context, void* into, size_t bytes, size_t* read_bytes);

/* These four make a reader: of a file of any kind; of an open one, which is duplicated (a regular file is read from its
 * beginning, and its position does not matter and does not change); of an input in memory, which must stay as it is while
 * the reader lives; and of what `read` gives. They read nothing yet. `options` may be NULL; its `progress`, `report` and
 * `used_bytes` must be NULL; its dictionary and index are copied. On success *reader is set; free it with
 * hemstitch_reader_close(). */
HEMSTITCH_API hemstitch_status hemstitch_reader_open_path(const hemstitch_restore_options* options,
                                                          const char* path, hemstitch_reader** reader);
HEMSTITCH_API hemstitch_status hemstitch_reader_open_descriptor(const hemstitch_restore_options* options,
                                                                int descriptor, hemstitch_reader** reader);
HEMSTITCH_API hemstitch_status hemstitch_reader_open_memory(const hemstitch_restore_options* options,
                                                            const void* input, size_t input_bytes,
                                                            hemstitch_reader** reader);
HEMSTITCH_API hemstitch_status hemstitch_reader_open_callback(const hemstitch_restore_options* options,
                                                              hemstitch_read_next read, void* context,
                                                              hemstitch_reader** reader);

/* Fills `output` with the content that follows. On success *output_bytes is set: less than output_capacity only at the end
 * of the content or before an error, and 0 only at the end (or with no room). An error comes when all content before it has
 * been given, and again from each call until hemstitch_reader_seek(). */
HEMSTITCH_API hemstitch_status hemstitch_reader_read(hemstitch_reader* reader, void* output,
                                                     size_t output_capacity, size_t* output_bytes);

/* The next read begins at this byte of the content; behind its end there is nothing. HEMSTITCH_WRONG_STATE: the input comes
 * in order, and the place lies before the one that was reached. */
HEMSTITCH_API hemstitch_status hemstitch_reader_seek(hemstitch_reader* reader, uint64_t at);
/* Sets *at to where the next read begins. */
HEMSTITCH_API hemstitch_status hemstitch_reader_tell(const hemstitch_reader* reader, uint64_t* at);

HEMSTITCH_API void hemstitch_reader_close(hemstitch_reader* reader); /* NULL: does nothing */

#ifdef __cplusplus
}
#endif

#endif /* HEMSTITCH_READER_H */
