/* Hemstitch's batch interface: LZ4, DEFLATE, zlib, gzip, BGZF and Zstandard on a CUDA device, for data that is already
 * there. It also offers match finding and parsing alone, for callers with an encoder of their own.
 *
 * Input and results stay on the device. The interface has the usual shape of batched GPU libraries: arrays of
 * device pointers and sizes, a call that returns the size of the temporary memory, a call that enqueues the
 * work, and one status per block.
 *
 *   hemstitch_blocks_compress_...   raw blocks -> compressed blocks of a format, each to its own address
 *   hemstitch_blocks_restore_...    the same blocks -> raw blocks, or only their restored sizes
 *   hemstitch_long_stream_...       restores one long stream of a format with the whole device
 *   hemstitch_checksums_async       a format's checksum of many spans
 *   hemstitch_lz4_span_...          raw blocks -> LZ4 blocks, one after the other in one span
 *   hemstitch_lz4_sizes_...         LZ4 blocks -> their restored sizes
 *   hemstitch_lz4_pages_...         pages of at most 4096 bytes: compressed, raw or same-filled
 *   hemstitch_lz4_frame_...         one buffer <-> a whole LZ4 frame, as the lz4 tool reads and writes it
 *   hemstitch_find_..., _parse_     bytes -> candidates -> sequences
 *   hemstitch_scan_..., _gather_, _scatter_   sizes -> offsets; many pieces <-> one span
 *   hemstitch_shuffle_..., _unshuffle_        elements <-> planes of their bytes: HDF5's shuffle filter
 *   hemstitch_bitshuffle_..., _bitunshuffle_  elements <-> planes of their bits: HDF5's filter 32008, Blosc's
 *
 * hemstitch_lz4_compress_..., hemstitch_lz4_restore_... and hemstitch_deflate_... are names of the first four for one
 * format or a few.
 *
 * Results are equal to those of the reference engine (`reference`), byte for byte, on every device and in
 * every run.
 *
 * Asynchronous. The `..._async` functions enqueue work on `stream` and return. They allocate nothing, wait
 * for nothing, copy nothing to the host, and may be captured in a CUDA graph. Keep everything on the device
 * that you pass to them until the stream has finished that work. The returned status is about the call:
 * options, temporary memory, the launch. statuses[i] is the result of block i.
 *
 * Bounds. Sizes are on the device, where the host does not read them. So the caller passes bounds for them
 * (`max_...`, `total_...`), and the size of the temporary memory follows from these. A block that exceeds a
 * bound is not an error of the call: that block gets an error status, and all others are processed.
 *
 * Errors. Every function that needs a device returns HEMSTITCH_DEVICE_UNAVAILABLE in a build without CUDA,
 * and on a machine without a driver or device. hemstitch_last_error_message() gives the reason.
 *
 * Thread safety: any number of threads may call every function at once. Two calls must not share temporary
 * memory or results unless one stream orders their work. Functions use the calling thread's current device.
 */
#ifndef HEMSTITCH_BATCH_H
#define HEMSTITCH_BATCH_H

#include <stddef.h>
#include <stdint.h>

#include "hemstitch/hemstitch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A cudaStream_t, without CUDA's headers. NULL is the default stream. */
struct CUstream_st;
typedef struct CUstream_st* hemstitch_stream;

/* ---- Blocks of any format ----
 *
 * `format` says what a compressed block is. Any other number, HEMSTITCH_FORMAT_DEFAULT included, gives
 * HEMSTITCH_INVALID_OPTION, and the message says which formats work.
 *
 *   HEMSTITCH_FORMAT_LZ4      an LZ4 block, without a frame
 *   HEMSTITCH_FORMAT_GZIP     a gzip member (RFC 1952) with CRC-32, without name and time
 *   HEMSTITCH_FORMAT_BGZF     a BGZF block: a gzip member whose extra field stores its size. The caller writes the
 *                             empty block that ends a file
 *   HEMSTITCH_FORMAT_ZLIB     a zlib stream (RFC 1950), with Adler-32
 *   HEMSTITCH_FORMAT_DEFLATE  a DEFLATE stream (RFC 1951)
 *   HEMSTITCH_FORMAT_ZSTD     a frame of Zstandard (RFC 8878) that states its content's size, without checksum. One or
 *                             more frames are restored, among them perhaps skippable ones, without dictionaries
 *
 * Each block is restored by itself, given its history. What formats allow:
 *
 *              max_block_bytes   max_history_bytes   max_output_bytes
 *   LZ4        2^31 - 2^25       65536               2^30
 *   DEFLATE    1 MiB             32768               any
 *   gzip, zlib 1 MiB             0                   any
 *   BGZF       65280             0                   any
 *   Zstandard  16 MiB            0                   any: one frame of at most 2^27 bytes of content is fast
 *
 * When restoring, compressed blocks of Zstandard have any size. */

/* Raw blocks on the device. Arrays are aligned for their types. Blocks have any alignment, and may overlap
 * each other and each other's histories. */
typedef struct hemstitch_blocks {
  const void* const* blocks; /* device array: the address of each block; NULL only if its size is 0 */
  const size_t* block_bytes; /* device array: the size of each block; 0 is allowed */
  /* device array: how many bytes directly before each block its matches may point to. The same bytes must be
   * there when the block is restored. NULL: no block has a history */
  const uint32_t* history_bytes;
  uint32_t count; /* number of blocks; 0 is allowed */
  /* Bounds of the arrays above. A block that exceeds one of the first two is left out, with the status
   * HEMSTITCH_INVALID_OPTION. A block that ends beyond total_block_bytes gets HEMSTITCH_OUTPUT_TOO_SMALL. */
  uint32_t max_history_bytes;
  size_t max_block_bytes;
  uint64_t total_block_bytes;
} hemstitch_blocks;

/* The largest compressed size of a block of `block_bytes` bytes; SIZE_MAX if that does not fit in a size_t, if
 * the block is too large for the format, or if the format is none of these. */
HEMSTITCH_API size_t hemstitch_blocks_compress_bound(hemstitch_format format, size_t block_bytes);

/* Temporary device memory for hemstitch_blocks_compress_async(); for DEFLATE, zlib, gzip and BGZF about 18 bytes
 * per byte of content; for Zstandard 11 to 22, but a call works on at most 256 MiB of content and 16,384 blocks at
 * once (and a block more), and needs no more than for these, and 50 bytes for each block.
 * Reads the bounds in `blocks`, never its arrays. `level` is one of the format's: 1..12, or Zstandard's -7..22. The
 * size of LZ4's hash tables depends on max_block_bytes, so equal blocks give equal bytes only under equal bounds. */
HEMSTITCH_API hemstitch_status hemstitch_blocks_compress_temp_bytes(hemstitch_format format,
                                                                    const hemstitch_blocks* blocks, int level,
                                                                    size_t* temp_bytes);

/* outputs       device: count pointers, any alignment
 * capacities    device: count elements, the room at each output; NULL: each has room for
 *               hemstitch_blocks_compress_bound(format, max_block_bytes)
 * output_bytes  device: count elements, the size of each compressed block; 0 if the status is not OK
 * statuses      device: count elements; HEMSTITCH_OUTPUT_TOO_SMALL if a block does not fit; then nothing of it
 *               is written, except of LZ4 blocks */
HEMSTITCH_API hemstitch_status hemstitch_blocks_compress_async(hemstitch_format format,
                                                               const hemstitch_blocks* blocks, int level,
                                                               void* const* outputs, const size_t* capacities,
                                                               size_t* output_bytes,
                                                               hemstitch_status* statuses, void* temp,
                                                               size_t temp_bytes, hemstitch_stream stream);

/* Compressed blocks on the device. Each must be whole, with nothing after it. Their bytes may be anything:
 * damaged blocks get an error status. */
typedef struct hemstitch_compressed_blocks {
  const void* const* blocks; /* device array: the address of each block, any alignment */
  const size_t* block_bytes; /* device array: the size of each block */
  uint64_t count;            /* number of blocks, below 2^31; 0 is allowed */
  /* the size of the largest block; LZ4: at most 2^30. A larger block gets HEMSTITCH_INVALID_OPTION */
  size_t max_block_bytes;
} hemstitch_compressed_blocks;

/* Temporary device memory for hemstitch_blocks_restore_async(): none for LZ4, about 4 bytes per block of DEFLATE,
 * 64 for gzip, zlib and BGZF. For Zstandard 3 bytes for each byte of output and about 10 KB for each block of up to
 * 64 KB, 20 KB for one of 64 KB; a call works on at most 1.3 GB of output and 262,144 blocks at once, and needs no more
 * than for these.
 * `max_output_bytes` is the largest element of `capacities`; a larger element gets
 * HEMSTITCH_INVALID_OPTION. Up to 4096, LZ4 blocks are restored as pages. */
HEMSTITCH_API hemstitch_status
hemstitch_blocks_restore_temp_bytes(hemstitch_format format, const hemstitch_compressed_blocks* compressed,
                                    size_t max_output_bytes, size_t* temp_bytes);

/* Headers are read on the device; header checksums, content checksums and sizes are verified there.
 *
 * outputs        device: count pointers, any alignment. NULL: find only sizes and statuses; then nothing is
 *                written, and content checksums and dictionaries are not verified
 * capacities     device: count elements; no byte beyond them is written
 * history_bytes  device: count elements, how many bytes directly before each output its matches may point to;
 *                they must already be there. For a zlib stream that names a dictionary, they are the whole
 *                dictionary. Other zlib streams, gzip and BGZF have no history: their matches must not point
 *                before their output. NULL: no block has a history
 * output_bytes   device: count elements, restored bytes; 0 if the status is not OK
 * statuses       device: count elements. The contents of an output are unspecified unless its status is OK.
 *
 * LZ4: HEMSTITCH_OK, HEMSTITCH_CORRUPT_BLOCK or HEMSTITCH_OUTPUT_TOO_SMALL. In other formats, errors are checked
 * in this order, and the status is the first that applies:
 *   header   HEMSTITCH_TRUNCATED (too short for a header and trailer), HEMSTITCH_UNKNOWN_FORMAT,
 *            HEMSTITCH_UNSUPPORTED_FEATURE, HEMSTITCH_HEADER_CHECKSUM_MISMATCH
 *            zlib: HEMSTITCH_DICTIONARY_NEEDED, HEMSTITCH_DICTIONARY_MISMATCH
 *            BGZF: HEMSTITCH_TRUNCATED or HEMSTITCH_TRAILING_GARBAGE if the header's size differs from
 *            block_bytes
 *   data     HEMSTITCH_CORRUPT_BLOCK: DEFLATE data that zlib's inflate rejects, that is cut off, or that does
 *            not end where the trailer begins or the block ends; HEMSTITCH_OUTPUT_TOO_SMALL
 *   trailer  HEMSTITCH_TRUNCATED (Zstandard), HEMSTITCH_CONTENT_SIZE_MISMATCH, HEMSTITCH_CONTENT_CHECKSUM_MISMATCH;
 *            BGZF: HEMSTITCH_BLOCK_CHECKSUM_MISMATCH
 *
 * Zstandard: frames one after the other, and the first error decides:
 *   header   HEMSTITCH_TRUNCATED (also a block of no bytes, and a skippable frame that is cut off),
 *            HEMSTITCH_UNKNOWN_FORMAT (the first bytes), HEMSTITCH_TRAILING_GARBAGE (bytes after a frame),
 *            HEMSTITCH_CORRUPT_HEADER, HEMSTITCH_UNSUPPORTED_FEATURE (a window of more than 2 GB),
 *            HEMSTITCH_DICTIONARY_NEEDED
 *   blocks   HEMSTITCH_CORRUPT_BLOCK (a rule is broken, or blocks are cut off), HEMSTITCH_OUTPUT_TOO_SMALL
 *   end      HEMSTITCH_TRUNCATED (no checksum), HEMSTITCH_CONTENT_SIZE_MISMATCH,
 *            HEMSTITCH_CONTENT_CHECKSUM_MISMATCH (with outputs) */
HEMSTITCH_API hemstitch_status hemstitch_blocks_restore_async(
    hemstitch_format format, const hemstitch_compressed_blocks* compressed, void* const* outputs,
    const size_t* capacities, size_t max_output_bytes, const uint32_t* history_bytes, size_t* output_bytes,
    hemstitch_status* statuses, void* temp, size_t temp_bytes, hemstitch_stream stream);

/* The format's checksum of each of `count` spans: XXH32 with seed 0 (LZ4 frames store it after their blocks),
 * CRC-32 (gzip, BGZF), Adler-32 (zlib) or the lower half of XXH64 (Zstandard). DEFLATE has none: HEMSTITCH_INVALID_OPTION. All arrays are on the
 * device. */
HEMSTITCH_API hemstitch_status hemstitch_checksums_async(hemstitch_format format, const void* const* spans,
                                                         const size_t* span_bytes, uint64_t count,
                                                         uint32_t* checksums, hemstitch_stream stream);

/* ---- One long stream ----
 *
 * One long stream in device memory, like most .gz files. The whole device restores it, from many places at
 * once; hemstitch_blocks_restore_async() would use a single warp. Worthwhile from some megabytes on. `format` is
 * HEMSTITCH_FORMAT_GZIP, _ZLIB, _DEFLATE or _ZSTD. */

/* Temporary device memory for hemstitch_long_stream_restore(): about 4 bytes per byte of content, for at most
 * 768 MB of content; for Zstandard about 14 bytes, for at most 768 MB. `capacity` is the room for the content. The call also works with less memory, in smaller
 * steps; the least is what a stream of 64 KB needs, or one of 128 KB of Zstandard. */
HEMSTITCH_API hemstitch_status hemstitch_long_stream_temp_bytes(hemstitch_format format,
                                                                uint64_t stream_bytes, uint64_t capacity,
                                                                size_t* temp_bytes);
/* Not asynchronous: it reads counts back and waits for `stream`. Parts that the device does not restore,
 * damage included, are copied to the host and restored on the calling thread;
 * docs/formats/gzip-in-parallel.md says which parts these are. Of Zstandard it is a frame as a whole: a damaged one, one of less than 32 MB, or one
 * with codes or offsets that the kernels do not know (docs/design/zstd-cuda.md). Checksums and sizes are verified; Zstandard's XXH64 on the host, to
 * which the content is copied for it.
 *
 * data           device: the stream, any alignment; for gzip one or more members, for Zstandard frames
 * output         device: room for `capacity` bytes, any alignment, not overlapping the stream; no byte beyond
 *                them is written
 * output_bytes   host: the content's size. If the status is not OK: how many bytes of `output` are correct
 *
 * Returns the errors of the call (output_bytes is 0 then), or:
 *   header   HEMSTITCH_TRUNCATED, HEMSTITCH_UNKNOWN_FORMAT, HEMSTITCH_CORRUPT_HEADER, HEMSTITCH_UNSUPPORTED_FEATURE,
 *            HEMSTITCH_HEADER_CHECKSUM_MISMATCH, HEMSTITCH_DICTIONARY_NEEDED
 *   data     HEMSTITCH_CORRUPT_BLOCK: data that breaks a rule of the format, or that is cut off;
 *            HEMSTITCH_OUTPUT_TOO_SMALL
 *   trailer  HEMSTITCH_CONTENT_SIZE_MISMATCH, HEMSTITCH_CONTENT_CHECKSUM_MISMATCH
 *   after    HEMSTITCH_TRAILING_GARBAGE: other bytes follow the last member; the content before them is
 *            complete */
HEMSTITCH_API hemstitch_status hemstitch_long_stream_restore(hemstitch_format format, const void* data,
                                                             uint64_t stream_bytes, void* output,
                                                             uint64_t capacity, uint64_t* output_bytes,
                                                             void* temp, size_t temp_bytes,
                                                             hemstitch_stream stream);

/* ---- LZ4 blocks ---- */

/* hemstitch_blocks_compress_... and hemstitch_checksums_async() of HEMSTITCH_FORMAT_LZ4. */
typedef hemstitch_blocks hemstitch_lz4_blocks;
HEMSTITCH_API size_t hemstitch_lz4_compress_bound(size_t block_bytes);
HEMSTITCH_API hemstitch_status hemstitch_lz4_compress_temp_bytes(const hemstitch_lz4_blocks* blocks,
                                                                 int level, size_t* temp_bytes);
HEMSTITCH_API hemstitch_status hemstitch_lz4_compress_async(const hemstitch_lz4_blocks* blocks, int level,
                                                            void* const* outputs, const size_t* capacities,
                                                            size_t* output_bytes, hemstitch_status* statuses,
                                                            void* temp, size_t temp_bytes,
                                                            hemstitch_stream stream);
HEMSTITCH_API hemstitch_status hemstitch_lz4_checksums_async(const void* const* spans,
                                                             const size_t* span_bytes, uint64_t count,
                                                             uint32_t* checksums, hemstitch_stream stream);

/* Set in sizes[i] if block i is stored, because compressing would not make it smaller. It is the same bit as
 * in LZ4 frames. */
#define HEMSTITCH_LZ4_STORED_BIT 0x80000000u

/* The output of blocks that are written one after the other. */
typedef struct hemstitch_lz4_span {
  void* span;           /* device */
  uint64_t capacity;    /* total_block_bytes + count * (lead_bytes + trail_bytes) is always enough */
  uint32_t lead_bytes;  /* bytes left free before every block, */
  uint32_t trail_bytes; /* and after every block: for the caller's own headers and checksums */
  /* device: count + 1 elements: the offset of the free bytes before each block, then the end of the last
   * block */
  uint64_t* offsets;
  /* device: count elements: the size of each block, with HEMSTITCH_LZ4_STORED_BIT if it is stored */
  uint32_t* sizes;
} hemstitch_lz4_span;

HEMSTITCH_API hemstitch_status hemstitch_lz4_span_temp_bytes(const hemstitch_lz4_blocks* blocks, int level,
                                                             size_t* temp_bytes);
/* statuses  device: count elements; HEMSTITCH_OUTPUT_TOO_SMALL for blocks that end beyond the capacity */
HEMSTITCH_API hemstitch_status hemstitch_lz4_span_async(const hemstitch_lz4_blocks* blocks, int level,
                                                        const hemstitch_lz4_span* span,
                                                        hemstitch_status* statuses, void* temp,
                                                        size_t temp_bytes, hemstitch_stream stream);

/* hemstitch_blocks_restore_... of HEMSTITCH_FORMAT_LZ4, with `outputs`. */
typedef hemstitch_compressed_blocks hemstitch_lz4_compressed;
HEMSTITCH_API hemstitch_status hemstitch_lz4_restore_temp_bytes(const hemstitch_lz4_compressed* compressed,
                                                                size_t max_output_bytes, size_t* temp_bytes);
HEMSTITCH_API hemstitch_status hemstitch_lz4_restore_async(
    const hemstitch_lz4_compressed* compressed, void* const* outputs, const size_t* capacities,
    size_t max_output_bytes, const uint32_t* history_bytes, size_t* output_bytes, hemstitch_status* statuses,
    void* temp, size_t temp_bytes, hemstitch_stream stream);

/* Finds restored sizes without restoring, and without capacities: blocks that restore to more than
 * `max_output_bytes` get HEMSTITCH_OUTPUT_TOO_SMALL. */
HEMSTITCH_API hemstitch_status hemstitch_lz4_sizes_temp_bytes(const hemstitch_lz4_compressed* compressed,
                                                              size_t max_output_bytes, size_t* temp_bytes);
HEMSTITCH_API hemstitch_status hemstitch_lz4_sizes_async(const hemstitch_lz4_compressed* compressed,
                                                         size_t max_output_bytes, size_t* output_bytes,
                                                         hemstitch_status* statuses, void* temp,
                                                         size_t temp_bytes, hemstitch_stream stream);

/* ---- Pages ---- */

typedef enum hemstitch_lz4_page_kind {
  HEMSTITCH_LZ4_PAGE_COMPRESSED = 1, /* an LZ4 block, smaller than the page */
  HEMSTITCH_LZ4_PAGE_RAW = 2,        /* the page as it is */
  HEMSTITCH_LZ4_PAGE_SAME_FILLED = 3 /* the 8 bytes that it repeats */
} hemstitch_lz4_page_kind;

/* How a page is stored: as the first kind of same-filled, compressed, raw that applies. */
typedef struct hemstitch_lz4_page_entry {
  uint32_t bytes; /* stored size */
  int32_t kind;   /* a hemstitch_lz4_page_kind */
} hemstitch_lz4_page_entry;

/* In `pages`, max_block_bytes is at most 4096, and no page has a history. */
HEMSTITCH_API hemstitch_status hemstitch_lz4_pages_compress_temp_bytes(const hemstitch_lz4_blocks* pages,
                                                                       int level, size_t* temp_bytes);
/* outputs   device: count pointers, each with as much room as its page has bytes
 * entries   device: count elements */
HEMSTITCH_API hemstitch_status hemstitch_lz4_pages_compress_async(const hemstitch_lz4_blocks* pages,
                                                                  int level, void* const* outputs,
                                                                  hemstitch_lz4_page_entry* entries,
                                                                  hemstitch_status* statuses, void* temp,
                                                                  size_t temp_bytes, hemstitch_stream stream);

HEMSTITCH_API hemstitch_status hemstitch_lz4_pages_restore_temp_bytes(uint64_t count, size_t* temp_bytes);
/* kept        device: count pointers to the stored pages
 * entries     device: count elements; any content: an entry that no page of that size can have is corrupt
 * pages       device: count pointers
 * page_bytes  device: count elements, the exact size of each page; at most 4096
 * statuses    device: count elements: HEMSTITCH_OK or HEMSTITCH_CORRUPT_BLOCK */
HEMSTITCH_API hemstitch_status hemstitch_lz4_pages_restore_async(const void* const* kept,
                                                                 const hemstitch_lz4_page_entry* entries,
                                                                 uint64_t count, void* const* pages,
                                                                 const size_t* page_bytes,
                                                                 hemstitch_status* statuses, void* temp,
                                                                 size_t temp_bytes, hemstitch_stream stream);

/* ---- Frames ---- */

/* The fields of a frame's header. To write a frame, set block_bytes and the flags you want, and leave the
 * rest 0. */
typedef struct hemstitch_lz4_frame {
  uint32_t block_bytes;    /* largest size of a block: 64K, 256K, 1M or 4M */
  int32_t linked_blocks;   /* 0 or 1: blocks may refer to the 64 KB before them */
  int32_t block_checksums; /* 0 or 1 */
  /* 0 or 1; only read from headers: it is serial, so this interface neither writes nor verifies it */
  int32_t content_checksum;
  int32_t content_bytes_known; /* 0 or 1; always 1 in written frames */
  uint32_t header_bytes;       /* magic number included */
  uint64_t content_bytes;      /* if known */
  /* For restoring: the most blocks that the frame may have. hemstitch_lz4_frame_read_header() sets it if the
   * content size is known: to what a frame of full blocks needs, whose last byte may be a block of its own.
   * Else it sets 0. */
  uint32_t max_block_count;
} hemstitch_lz4_frame;

/* The largest size of a frame with that content. With block_checksums and more than 60 KB of content, the
 * last byte becomes a block of its own, because lz4 1.9.4 would otherwise lose the first bytes of what
 * follows the frame. */
HEMSTITCH_API hemstitch_status hemstitch_lz4_frame_bound(uint64_t content_bytes,
                                                         const hemstitch_lz4_frame* frame, uint64_t* bytes);
HEMSTITCH_API hemstitch_status hemstitch_lz4_frame_compress_temp_bytes(uint64_t content_bytes,
                                                                       const hemstitch_lz4_frame* frame,
                                                                       int level, size_t* temp_bytes);
/* content       device: content_bytes bytes
 * output        device: room for `capacity` bytes, not overlapping the content
 * output_bytes  device: one element, 8-byte aligned: the frame's size; 0 if the status is not OK
 * status        device: one element: HEMSTITCH_OK or HEMSTITCH_OUTPUT_TOO_SMALL */
HEMSTITCH_API hemstitch_status hemstitch_lz4_frame_compress_async(const void* content, uint64_t content_bytes,
                                                                  const hemstitch_lz4_frame* frame, int level,
                                                                  void* output, uint64_t capacity,
                                                                  uint64_t* output_bytes,
                                                                  hemstitch_status* status, void* temp,
                                                                  size_t temp_bytes, hemstitch_stream stream);

/* Reads the header from the first bytes of a frame, in host memory; 19 bytes are always enough. Skippable and
 * legacy frames give HEMSTITCH_UNSUPPORTED_FEATURE. */
HEMSTITCH_API hemstitch_status hemstitch_lz4_frame_read_header(const void* begin, size_t bytes,
                                                               hemstitch_lz4_frame* frame);
/* `frame` as read, with max_block_count above 0. Linked blocks are restored one after the other, which is
 * slow. */
HEMSTITCH_API hemstitch_status hemstitch_lz4_frame_restore_temp_bytes(const hemstitch_lz4_frame* frame,
                                                                      size_t* temp_bytes);
/* frame_bytes   size of the frame, header included; bytes after it are ignored
 * output        device: room for `capacity` bytes, not overlapping the frame
 * output_bytes  device: one element, 8-byte aligned: restored bytes; 0 if the status is not OK
 * status        device: one element: the result of the whole frame, or the error of its first bad block.
 *               Block checksums are verified. HEMSTITCH_MEMORY_LIMIT: the frame has more than max_block_count
 *               blocks */
HEMSTITCH_API hemstitch_status hemstitch_lz4_frame_restore_async(
    const void* data, uint64_t frame_bytes, const hemstitch_lz4_frame* frame, void* output, uint64_t capacity,
    uint64_t* output_bytes, hemstitch_status* status, void* temp, size_t temp_bytes, hemstitch_stream stream);

/* ---- DEFLATE ---- */

/* The functions for blocks of any format, with numbers of their own for four formats. */
typedef enum hemstitch_deflate_format {
  HEMSTITCH_DEFLATE_RAW = 0,  /* HEMSTITCH_FORMAT_DEFLATE */
  HEMSTITCH_DEFLATE_ZLIB = 1, /* HEMSTITCH_FORMAT_ZLIB */
  HEMSTITCH_DEFLATE_GZIP = 2, /* HEMSTITCH_FORMAT_GZIP */
  HEMSTITCH_DEFLATE_BGZF = 3  /* HEMSTITCH_FORMAT_BGZF */
} hemstitch_deflate_format;

/* hemstitch_blocks_compress_...; `format` is a hemstitch_deflate_format. */
typedef hemstitch_blocks hemstitch_deflate_blocks;
HEMSTITCH_API size_t hemstitch_deflate_compress_bound(int32_t format, size_t block_bytes);
HEMSTITCH_API hemstitch_status hemstitch_deflate_compress_temp_bytes(const hemstitch_deflate_blocks* blocks,
                                                                     int32_t format, int level,
                                                                     size_t* temp_bytes);
HEMSTITCH_API hemstitch_status hemstitch_deflate_compress_async(
    const hemstitch_deflate_blocks* blocks, int32_t format, int level, void* const* outputs,
    const size_t* capacities, size_t* output_bytes, hemstitch_status* statuses, void* temp, size_t temp_bytes,
    hemstitch_stream stream);

/* hemstitch_blocks_restore_...; these are the members of hemstitch_compressed_blocks. */
typedef struct hemstitch_deflate_streams {
  const void* const* streams;
  const size_t* stream_bytes;
  uint64_t count;
  size_t max_stream_bytes;
} hemstitch_deflate_streams;

HEMSTITCH_API hemstitch_status hemstitch_deflate_restore_temp_bytes(const hemstitch_deflate_streams* streams,
                                                                    int32_t format, size_t max_output_bytes,
                                                                    size_t* temp_bytes);
HEMSTITCH_API hemstitch_status hemstitch_deflate_restore_async(
    const hemstitch_deflate_streams* streams, int32_t format, void* const* outputs, const size_t* capacities,
    size_t max_output_bytes, const uint32_t* history_bytes, size_t* output_bytes, hemstitch_status* statuses,
    void* temp, size_t temp_bytes, hemstitch_stream stream);

/* hemstitch_long_stream_... */
HEMSTITCH_API hemstitch_status hemstitch_deflate_stream_temp_bytes(uint64_t stream_bytes, uint64_t capacity,
                                                                   int32_t format, size_t* temp_bytes);
HEMSTITCH_API hemstitch_status hemstitch_deflate_stream_restore(const void* data, uint64_t stream_bytes,
                                                                int32_t format, void* output,
                                                                uint64_t capacity, uint64_t* output_bytes,
                                                                void* temp, size_t temp_bytes,
                                                                hemstitch_stream stream);

/* hemstitch_checksums_async() of HEMSTITCH_FORMAT_GZIP and of HEMSTITCH_FORMAT_ZLIB. */
HEMSTITCH_API hemstitch_status hemstitch_crc32_async(const void* const* spans, const size_t* span_bytes,
                                                     uint64_t count, uint32_t* checksums,
                                                     hemstitch_stream stream);
HEMSTITCH_API hemstitch_status hemstitch_adler32_async(const void* const* spans, const size_t* span_bytes,
                                                       uint64_t count, uint32_t* checksums,
                                                       hemstitch_stream stream);

/* ---- Blocks for finding and parsing ----
 *
 *   hemstitch_find_temp_bytes   -> allocate   hemstitch_find_async    bytes      -> candidates
 *   hemstitch_parse_temp_bytes  -> allocate   hemstitch_parse_async   candidates -> sequences
 *
 * There is one candidate per position, and one list of sequences per block.
 *
 * Positions. The blocks of a batch are numbered through: block i has positions first[i] .. first[i+1] - 1,
 * where first[0] = 0 and first[i+1] = first[i] + input_bytes[i]. A block that is left out (see below) counts
 * as 0 bytes. The candidate of byte j of block i is candidates[first[i] + j]. hemstitch_find_async() writes
 * `first`. Pass the same batch to both calls. */

/* Blocks on the device. Pointers and arrays are aligned for their types; the bytes of blocks have any
 * alignment. Blocks may overlap each other and each other's histories in memory. */
typedef struct hemstitch_batch {
  const void* const* inputs;   /* device array: the address of each block; NULL only if its size is 0 */
  const uint32_t* input_bytes; /* device array: the size of each block; 0 is allowed */
  /* device array: how many bytes directly before each block its matches may point to, at most 65536; NULL: no
   * block has a history */
  const uint32_t* history_bytes;
  uint32_t count; /* number of blocks; 0 is allowed */
  /* Bounds of the arrays above. A block that exceeds one of the first two is left out, with the status
   * HEMSTITCH_INVALID_OPTION. A block that ends beyond total_input_bytes gets HEMSTITCH_OUTPUT_TOO_SMALL. */
  uint32_t max_input_bytes;
  uint32_t max_history_bytes;
  uint64_t total_input_bytes;
} hemstitch_batch;

/* ---- Finding ---- */

typedef enum hemstitch_finder {
  HEMSTITCH_FINDER_HASH_CHAIN = 0, /* what levels use: the `depth` nearest positions with the same hash */
  /* These four search a window. They are here for comparison: their work grows with the window. */
  HEMSTITCH_FINDER_BRUTE_FORCE = 1,  /* every offset of the window: no finder finds longer matches in it */
  HEMSTITCH_FINDER_LAZY_SCAN = 2,    /* every offset up to near_range, then every far_step-th one */
  HEMSTITCH_FINDER_COOP_STITCH = 3,  /* 64 positions each search a band of offsets, and share their finds */
  HEMSTITCH_FINDER_WINDOW_INDEX = 4, /* as brute_force except inside long runs, with far less work */
  /* One match per two positions, in blocks of up to 65536 bytes without history. For match.h only, not for
   * devices. */
  HEMSTITCH_FINDER_HASH_PAIRS = 5
} hemstitch_finder;

/* The matches that a position of coop_stitch shares with the other 63. */
typedef enum hemstitch_top_k_policy {
  HEMSTITCH_TOP_K_LONGEST = 0,           /* its top_k best matches */
  HEMSTITCH_TOP_K_LONGEST_PER_BUCKET = 1 /* the best match in each of top_k equal parts of its band */
} hemstitch_top_k_policy;

/* A finder ignores the fields that it does not use. hemstitch_find_options_for_finder() fills all fields. */
typedef struct hemstitch_find_options {
  int32_t finder;        /* a hemstitch_finder */
  uint32_t hash_bits;    /* the hash table has 2^hash_bits entries */
  uint32_t cap_bytes;    /* comparing stops at this length; true lengths are found later; 4..65535 */
  uint32_t stitch;       /* 0 or 1: carry matches back, and then forward, or to other positions */
  uint32_t depth;        /* hash_chain: candidates per position, at least 1 */
  uint32_t window_bytes; /* the largest offset, 1..65535; coop_stitch: the number of offsets in a band */
  uint32_t stitch_reach; /* hash_chain: a match is carried back over so many positions, 1..16 */
  uint32_t hash_bytes;   /* hash_chain: number of bytes that are hashed, 4..8 */
  /* hash_chain: hash_bytes for blocks of 8 KB and more whose words have few different values, like genomes:
   * 5..8 (one less in blocks of up to 64 KB); 0: use hash_bytes there too */
  uint32_t few_values_hash_bytes;

  /* Finders that search a window use the shortest and longest match length. Hash finders leave both to the
   * parse. */
  uint32_t min_match_bytes; /* 3..max_match_bytes: shorter matches are dropped */
  uint32_t max_match_bytes; /* at most 65535: longer matches are cut to this length */
  uint32_t near_range;      /* lazy_scan, coop_stitch: every position tries offsets 1..near_range; 0..65535 */
  uint32_t good_match_bytes; /* lazy_scan, coop_stitch: a match of this length ends a search; 0: none does */
  uint32_t far_step;         /* lazy_scan: step between the offsets tried beyond near_range, at least 1 */

  /* coop_stitch: position t of 64 tries the offsets band_origin + t * stride + 1 .. band_origin + t * stride
   * + window_bytes, all of which are at most 65535. */
  uint32_t stride; /* at least 1 */
  uint32_t band_origin;
  uint32_t top_k;       /* matches that a position shares with the others, 1..16 */
  int32_t top_k_policy; /* a hemstitch_top_k_policy */
} hemstitch_find_options;

/* The default options of a finder; `finder` is a hemstitch_finder. */
HEMSTITCH_API hemstitch_status hemstitch_find_options_for_finder(int32_t finder,
                                                                 hemstitch_find_options* options);

/* The options that level 1..12 of LZ4 uses for blocks of that size. One exception: levels 1 and 2 compress
 * blocks of at most 4096 bytes without history by a finder of their own. */
HEMSTITCH_API hemstitch_status hemstitch_find_options_for_level(int level, uint32_t block_bytes,
                                                                hemstitch_find_options* options);

/* A candidate: the best match that starts at a position, as `offset << 16 | length`, or 0 for none. A match
 * ends at the end of its block at the latest. A length over 65535 is given as 65535. */
typedef uint32_t hemstitch_candidate;

#define HEMSTITCH_CANDIDATE_OFFSET(candidate) ((candidate) >> 16)
#define HEMSTITCH_CANDIDATE_LENGTH(candidate) ((candidate)&0xFFFFu)

/* Temporary device memory for hemstitch_find_async(): about 3 bytes per position; for finders that search a
 * window, a few bytes per block. Reads sizes and bounds of the batch, never its arrays. */
HEMSTITCH_API hemstitch_status hemstitch_find_temp_bytes(const hemstitch_batch* batch,
                                                         const hemstitch_find_options* options,
                                                         size_t* temp_bytes);

/* candidates  device: total_input_bytes elements
 * first       device: count + 1 elements, 8-byte aligned; the last is the total number of positions
 * statuses    device: count elements */
HEMSTITCH_API hemstitch_status hemstitch_find_async(const hemstitch_batch* batch,
                                                    const hemstitch_find_options* options,
                                                    hemstitch_candidate* candidates, uint64_t* first,
                                                    hemstitch_status* statuses, void* temp, size_t temp_bytes,
                                                    hemstitch_stream stream);

/* ---- Parsing ---- */

typedef enum hemstitch_parse {
  HEMSTITCH_PARSE_GREEDY = 0,       /* takes every match as soon as there is one */
  HEMSTITCH_PARSE_LAZY = 1,         /* as greedy, unless the next position has a longer match */
  HEMSTITCH_PARSE_OPTIMAL = 2,      /* the cheapest choice of matches, within 0.01 % */
  HEMSTITCH_PARSE_OPTIMAL_EXACT = 3 /* the cheapest choice of matches; slow, for measuring */
} hemstitch_parse;

typedef enum hemstitch_costs {
  HEMSTITCH_COSTS_FLAT = 0, /* literal_bits and match_bits below; every match has its full length */
  HEMSTITCH_COSTS_LZ4 = 1   /* bytes in an LZ4 block; the parse also tries shorter lengths */
} hemstitch_costs;

typedef struct hemstitch_parse_options {
  int32_t parse;      /* a hemstitch_parse */
  uint32_t lazy_skip; /* lazy: a match of this length is taken without looking further; 0: none is */

  /* optimal and optimal_exact: the assumed cost of literals and matches */
  int32_t costs;         /* a hemstitch_costs */
  uint32_t literal_bits; /* flat: 1..4096 */
  uint32_t match_bits;   /* flat: 1..4096 */

  /* Limits of the format. */
  uint32_t min_match_bytes;      /* at least 1; at least 4 with HEMSTITCH_COSTS_LZ4 */
  uint32_t max_match_bytes;      /* 0xFFFFFFFF: no limit */
  uint32_t max_offset;           /* bytes */
  uint32_t last_match_start_gap; /* a match starts at least this many bytes before the end of its block, */
  uint32_t last_match_end_gap;   /* and ends at least this many before it */
} hemstitch_parse_options;

/* LZ4's costs and limits, with the parse of level 1..12. */
HEMSTITCH_API hemstitch_status hemstitch_parse_options_for_level(int level, hemstitch_parse_options* options);

/* Literals, then a match. The last sequence of a block has only literals (perhaps none), and its match_bytes
 * is 0. */
typedef struct hemstitch_sequence {
  uint32_t literal_bytes;
  uint32_t match_bytes;
  uint32_t offset;
} hemstitch_sequence;

/* The number of elements that hemstitch_parse_async() needs in `sequences`: total_input_bytes /
 * min_match_bytes + count. */
HEMSTITCH_API hemstitch_status hemstitch_parse_capacity(const hemstitch_batch* batch,
                                                        const hemstitch_parse_options* options,
                                                        uint64_t* sequences);

/* Temporary device memory for hemstitch_parse_async(). Greedy and lazy: little. Optimal: 2 bytes per
 * position, and 160 KB for each warp that the device runs at once, but at most 5 bytes per position.
 * optimal_exact: 10 bytes per position. */
HEMSTITCH_API hemstitch_status hemstitch_parse_temp_bytes(const hemstitch_batch* batch,
                                                          const hemstitch_parse_options* options,
                                                          size_t* temp_bytes);

/* candidates       device: from hemstitch_find_async(), or in the same form from another finder
 * sequences        device: hemstitch_parse_capacity() elements; each list is contiguous, with gaps between
 *                  lists
 * first_sequences  device: count elements, 8-byte aligned: the index at which each block's list begins
 * sequence_counts  device: count elements: the length of each block's list, at least 1
 * total            device: one element, 8-byte aligned: the sum of the counts
 * statuses         device: count elements */
HEMSTITCH_API hemstitch_status hemstitch_parse_async(const hemstitch_batch* batch,
                                                     const hemstitch_parse_options* options,
                                                     const hemstitch_candidate* candidates,
                                                     hemstitch_sequence* sequences, uint64_t* first_sequences,
                                                     uint32_t* sequence_counts, uint64_t* total,
                                                     hemstitch_status* statuses, void* temp,
                                                     size_t temp_bytes, hemstitch_stream stream);

/* ---- Compaction ---- */

/* Turns sizes into offsets, and copies many pieces into one span and back. Pieces have any size, 0 included,
 * and any alignment on both sides. Work is divided by bytes, not by pieces. */

HEMSTITCH_API hemstitch_status hemstitch_scan_temp_bytes(uint64_t count, size_t* temp_bytes);

/* offsets[i] = sizes[0] + ... + sizes[i-1].
 * sizes    device: count elements
 * offsets  device: count + 1 elements; the last one is the total */
HEMSTITCH_API hemstitch_status hemstitch_scan_async(const uint32_t* sizes, uint64_t count, uint64_t* offsets,
                                                    void* temp, size_t temp_bytes, hemstitch_stream stream);

/* Both functions below need no temporary memory today. */
HEMSTITCH_API hemstitch_status hemstitch_gather_temp_bytes(uint64_t count, size_t* temp_bytes);
HEMSTITCH_API hemstitch_status hemstitch_scatter_temp_bytes(uint64_t count, size_t* temp_bytes);

/* Copies sizes[i] bytes from sources[i] to output + offsets[i]. Pieces must not overlap in the output; gaps
 * between them are unchanged. The output must have enough room: the call does not check it.
 * sources  device: count pointers to device memory
 * sizes    device: count elements
 * offsets  device: count elements, ascending, as hemstitch_scan_async() gives them
 * output   device */
HEMSTITCH_API hemstitch_status hemstitch_gather_async(const void* const* sources, const uint32_t* sizes,
                                                      const uint64_t* offsets, uint64_t count, void* output,
                                                      void* temp, size_t temp_bytes, hemstitch_stream stream);

/* Copies sizes[i] bytes from input + offsets[i] to targets[i]. Targets must not overlap. Nothing else is
 * written.
 * input    device
 * offsets  device: count elements, ascending
 * sizes    device: count elements
 * targets  device: count pointers to device memory */
HEMSTITCH_API hemstitch_status hemstitch_scatter_async(const void* input, const uint64_t* offsets,
                                                       const uint32_t* sizes, uint64_t count,
                                                       void* const* targets, void* temp, size_t temp_bytes,
                                                       hemstitch_stream stream);

/* ---- Shuffling ---- */

/* HDF5's shuffle filter: for a buffer of n elements of element_bytes bytes, it writes the first bytes of all
 * n elements, then their second bytes, and so on. Bytes left over after the last whole element are copied to
 * the end. unshuffle reverses it. Buffers have any size, 0 included, and any alignment. Work is divided by
 * bytes. Elements of 2, 4, 8 and 16 bytes are the fast ones. */

/* Temporary device memory for either of the two calls below. */
HEMSTITCH_API hemstitch_status hemstitch_shuffle_temp_bytes(uint64_t count, size_t* temp_bytes);

/* Writes sizes[i] bytes, shuffled, from sources[i] to targets[i]. Targets overlap neither each other nor a
 * source. Targets must have enough room: the call does not check it.
 * sources        device: count pointers to device memory
 * sizes          device: count elements, bytes
 * targets        device: count pointers to device memory
 * element_bytes  1..256, else HEMSTITCH_INVALID_OPTION; the same for all buffers */
HEMSTITCH_API hemstitch_status hemstitch_shuffle_async(const void* const* sources, const size_t* sizes,
                                                       void* const* targets, uint64_t count,
                                                       uint32_t element_bytes, void* temp, size_t temp_bytes,
                                                       hemstitch_stream stream);
HEMSTITCH_API hemstitch_status hemstitch_unshuffle_async(const void* const* sources, const size_t* sizes,
                                                         void* const* targets, uint64_t count,
                                                         uint32_t element_bytes, void* temp,
                                                         size_t temp_bytes, hemstitch_stream stream);

/* HDF5's bitshuffle filter (32008) and Blosc's: a block of n elements becomes 8 * element_bytes planes of n / 8
 * bytes, as hemstitch_bitshuffle_bytes() in compact.h says. A buffer is one block, or blocks of block_bytes
 * bytes one after the other, the last one shorter. What is left over after multiples of 8 elements is copied to
 * the end. bitunshuffle reverses it. Buffers have any size, 0 included, and any alignment. Work is divided by
 * bytes. Elements of 1, 2, 4, 8 and 16 bytes at multiples of 16 bytes are the fast ones. */

/* Temporary device memory for either of the two calls below. */
HEMSTITCH_API hemstitch_status hemstitch_bitshuffle_temp_bytes(uint64_t count, size_t* temp_bytes);

/* Writes sizes[i] bytes, bit-shuffled, from sources[i] to targets[i]. Everything is as with
 * hemstitch_shuffle_async(), and:
 * block_bytes    a multiple of 8 elements, else HEMSTITCH_INVALID_OPTION; 0: every buffer is one block */
HEMSTITCH_API hemstitch_status hemstitch_bitshuffle_async(const void* const* sources, const size_t* sizes,
                                                          void* const* targets, uint64_t count,
                                                          uint32_t element_bytes, size_t block_bytes,
                                                          void* temp, size_t temp_bytes,
                                                          hemstitch_stream stream);
HEMSTITCH_API hemstitch_status hemstitch_bitunshuffle_async(const void* const* sources, const size_t* sizes,
                                                            void* const* targets, uint64_t count,
                                                            uint32_t element_bytes, size_t block_bytes,
                                                            void* temp, size_t temp_bytes,
                                                            hemstitch_stream stream);

#ifdef __cplusplus
}
#endif

#endif
