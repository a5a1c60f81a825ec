/* Hemstitch's C interface: one-shot calls, from memory to memory and between files and a device's memory. Status numbers are shared with C++, and are stable.
 *
 * A pointer may be NULL only where its size or capacity is 0; otherwise HEMSTITCH_INVALID_OPTION names it.
 *
 * Thread safety: every function may be called from any number of threads at once;
 * hemstitch_last_error_message() speaks of the calling thread's last failed call.
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

/* The most bytes that hemstitch_compress() writes for `input_bytes` bytes at any level; UINT64_MAX where that would be more. */
HEMSTITCH_API uint64_t hemstitch_compress_bound(uint64_t input_bytes);

/* The same for hemstitch_compress_with() and that format, whatever else its options say; UINT64_MAX where there is no such format. */
HEMSTITCH_API uint64_t hemstitch_compress_bound_of(hemstitch_format format, uint64_t input_bytes);

/* Compresses input[0, input_bytes) into one LZ4 frame.
 *   level            1 to 12, 0 for the default
 *   output           room for output_capacity bytes
 *   output_bytes     set to the frame's size on success, untouched otherwise
 * Returns HEMSTITCH_OUTPUT_TOO_SMALL if the room does not suffice; hemstitch_compress_bound() bytes always
 * do. */
HEMSTITCH_API hemstitch_status hemstitch_compress(const void* input, size_t input_bytes, int level,
                                                  void* output, size_t output_capacity, size_t* output_bytes);

/* Where and how a call works. Zeros and NULLs, and no options at all, are what the plain calls take. */
typedef struct hemstitch_options {
  const char* backend; /* see `hemstitch backends`; NULL: "auto" */
  const char*
      device; /* of the backends cuda and webgpu: its number in `hemstitch backends -vv`, a part of its name,
                                  a list of both with commas, or "all": cuda works on each, others on the first usable one; NULL: what
                                  HEMSTITCH_DEVICE says, else the best one */
  unsigned threads;                /* 0: one a core */
  uint64_t memory_limit_bytes;     /* 0: none; bounds the buffers, not the program */
  int verify;                      /* 1: compressing restores each block where it was made and compares it;
                                  one that fails is made elsewhere */
  uint64_t gpu_memory_limit_bytes; /* of the device; 0: half of what is free there */
  hemstitch_format format;         /* what is written, or what is restored */
  const void* index; /* of hemstitch_restore_ranges(), for gzip: what hemstitch_make_index() wrote, or a
                                  .gzidx of indexed_gzip or rapidgzip */
  size_t index_bytes;
} hemstitch_options;

/* hemstitch_compress() with options, which may be NULL; level 0 is the format's default. Returns HEMSTITCH_UNKNOWN_BACKEND or HEMSTITCH_DEVICE_UNAVAILABLE where they
 * name what is not there. */
HEMSTITCH_API hemstitch_status hemstitch_compress_with(const hemstitch_options* options, const void* input,
                                                       size_t input_bytes, int level, void* output,
                                                       size_t output_capacity, size_t* output_bytes);

/* The size of what hemstitch_restore() would write, found without writing it. */
HEMSTITCH_API hemstitch_status hemstitch_restored_size(const void* input, size_t input_bytes,
                                                       uint64_t* restored_bytes);

/* Restores all frames in input[0, input_bytes) one after the other, verifying every checksum there is.
 * output_bytes is set to the restored size on success, untouched otherwise; what stands in `output` after an
 * error is unspecified. */
HEMSTITCH_API hemstitch_status hemstitch_restore(const void* input, size_t input_bytes, void* output,
                                                 size_t output_capacity, size_t* output_bytes);

/* hemstitch_restore() with options, as hemstitch_compress_with() takes them. */
HEMSTITCH_API hemstitch_status hemstitch_restore_with(const hemstitch_options* options, const void* input,
                                                      size_t input_bytes, void* output,
                                                      size_t output_capacity, size_t* output_bytes);

/* Bytes [begin, end) of the content of all frames together, and where they go. An end past the content means its end. */
typedef struct hemstitch_range {
  uint64_t begin, end;
  void* output;
  size_t output_capacity;
  size_t output_bytes; /* set: 0 unless status is HEMSTITCH_OK */
  hemstitch_status
      status; /* set: HEMSTITCH_RANGE_OUTSIDE_CONTENT, HEMSTITCH_OUTPUT_TOO_SMALL, or what is wrong with a block of it */
} hemstitch_range;

/* Many ranges at once, in any order, from independent blocks (LZ4, BGZF), or of gzip by an index: each block, or part between two points of the index, that
 * they touch is restored once. The call fails where headers are damaged, blocks depend on each other (HEMSTITCH_UNSUPPORTED_FEATURE) or the index is not of
 * this input (HEMSTITCH_INVALID_OPTION); then no range is set. `options` may be NULL. */
HEMSTITCH_API hemstitch_status hemstitch_restore_ranges(const hemstitch_options* options, const void* input,
                                                        size_t input_bytes, hemstitch_range* ranges,
                                                        size_t count);

/* The most bytes that hemstitch_make_index() writes for so much input. */
HEMSTITCH_API uint64_t hemstitch_index_bound(uint64_t input_bytes);

/* Restores all of a gzip file, to nowhere, verifies it, and writes places from which hemstitch_restore_ranges() begins: a .gzidx, which
 * indexed_gzip and rapidgzip read. output_bytes is set to its size on success. BGZF, whose blocks need no index, and other formats are
 * HEMSTITCH_UNSUPPORTED_FEATURE. `options` may be NULL. */
HEMSTITCH_API hemstitch_status hemstitch_make_index(const hemstitch_options* options, const void* input,
                                                    size_t input_bytes, void* output, size_t output_capacity,
                                                    size_t* output_bytes);

/* ---- Compressed files to the memory of a CUDA device and back ----
 *
 * Compressed bytes cross the bus; what they restore to is made on the device and never touches the host. In builds without CUDA,
 * and where there is no device, these return HEMSTITCH_DEVICE_UNAVAILABLE. They wait for the device, and leave the calling
 * thread's current device as it was. Messages of errors name the file, and where it is damaged. */

struct CUstream_st;

/* Zeros and NULLs, and no options at all, are what most want. */
typedef struct hemstitch_frame_load_options {
  const char* device;        /* as hemstitch_options::device; NULL: the calling thread's current one */
  unsigned threads;          /* that read; 0: one a core */
  int skip_checksums;        /* 1: none is verified */
  int skip_content_checksum; /* 1: those of whole contents are not, which are serial: a few GB/s for a frame */
  struct CUstream_st*
      stream; /* a cudaStream_t, which outlives the content: see hemstitch_release_content() */
} hemstitch_frame_load_options;

/* What a file holds. */
typedef struct hemstitch_device_content {
  void* data; /* on the device; NULL where there is nothing */
  uint64_t bytes;
  int restored_on_device; /* 0: the processor restored it, and it was uploaded */
  void* owner;            /* Hemstitch's */
} hemstitch_device_content;

/* Restores all frames in a file, whoever wrote them; what a device cannot restore block by block (linked blocks, legacy frames) the
 * processor does. The content is complete when the call returns, for every stream. */
HEMSTITCH_API hemstitch_status hemstitch_load_frame(const char* path,
                                                    const hemstitch_frame_load_options* options,
                                                    hemstitch_device_content* content);

/* `count` files in one run, each to an element of `contents`: all of them, or none and the error of the first that cannot be loaded. */
HEMSTITCH_API hemstitch_status hemstitch_load_frames(const char* const* paths, size_t count,
                                                     const hemstitch_frame_load_options* options,
                                                     hemstitch_device_content* contents);

/* Gives the memory back, for use after the work that options.stream has been given so far. `content` may be NULL, or zeros; it
 * is zeros afterwards. */
HEMSTITCH_API void hemstitch_release_content(hemstitch_device_content* content);

typedef struct hemstitch_frame_save_options {
  int level;              /* 1 to 12; 0 for the default */
  size_t block_bytes;     /* 64K, 256K, 1M or 4M; 0 for the default */
  int no_block_checksums; /* 1: blocks have none */
  unsigned threads;       /* that write; 0: one a core */
  struct CUstream_st*
      stream; /* a cudaStream_t: the content is what it is when the work given to it so far is over */
} hemstitch_frame_save_options;

/* Compresses content[0, content_bytes), memory of a CUDA device, into one frame. The file appears under its name when it is complete,
 * and replaces what had the name; after an error all is as it was.
 *   frame_bytes   set to the frame's size on success; may be NULL */
HEMSTITCH_API hemstitch_status hemstitch_save_frame(const void* content, uint64_t content_bytes,
                                                    const char* path,
                                                    const hemstitch_frame_save_options* options,
                                                    uint64_t* frame_bytes);

#ifdef __cplusplus
}
#endif

#endif
