/* Hemstitch's C interface: one-call compression between buffers, and streams. Each C++ header has a C header
 * beside it (files.h, memory.h, search.h and so on); docs/c.md lists them.
 *
 *   hemstitch_compress_options options = {.size = sizeof options};      // zeros and NULLs are the defaults
 *   options.level = 9;
 *   if (hemstitch_compress_with(&options, text, text_bytes, frame, capacity, &frame_bytes) != HEMSTITCH_OK)
 *     fprintf(stderr, "%s\n", hemstitch_last_error_message());
 *
 * Pointers. A pointer may be NULL only where its size, count or capacity is 0, or where its comment allows
 * it. Otherwise the call returns HEMSTITCH_INVALID_OPTION and the message names the pointer. A call keeps no
 * pointer that it is given, except in an object that it creates, where the comment says so.
 *
 * Structures whose first member is `size` may grow at their end in later versions. Set `size` to the
 * structure's sizeof: it tells the library which version the caller was compiled with, and members beyond it
 * count as zero. Other structures never change. A `size` of 0, or a member that is set but that an older
 * library does not know, gives HEMSTITCH_INVALID_OPTION.
 *
 * Errors. A failed call changes only what its comment names. No call ends the process or lets an exception
 * out. HEMSTITCH_OUT_OF_MEMORY: memory ran out. HEMSTITCH_INTERNAL: also what your C++ functions throw.
 *
 * Thread safety: any number of threads may call every function at once. Only one thread at a time may use an
 * object, unless its comment allows more. hemstitch_last_error_message() reports the last failed call of the
 * calling thread.
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

/* The result of a call. The hundreds digit is the family; hemstitch_status_text() explains each status. */
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

  /* 4xx: not enough room or memory */
  HEMSTITCH_OUTPUT_TOO_SMALL = 400,
  HEMSTITCH_OUT_OF_MEMORY = 401,
  HEMSTITCH_MEMORY_LIMIT = 402,

  /* 5xx: the device */
  HEMSTITCH_DEVICE_UNAVAILABLE = 500,
  HEMSTITCH_DEVICE_LOST = 501,
  HEMSTITCH_DEVICE_OUT_OF_MEMORY = 502,
  HEMSTITCH_DEVICE_FAULT = 503,

  /* 6xx: a bug in Hemstitch itself */
  HEMSTITCH_INTERNAL = 600,

  /* 7xx: input and output, and cancelling */
  HEMSTITCH_READ_FAILED = 700,
  HEMSTITCH_WRITE_FAILED = 701,
  HEMSTITCH_INPUT_CHANGED = 702,
  HEMSTITCH_CANCELLED = 703
} hemstitch_status;

/* One sentence: what the status means and what to do. Never NULL; "unknown status" for other numbers. */
HEMSTITCH_API const char* hemstitch_status_text(hemstitch_status status);

/* The full message of the calling thread's last failed call, with the place in the data if it is known.
 * Valid until that thread's next call. Empty if no call has failed. */
HEMSTITCH_API const char* hemstitch_last_error_message(void);

/* Where in the compressed data an error is. */
typedef struct hemstitch_place {
  uint64_t frame, block; /* counted from 1; 0: not known */
  uint64_t byte_offset;  /* counted from 0; UINT64_MAX: not known */
} hemstitch_place;

/* The place of the error of the calling thread's last failed call. All fields are "not known" if no call has
 * failed, or if the error has no place. */
HEMSTITCH_API hemstitch_place hemstitch_last_error_place(void);

/* The version of the loaded library, e.g. "0.1.0". */
HEMSTITCH_API const char* hemstitch_version(void);

/* Formats. The numbers are stable. */
typedef enum hemstitch_format {
  HEMSTITCH_FORMAT_DEFAULT = 0, /* compressing: LZ4; restoring: recognized by the first bytes */
  HEMSTITCH_FORMAT_LZ4 = 1,     /* LZ4 frames */
  HEMSTITCH_FORMAT_GZIP = 2,    /* RFC 1952; restoring: BGZF as well */
  HEMSTITCH_FORMAT_BGZF = 3, /* gzip members of at most 64 KB that store their size, as bgzip writes them */
  HEMSTITCH_FORMAT_ZLIB = 4, /* RFC 1950; never recognized: name it to restore it */
  HEMSTITCH_FORMAT_DEFLATE = 5, /* RFC 1951, no header or checksum; never recognized: name it to restore it */
  HEMSTITCH_FORMAT_ZSTD = 6     /* Zstandard, RFC 8878 */
} hemstitch_format;

/* ---- Callbacks and reports ---- */

/* Called after each piece of output with the bytes read and written so far. Calls never overlap, but may come
 * from any thread. Return 0 to continue; anything else ends the call with HEMSTITCH_CANCELLED. */
typedef int (*hemstitch_progress)(void* context, uint64_t input_bytes, uint64_t output_bytes);

/* Called between pieces of a call's work by every thread that works, also by several at once; a piece is a block
 * or a few. Return 0 to continue; anything else ends the call with HEMSTITCH_CANCELLED. */
typedef int (*hemstitch_check)(void* context);

/* Receives the output in order, piece by piece. Calls never overlap. Return 0 to continue; anything else ends
 * the call with HEMSTITCH_WRITE_FAILED, and the message contains the returned number. */
typedef int (*hemstitch_output)(void* context, const void* bytes, size_t count);

/* What a call or a stream has done so far. Set `size` before passing it in. */
typedef struct hemstitch_report {
  size_t size;           /* sizeof(hemstitch_report) */
  uint64_t input_bytes;  /* bytes read */
  uint64_t output_bytes; /* bytes written; for a stream, its position */
  uint64_t frame_count;  /* skippable frames not counted */
  uint64_t block_count;
  uint64_t fallback_blocks;      /* blocks on which the backend failed and another backend took over */
  uint64_t planned_bytes;        /* host memory planned for buffers */
  uint64_t planned_device_bytes; /* device memory planned for buffers; 0 without a device */
  unsigned threads;              /* the most threads that worked at once */
  int backend_dropped;           /* 1: the backend failed twice, and another one did the rest */
  char backend[32];              /* the backend that worked; empty before the first block */
  char fallback_backend[32];     /* the backend that did fallback_blocks */
  char fallback_reason[256];     /* message of the first failure; empty if there was none */
} hemstitch_report;

/* ---- Compressing ---- */

/* Zeros and NULLs are the defaults, and so is a NULL pointer to the options. */
typedef struct hemstitch_compress_options {
  size_t size;             /* sizeof(hemstitch_compress_options) */
  hemstitch_format format; /* the format to write */
  int level;               /* 1 to 12, Zstandard -7 to 22; 0: the format's default */
  size_t block_bytes;      /* LZ4: 64K, 256K, 1M or 4M; 0: the format's default */
  /* The next four are for LZ4 only. Other formats always have the checksums that they define. */
  int acceleration;       /* N of --fast=N, with level 1: faster and larger; 0: off */
  int linked_blocks;      /* 1: each block may refer to the 64 KB before it */
  int no_block_checksums; /* 1: none; 0: XXH32 of each block as written */
  int content_checksum;   /* 1: XXH32 of the whole content; it is serial, about 5 GB/s */
  /* 1: restore each block on the backend that compressed it, and compare; if it differs, another backend
   * compresses the block again */
  int verify;
  unsigned threads;            /* 0: one per core */
  uint64_t memory_limit_bytes; /* 0: none; limits the buffers, not the whole program */
  /* limits device memory; 0: half of the memory that is free there */
  uint64_t gpu_memory_limit_bytes;
  /* "auto", "reproducible", or a name that `hemstitch backends` lists; NULL: "auto" */
  const char* backend;
  /* For the backends cuda and webgpu: a number from `hemstitch backends -vv`, part of a name, a
   * comma-separated list of these, or "all". Given several devices, compressing and restoring on cuda use all
   * of them, and everything else uses the first usable one. NULL: the value of HEMSTITCH_DEVICE, else the
   * best device. */
  const char* device;
  /* LZ4: the last 64 KB of it are history for every block. zlib: at most 64 KB, history for the first block. Zstandard:
   * at most 2 GB, bytes of any kind or what a trainer made. Other formats have no dictionaries. */
  const void* dictionary;
  size_t dictionary_bytes;
  /* gzip: the name of the original file, and the time of its last change in seconds since 1970. NULL and 0:
   * not stored. */
  const char* stored_name;
  uint32_t stored_time;
  /* For a stream whose size is known in advance: LZ4 stores it, and any other size is an error. 0: not known.
   * Calls that take the whole input know its size. */
  uint64_t content_bytes;
  /* For calls that take the whole input. For a stream, call hemstitch_compressor_report(). */
  hemstitch_progress progress;    /* NULL: none */
  void* progress_context;         /* passed to `progress` */
  hemstitch_report* report;       /* filled on success; may be NULL */
  hemstitch_check between_pieces; /* for calls of any kind; NULL: none */
  void* between_pieces_context;   /* passed to `between_pieces` */
  /* Zstandard: how much content each frame of a seekable file has, 64 KB to 64 MB; 0: the file is one frame. A seekable
   * file ends with the public seek table, with which ranges are restored, and frames at once, here and elsewhere. */
  size_t seekable_bytes;
  /* Zstandard: a window of 2^window_log bytes, 10 to 31, and a search for long matches in all of it; 0: the usual window.
   * With seekable_bytes each frame is searched by itself. A frame takes memory for its window, and the `zstd` tool restores
   * one of more than 2^27 bytes only with its own --long. */
  int window_log;
  /* 1: the next three are work of the backend cpu, which "auto" means for them; naming another one is an error.
   * stored: stores the content as it is, in a frame of the format, as `gzip -0` does.
   * rsyncable, for all formats but LZ4 and BGZF: parts end where the content's bytes say so and do not refer to each
   * other, so that most bytes written stay the same where content is inserted or removed; takes some percent more room.
   * legacy, for LZ4: the frame that `lz4 -l` writes, for boot loaders and Linux; without checksums and size. */
  int stored, rsyncable, legacy;
} hemstitch_compress_options;

/* The most bytes that hemstitch_compress() writes for `input_bytes` bytes at any level; UINT64_MAX if that
 * does not fit in 64 bits. */
HEMSTITCH_API uint64_t hemstitch_compress_bound(uint64_t input_bytes);

/* The same for hemstitch_compress_with() and that format, for any other options; for `rsyncable` and `legacy` add
 * input_bytes / 128. UINT64_MAX for an unknown format. */
HEMSTITCH_API uint64_t hemstitch_compress_bound_of(hemstitch_format format, uint64_t input_bytes);

/* Compresses input[0, input_bytes) into one LZ4 frame.
 *   level            1 to 12; 0: the default
 *   output           room for output_capacity bytes; unspecified after an error
 *   output_bytes     set to the frame's size on success, otherwise unchanged
 * Returns HEMSTITCH_OUTPUT_TOO_SMALL if the frame does not fit; hemstitch_compress_bound() bytes are always
 * enough. As all calls with both, returns HEMSTITCH_INVALID_OPTION if output and input overlap. */
HEMSTITCH_API hemstitch_status hemstitch_compress(const void* input, size_t input_bytes, int level,
                                                  void* output, size_t output_capacity, size_t* output_bytes);

/* The same with options, which may be NULL. Returns HEMSTITCH_UNKNOWN_BACKEND or HEMSTITCH_DEVICE_UNAVAILABLE
 * if they name a backend or device that is not there. */
HEMSTITCH_API hemstitch_status hemstitch_compress_with(const hemstitch_compress_options* options,
                                                       const void* input, size_t input_bytes, void* output,
                                                       size_t output_capacity, size_t* output_bytes);

/* ---- Restoring ---- */

/* Zeros and NULLs are the defaults, and so is a NULL pointer to the options. */
typedef struct hemstitch_restore_options {
  size_t size; /* sizeof(hemstitch_restore_options) */
  /* the format of the input; zlib and raw DEFLATE must be named */
  hemstitch_format format;
  int skip_checksums;           /* 1: verify no checksum */
  int accept_any_dictionary_id; /* 1: use `dictionary` even if the frame names another one */
  /* These five are as in hemstitch_compress_options. */
  unsigned threads;
  uint64_t memory_limit_bytes;
  uint64_t gpu_memory_limit_bytes;
  const char* backend;
  const char* device;
  const void* dictionary; /* the dictionary that the frame was written with */
  size_t dictionary_bytes;
  /* For hemstitch_restore_ranges() on gzip: the output of hemstitch_make_index(), or a .gzidx file of
   * indexed_gzip or rapidgzip. */
  const void* index;
  size_t index_bytes;
  /* For calls that take the whole input. For a stream, call hemstitch_decompressor_report(). */
  hemstitch_progress progress; /* NULL: none */
  void* progress_context;      /* passed to `progress` */
  hemstitch_report* report;    /* filled on success; may be NULL */
  /* For hemstitch_restore_with(), hemstitch_restore_to(), hemstitch_make_index(), and ranges without an index;
   * other calls refuse it. If it is not NULL, bytes after the last frame that begin no frame are no error, and on
   * success the call (for a reader of ranges: that which makes it) sets it to where the last frame ends. */
  uint64_t* used_bytes;
  hemstitch_check between_pieces; /* for calls of any kind; NULL: none */
  void* between_pieces_context;   /* passed to `between_pieces` */
  /* Zstandard: allows windows of 2^window_log bytes, 10 to 31; 0: 128 MB, or what memory_limit_bytes allows */
  int window_log;
} hemstitch_restore_options;

/* Finds the size of what hemstitch_restore() would write, without writing it. */
HEMSTITCH_API hemstitch_status hemstitch_restored_size(const void* input, size_t input_bytes,
                                                       uint64_t* restored_bytes);

/* Restores all frames in input[0, input_bytes) in order, and verifies every checksum they have. On success
 * output_bytes is set to the restored size, otherwise it is unchanged. After an error the contents of
 * `output` are unspecified. Returns HEMSTITCH_TRAILING_GARBAGE if other bytes follow the last frame; with
 * options.used_bytes the call gives the content and their place instead. */
HEMSTITCH_API hemstitch_status hemstitch_restore(const void* input, size_t input_bytes, void* output,
                                                 size_t output_capacity, size_t* output_bytes);

/* The same with options, which may be NULL. */
HEMSTITCH_API hemstitch_status hemstitch_restore_with(const hemstitch_restore_options* options,
                                                      const void* input, size_t input_bytes, void* output,
                                                      size_t output_capacity, size_t* output_bytes);

/* The same, but passes the content to `output` piece by piece: for contents of unknown size. `output` may be
 * called from any thread. All that it received before an error is correct content, verified block by
 * block; before HEMSTITCH_TRAILING_GARBAGE it is all of the content. */
HEMSTITCH_API hemstitch_status hemstitch_restore_to(const hemstitch_restore_options* options,
                                                    const void* input, size_t input_bytes,
                                                    hemstitch_output output, void* context);

/* Bytes [begin, end) of the content of all frames together, and where to write them. An end past the content
 * means the end of the content. Outputs overlap neither each other nor the input. */
typedef struct hemstitch_range {
  uint64_t begin, end;
  void* output;
  size_t output_capacity;
  size_t output_bytes; /* set: 0 unless status is HEMSTITCH_OK */
  /* set: HEMSTITCH_RANGE_OUTSIDE_CONTENT, HEMSTITCH_OUTPUT_TOO_SMALL, or the error of one of its blocks */
  hemstitch_status status;
  hemstitch_place place; /* set: the place of that block */
} hemstitch_range;

/* Restores many ranges at once, in any order: from independent blocks (LZ4, BGZF), from separate frames
 * (Zstandard), or from gzip with an index. Each block that the ranges touch is restored once; with an index, each part between two of its
 * points. Verifies the checksums of blocks, not those of whole contents.
 *
 * The call fails, and sets no range, if headers are damaged, if blocks depend on each other
 * (HEMSTITCH_UNSUPPORTED_FEATURE), or if the index is for a file of another size (HEMSTITCH_INVALID_OPTION).
 * An index of another file of the same size is not detected, and gives wrong bytes.
 *
 * `options` may be NULL; its `progress` and `report` must be NULL, else the call returns
 * HEMSTITCH_INVALID_OPTION. */
HEMSTITCH_API hemstitch_status hemstitch_restore_ranges(const hemstitch_restore_options* options,
                                                        const void* input, size_t input_bytes,
                                                        hemstitch_range* ranges, size_t count);

/* The most bytes that hemstitch_make_index() writes for an input of that size. */
HEMSTITCH_API uint64_t hemstitch_index_bound(uint64_t input_bytes);

/* Writes an index of a gzip file: points from which hemstitch_restore_ranges() can begin. The index is a
 * .gzidx file, which indexed_gzip and rapidgzip read. The call restores and verifies the whole input, and
 * drops the content. On success output_bytes is set to the size of the index. Returns
 * HEMSTITCH_UNSUPPORTED_FEATURE for other formats, and for BGZF, whose blocks need no index. `options` as for
 * hemstitch_restore_ranges(). */
HEMSTITCH_API hemstitch_status hemstitch_make_index(const hemstitch_restore_options* options,
                                                    const void* input, size_t input_bytes, void* output,
                                                    size_t output_capacity, size_t* output_bytes);

/* ---- Streams: input that comes piece by piece; memory holds at most one batch of blocks ----
 *
 *   hemstitch_compressor* compressor = NULL;
 *   status = hemstitch_compressor_new(NULL, write_to_file, file, &compressor);
 *   while (status == HEMSTITCH_OK && (bytes = fread(piece, 1, sizeof piece, input)) > 0)
 *     status = hemstitch_compressor_write(compressor, piece, bytes);
 *   if (status == HEMSTITCH_OK) status = hemstitch_compressor_finish(compressor);
 *   hemstitch_compressor_free(compressor);
 *
 * Output goes to the caller's function, in pieces of any size, on the thread that calls write(), flush() or
 * finish(). After an error, and after finish(), these return HEMSTITCH_WRONG_STATE. */

typedef struct hemstitch_compressor hemstitch_compressor;
typedef struct hemstitch_decompressor hemstitch_decompressor;

/* `options` may be NULL. They are copied, except for the dictionary, which must outlive the object. On
 * success *compressor is set; free it with hemstitch_compressor_free(). */
HEMSTITCH_API hemstitch_status hemstitch_compressor_new(const hemstitch_compress_options* options,
                                                        hemstitch_output output, void* context,
                                                        hemstitch_compressor** compressor);
HEMSTITCH_API hemstitch_status hemstitch_compressor_write(hemstitch_compressor* compressor, const void* piece,
                                                          size_t piece_bytes);
/* Passes on all that was written so far, so that a reader of the output can restore it now. A block ends here,
 * in BGZF a member; so frequent calls make the output larger. Calls with nothing new to pass on change nothing.
 * The frame goes on. */
HEMSTITCH_API hemstitch_status hemstitch_compressor_flush(hemstitch_compressor* compressor);
/* Writes the remaining output and the end of the frame. Without it the frame is incomplete. */
HEMSTITCH_API hemstitch_status hemstitch_compressor_finish(hemstitch_compressor* compressor);
/* Fills `report` with the progress so far: bytes read and written, blocks done. Works at any time, also after
 * an error. */
HEMSTITCH_API hemstitch_status hemstitch_compressor_report(const hemstitch_compressor* compressor,
                                                           hemstitch_report* report);
HEMSTITCH_API void hemstitch_compressor_free(hemstitch_compressor* compressor); /* NULL: does nothing */

/* As hemstitch_compressor_new(). options->index is ignored. */
HEMSTITCH_API hemstitch_status hemstitch_decompressor_new(const hemstitch_restore_options* options,
                                                          hemstitch_output output, void* context,
                                                          hemstitch_decompressor** decompressor);
/* Prepares an index, which hemstitch_decompressor_index() returns, as hemstitch_make_index() would write it.
 * Call this before the first write(). write() and finish() then fail where hemstitch_make_index() fails. */
HEMSTITCH_API hemstitch_status hemstitch_decompressor_make_index(hemstitch_decompressor* decompressor);
/* Passes on all content that the pieces so far give. Small pieces of a gzip stream are restored by one thread. */
HEMSTITCH_API hemstitch_status hemstitch_decompressor_write(hemstitch_decompressor* decompressor,
                                                            const void* piece, size_t piece_bytes);
/* Returns HEMSTITCH_TRUNCATED if the stream ends inside a frame, HEMSTITCH_TRAILING_GARBAGE if other bytes
 * follow the last frame: all content has gone to the output then, and they begin at the report's
 * input_bytes. */
HEMSTITCH_API hemstitch_status hemstitch_decompressor_finish(hemstitch_decompressor* decompressor);
/* write() and finish() for a caller that takes the content in pieces: each returns as soon as it has passed content
 * on, at most one batch of blocks, and is called again for more. taken_bytes is set to how many bytes of `piece` were
 * taken. If nothing was passed on, these are all, and no more can be restored without further input. *finished is set
 * to 1 once the stream is finished, and to 0 before. */
HEMSTITCH_API hemstitch_status hemstitch_decompressor_write_some(hemstitch_decompressor* decompressor,
                                                                 const void* piece, size_t piece_bytes,
                                                                 size_t* taken_bytes);
HEMSTITCH_API hemstitch_status hemstitch_decompressor_finish_some(hemstitch_decompressor* decompressor,
                                                                  int* finished);
/* Writes the index; call it after make_index() and finish(), also after HEMSTITCH_TRAILING_GARBAGE, any
 * number of times. hemstitch_index_bound() of
 * the total input size is always enough room. output_bytes is set on success. */
HEMSTITCH_API hemstitch_status hemstitch_decompressor_index(const hemstitch_decompressor* decompressor,
                                                            void* output, size_t output_capacity,
                                                            size_t* output_bytes);
/* As hemstitch_compressor_report(). */
HEMSTITCH_API hemstitch_status hemstitch_decompressor_report(const hemstitch_decompressor* decompressor,
                                                             hemstitch_report* report);
HEMSTITCH_API void hemstitch_decompressor_free(hemstitch_decompressor* decompressor); /* NULL: does nothing */

#ifdef __cplusplus
}
#endif

#endif
