/* Hemstitch's C interface: from memory to memory in one call, and streams. docs/c.md leads to the rest: each header of C++ has one for C
 * beside it, files.h, memory.h, search.h and so on.
 *
 *   hemstitch_compress_options options = {.size = sizeof options};      // zeros and NULLs are the defaults
 *   options.level = 9;
 *   if (hemstitch_compress_with(&options, text, text_bytes, frame, capacity, &frame_bytes) != HEMSTITCH_OK)
 *     fprintf(stderr, "%s\n", hemstitch_last_error_message());
 *
 * Pointers. One may be NULL only where its size, count or capacity is 0, or where its comment says so; otherwise HEMSTITCH_INVALID_OPTION
 * names it. Nothing that a call is given is kept after it, but what an object that it makes is said to keep.
 *
 * Structures with a `size` as their first member may grow in later versions, at their end. `size` says which version the caller was compiled
 * with: members that it lacks are zero. Other structures stay as they are. HEMSTITCH_INVALID_OPTION tells of a `size` that is 0, and of members
 * that are set and that an older library does not know.
 *
 * Errors. A call that fails changes nothing that its comment does not name. No call ends the process or lets an exception out;
 * where memory runs out, the status is HEMSTITCH_OUT_OF_MEMORY.
 *
 * Thread safety: every function may be called from any number of threads at once; an object belongs to one thread at a time unless its comment says
 * more. hemstitch_last_error_message() speaks of the calling thread's last failed call.
 */
#ifndef HEMSTITCH_HEMSTITCH_H
#define HEMSTITCH_HEMSTITCH_H

#include <stddef.h>
#include <stdint.h>

#include "hemstitch/version.h"

#if defined(__GNUC__)
#define HEMSTITCH_API __attribute__((visibility("default")))
#else
#define HEMSTITCH_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What became of a call. The hundreds name the family; hemstitch_status_text() says what to do. */
typedef enum hemstitch_status {
  HEMSTITCH_OK = 0,

  /* 1xx: what the caller asked for */
  HEMSTITCH_INVALID_OPTION = 100,
  HEMSTITCH_UNKNOWN_BACKEND = 101,
  HEMSTITCH_DICTIONARY_NEEDED = 102,
  HEMSTITCH_DICTIONARY_MISMATCH = 103,
  HEMSTITCH_RANGE_OUTSIDE_CONTENT = 104,
  HEMSTITCH_WRONG_STATE = 105,

  /* 2xx: the format of the input */
  HEMSTITCH_UNKNOWN_FORMAT = 200,
  HEMSTITCH_FOREIGN_FORMAT = 201,
  HEMSTITCH_UNSUPPORTED_VERSION = 202,
  HEMSTITCH_UNSUPPORTED_FEATURE = 203,

  /* 3xx: damaged data */
  HEMSTITCH_TRUNCATED = 300,
  HEMSTITCH_CORRUPT_HEADER = 301,
  HEMSTITCH_CORRUPT_BLOCK = 302,
  HEMSTITCH_HEADER_CHECKSUM_MISMATCH = 303,
  HEMSTITCH_BLOCK_CHECKSUM_MISMATCH = 304,
  HEMSTITCH_CONTENT_CHECKSUM_MISMATCH = 305,
  HEMSTITCH_CONTENT_SIZE_MISMATCH = 306,
  HEMSTITCH_TRAILING_GARBAGE = 307,

  /* 4xx: room */
  HEMSTITCH_OUTPUT_TOO_SMALL = 400,
  HEMSTITCH_OUT_OF_MEMORY = 401,
  HEMSTITCH_MEMORY_LIMIT = 402,

  /* 5xx: the device */
  HEMSTITCH_DEVICE_UNAVAILABLE = 500,
  HEMSTITCH_DEVICE_LOST = 501,
  HEMSTITCH_DEVICE_OUT_OF_MEMORY = 502,
  HEMSTITCH_DEVICE_FAULT = 503,

  /* 6xx: a mistake in Hemstitch itself */
  HEMSTITCH_INTERNAL = 600,

  /* 7xx: the system around it */
  HEMSTITCH_READ_FAILED = 700,
  HEMSTITCH_WRITE_FAILED = 701,
  HEMSTITCH_INPUT_CHANGED = 702,
  HEMSTITCH_CANCELLED = 703
} hemstitch_status;

/* One sentence on what the status means and what to do. Never NULL; "unknown status" for other numbers. */
HEMSTITCH_API const char* hemstitch_status_text(hemstitch_status status);

/* The full message of the calling thread's last failed call, with its place in the data where one is known.
 * Valid until that thread's next call. Empty if none failed. */
HEMSTITCH_API const char* hemstitch_last_error_message(void);

/* Where in compressed data an error was met. */
typedef struct hemstitch_place {
  uint64_t frame, block; /* counted from 1; 0: not known */
  uint64_t byte_offset;  /* counted from 0; UINT64_MAX: not known */
} hemstitch_place;

/* Where the calling thread's last failed call met its error; all unknown where none failed, or where it has no place. */
HEMSTITCH_API hemstitch_place hemstitch_last_error_place(void);

/* The version of the library in use, e.g. "0.1.0". */
HEMSTITCH_API const char* hemstitch_version(void);

/* The formats. Numbers are stable. */
typedef enum hemstitch_format {
  HEMSTITCH_FORMAT_DEFAULT = 0, /* compressing: LZ4; restoring: the one that the data begins with */
  HEMSTITCH_FORMAT_LZ4 = 1,     /* LZ4 frames */
  HEMSTITCH_FORMAT_GZIP = 2,    /* RFC 1952; restoring: BGZF as well */
  HEMSTITCH_FORMAT_BGZF = 3,    /* gzip in members of at most 64 KB that say their size, as bgzip writes it */
  HEMSTITCH_FORMAT_ZLIB = 4,    /* RFC 1950; restored only where it is asked for */
  HEMSTITCH_FORMAT_DEFLATE =
      5 /* RFC 1951, without header and checksum; restored only where it is asked for */
} hemstitch_format;

/* ---- What a caller may watch ---- */

/* Called after each piece of output with the bytes read and written so far; never twice at once, but from any thread. 0: go on; anything
 * else ends the call with HEMSTITCH_CANCELLED. */
typedef int (*hemstitch_progress)(void* context, uint64_t input_bytes, uint64_t output_bytes);

/* Takes output, piece by piece and in order; never called twice at once. 0: go on; anything else ends the call with HEMSTITCH_WRITE_FAILED, whose
 * message names the number. */
typedef int (*hemstitch_output)(void* context, const void* bytes, size_t count);

/* What a call or a stream did, so far. Set `size` before it is filled. */
typedef struct hemstitch_report {
  size_t size;           /* sizeof(hemstitch_report) */
  uint64_t input_bytes;  /* that were read, */
  uint64_t output_bytes; /* and written: a stream's position */
  uint64_t frame_count;  /* without skippable ones */
  uint64_t block_count;
  uint64_t fallback_blocks;      /* that the backend failed on: another one did them */
  uint64_t planned_bytes;        /* of memory, for buffers */
  uint64_t planned_device_bytes; /* of a device's memory; 0 where there is none */
  unsigned threads;              /* that worked at most */
  int backend_dropped;           /* 1: the backend failed twice, and another one did the rest */
  char backend[32];              /* that worked; empty before the first block */
  char fallback_backend[32];     /* that did fallback_blocks */
  char fallback_reason[256];     /* the first failure's message; empty where there was none */
} hemstitch_report;

/* ---- Compressing ---- */

/* Zeros and NULLs, and no options at all, are the defaults. */
typedef struct hemstitch_compress_options {
  size_t size;             /* sizeof(hemstitch_compress_options) */
  hemstitch_format format; /* that is written */
  int level;               /* 1 to 12; 0: the format's default */
  size_t block_bytes;      /* LZ4: 64K, 256K, 1M or 4M; 0: the format's default */
  /* LZ4 alone has a choice of these; other formats have the checksums that they have. */
  int acceleration;       /* N of --fast=N, with level 1: faster and larger; 0: off */
  int linked_blocks;      /* 1: each block may refer to the 64 KB before it */
  int no_block_checksums; /* 1: none; else XXH32 of each block as written */
  int content_checksum;   /* 1: XXH32 of the whole content: serial, about 5 GB/s */
  int verify; /* 1: restores each block where it was made and compares it; one that fails is made elsewhere */
  unsigned threads;                /* 0: one a core */
  uint64_t memory_limit_bytes;     /* 0: none; bounds the buffers, not the program */
  uint64_t gpu_memory_limit_bytes; /* of the device; 0: half of what is free there */
  const char* backend; /* "auto", "reproducible", or a name: see `hemstitch backends`; NULL: "auto" */
  /* Of the backends cuda and webgpu: a number in `hemstitch backends -vv`, a part of a name, a list of both with commas, or "all": cuda
   * works on each, others on the first usable one. NULL: what HEMSTITCH_DEVICE says, else the best one. */
  const char* device;
  /* LZ4: its last 64 KB serve every block as history. zlib: at most 64 KB, history of the first block. Others have none. */
  const void* dictionary;
  size_t dictionary_bytes;
  /* gzip: the name of the file whose content it is, and when it was last changed, in seconds since 1970. NULL and 0: not stored. */
  const char* stored_name;
  uint32_t stored_time;
  /* Of a stream whose size is known before: LZ4 stores it, and another size is an error. 0: not known. Calls with an input know theirs. */
  uint64_t content_bytes;
  /* Of calls with an input alone; a stream's are told by hemstitch_compressor_report(). */
  hemstitch_progress progress; /* NULL: none */
  void* progress_context;      /* that it is given */
  hemstitch_report* report;    /* filled on success; may be NULL */
} hemstitch_compress_options;

/* The most bytes that hemstitch_compress() writes for `input_bytes` bytes at any level; UINT64_MAX where that would be more. */
HEMSTITCH_API uint64_t hemstitch_compress_bound(uint64_t input_bytes);

/* The same for hemstitch_compress_with() and that format, whatever else its options say; UINT64_MAX where there is no such format. */
HEMSTITCH_API uint64_t hemstitch_compress_bound_of(hemstitch_format format, uint64_t input_bytes);

/* Compresses input[0, input_bytes) into one LZ4 frame.
 *   level            1 to 12, 0 for the default
 *   output           room for output_capacity bytes, apart from the input; unspecified after an error
 *   output_bytes     set to the frame's size on success, untouched otherwise
 * Returns HEMSTITCH_OUTPUT_TOO_SMALL if the room does not suffice; hemstitch_compress_bound() bytes always
 * do. */
HEMSTITCH_API hemstitch_status hemstitch_compress(const void* input, size_t input_bytes, int level,
                                                  void* output, size_t output_capacity, size_t* output_bytes);

/* The same with options, which may be NULL. Returns HEMSTITCH_UNKNOWN_BACKEND or HEMSTITCH_DEVICE_UNAVAILABLE where they
 * name what is not there. */
HEMSTITCH_API hemstitch_status hemstitch_compress_with(const hemstitch_compress_options* options,
                                                       const void* input, size_t input_bytes, void* output,
                                                       size_t output_capacity, size_t* output_bytes);

/* ---- Restoring ---- */

/* Zeros and NULLs, and no options at all, are the defaults. */
typedef struct hemstitch_restore_options {
  size_t size;                  /* sizeof(hemstitch_restore_options) */
  hemstitch_format format;      /* that is restored; zlib and raw DEFLATE have to be named */
  int skip_checksums;           /* 1: none is verified */
  int accept_any_dictionary_id; /* 1: use `dictionary` although the frame names another */
  unsigned threads;             /* these five as hemstitch_compress_options has them */
  uint64_t memory_limit_bytes;
  uint64_t gpu_memory_limit_bytes;
  const char* backend;
  const char* device;
  const void* dictionary; /* the one that the frame was written with */
  size_t dictionary_bytes;
  /* Of hemstitch_restore_ranges(), for gzip: what hemstitch_make_index() wrote, or a .gzidx of indexed_gzip or rapidgzip. */
  const void* index;
  size_t index_bytes;
  /* Of calls with an input alone; a stream's are told by hemstitch_decompressor_report(). */
  hemstitch_progress progress; /* NULL: none */
  void* progress_context;      /* that it is given */
  hemstitch_report* report;    /* filled on success; may be NULL */
} hemstitch_restore_options;

/* The size of what hemstitch_restore() would write, found without writing it. */
HEMSTITCH_API hemstitch_status hemstitch_restored_size(const void* input, size_t input_bytes,
                                                       uint64_t* restored_bytes);

/* Restores all frames in input[0, input_bytes) one after the other, verifying every checksum there is.
 * output_bytes is set to the restored size on success, untouched otherwise; what stands in `output` after an
 * error is unspecified. */
HEMSTITCH_API hemstitch_status hemstitch_restore(const void* input, size_t input_bytes, void* output,
                                                 size_t output_capacity, size_t* output_bytes);

/* The same with options, which may be NULL. */
HEMSTITCH_API hemstitch_status hemstitch_restore_with(const hemstitch_restore_options* options,
                                                      const void* input, size_t input_bytes, void* output,
                                                      size_t output_capacity, size_t* output_bytes);

/* The same, given to `output` piece by piece: for contents whose size nobody knows before. `output` is called from any thread. What it was given
 * before an error is content, verified block by block. */
HEMSTITCH_API hemstitch_status hemstitch_restore_to(const hemstitch_restore_options* options,
                                                    const void* input, size_t input_bytes,
                                                    hemstitch_output output, void* context);

/* Bytes [begin, end) of the content of all frames together, and where they go. An end past the content means its end. */
typedef struct hemstitch_range {
  uint64_t begin, end;
  void* output;
  size_t output_capacity;
  size_t output_bytes; /* set: 0 unless status is HEMSTITCH_OK */
  hemstitch_status
      status; /* set: HEMSTITCH_RANGE_OUTSIDE_CONTENT, HEMSTITCH_OUTPUT_TOO_SMALL, or what is wrong with a block of it */
  hemstitch_place place; /* set: of that block */
} hemstitch_range;

/* Many ranges at once, in any order, from independent blocks (LZ4, BGZF), or of gzip by an index: each block, or part between two points of the index, that
 * they touch is restored once. The call fails where headers are damaged, blocks depend on each other (HEMSTITCH_UNSUPPORTED_FEATURE) or the index is not of
 * this input (HEMSTITCH_INVALID_OPTION); then no range is set. Checksums of blocks are verified, those of whole contents are not. `options` may be
 * NULL; `progress` and `report` of them are refused with HEMSTITCH_INVALID_OPTION. */
HEMSTITCH_API hemstitch_status hemstitch_restore_ranges(const hemstitch_restore_options* options,
                                                        const void* input, size_t input_bytes,
                                                        hemstitch_range* ranges, size_t count);

/* The most bytes that hemstitch_make_index() writes for so much input. */
HEMSTITCH_API uint64_t hemstitch_index_bound(uint64_t input_bytes);

/* Restores all of a gzip file, to nowhere, verifies it, and writes places from which hemstitch_restore_ranges() begins: a .gzidx, which
 * indexed_gzip and rapidgzip read. output_bytes is set to its size on success. BGZF, whose blocks need no index, and other formats are
 * HEMSTITCH_UNSUPPORTED_FEATURE. `options` as for hemstitch_restore_ranges(). */
HEMSTITCH_API hemstitch_status hemstitch_make_index(const hemstitch_restore_options* options,
                                                    const void* input, size_t input_bytes, void* output,
                                                    size_t output_capacity, size_t* output_bytes);

/* ---- Streams: what comes piece by piece, with a batch of blocks in memory at most ----
 *
 *   hemstitch_compressor* compressor = NULL;
 *   status = hemstitch_compressor_new(NULL, write_to_file, file, &compressor);
 *   while (status == HEMSTITCH_OK && (bytes = fread(piece, 1, sizeof piece, input)) > 0)
 *     status = hemstitch_compressor_write(compressor, piece, bytes);
 *   if (status == HEMSTITCH_OK) status = hemstitch_compressor_finish(compressor);
 *   hemstitch_compressor_free(compressor);
 *
 * Output goes to a function of the caller's, from the thread that calls write() or finish(), in pieces of any size. After an error, and after finish(), write()
 * and finish() return HEMSTITCH_WRONG_STATE. */

typedef struct hemstitch_compressor hemstitch_compressor;
typedef struct hemstitch_decompressor hemstitch_decompressor;

/* `options` may be NULL, and are copied, but for the dictionary, which has to outlive the object. *compressor is set on success, to be freed with
 * hemstitch_compressor_free(). */
HEMSTITCH_API hemstitch_status hemstitch_compressor_new(const hemstitch_compress_options* options,
                                                        hemstitch_output output, void* context,
                                                        hemstitch_compressor** compressor);
HEMSTITCH_API hemstitch_status hemstitch_compressor_write(hemstitch_compressor* compressor, const void* piece,
                                                          size_t piece_bytes);
/* Writes what is left, and the frame's end, without which it is incomplete. */
HEMSTITCH_API hemstitch_status hemstitch_compressor_finish(hemstitch_compressor* compressor);
/* How far it is, at any time, also after an error: bytes that were taken and given out, blocks that are done. */
HEMSTITCH_API hemstitch_status hemstitch_compressor_report(const hemstitch_compressor* compressor,
                                                           hemstitch_report* report);
HEMSTITCH_API void hemstitch_compressor_free(hemstitch_compressor* compressor); /* NULL: nothing */

/* As hemstitch_compressor_new(); options->index has no meaning here. */
HEMSTITCH_API hemstitch_status hemstitch_decompressor_new(const hemstitch_restore_options* options,
                                                          hemstitch_output output, void* context,
                                                          hemstitch_decompressor** decompressor);
/* Before anything is written: hemstitch_decompressor_index() will give what hemstitch_make_index() would. write() and finish() fail where
 * that does. */
HEMSTITCH_API hemstitch_status hemstitch_decompressor_make_index(hemstitch_decompressor* decompressor);
HEMSTITCH_API hemstitch_status hemstitch_decompressor_write(hemstitch_decompressor* decompressor,
                                                            const void* piece, size_t piece_bytes);
/* HEMSTITCH_TRUNCATED if the stream ends inside a frame, HEMSTITCH_TRAILING_GARBAGE if other bytes stand behind the last one. */
HEMSTITCH_API hemstitch_status hemstitch_decompressor_finish(hemstitch_decompressor* decompressor);
/* After make_index() and finish(), as often as wanted. Room for hemstitch_index_bound() of all that was written suffices; output_bytes is set on success. */
HEMSTITCH_API hemstitch_status hemstitch_decompressor_index(const hemstitch_decompressor* decompressor,
                                                            void* output, size_t output_capacity,
                                                            size_t* output_bytes);
/* As hemstitch_compressor_report(). */
HEMSTITCH_API hemstitch_status hemstitch_decompressor_report(const hemstitch_decompressor* decompressor,
                                                             hemstitch_report* report);
HEMSTITCH_API void hemstitch_decompressor_free(hemstitch_decompressor* decompressor); /* NULL: nothing */

#ifdef __cplusplus
}
#endif

#endif
