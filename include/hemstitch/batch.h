/* Hemstitch's batch interface: LZ4, DEFLATE, zlib, gzip and BGZF on a CUDA device, for data that is there already; and match
 * finding and parsing alone, for callers with an encoder of their own.
 *
 * Input and results stay on the device. The shape is the usual one of batched GPU libraries: arrays of device pointers
 * and sizes, a call that says how much temporary memory is needed, a call that enqueues the work, and a status for
 * every block.
 *
 *   hemstitch_lz4_compress_...   raw blocks -> LZ4 blocks, each into room of its own
 *   hemstitch_lz4_span_...       raw blocks -> LZ4 blocks, one behind the other in one span
 *   hemstitch_lz4_restore_...    LZ4 blocks -> raw blocks
 *   hemstitch_lz4_sizes_...      LZ4 blocks -> their restored sizes
 *   hemstitch_lz4_pages_...      pages of at most 4096 bytes: compressed, raw or same-filled
 *   hemstitch_lz4_frame_...      one buffer <-> a whole LZ4 frame, as the lz4 tool reads and writes it
 *   hemstitch_deflate_compress_...   raw blocks -> streams of DEFLATE, zlib or gzip, or blocks of BGZF
 *   hemstitch_deflate_restore_...    and back, or to their restored sizes
 *   hemstitch_deflate_stream_...     one long stream, by the whole device
 *   hemstitch_find_..., _parse_  bytes -> candidates -> sequences
 *   hemstitch_scan_..., _gather_, _scatter_   sizes -> places; many pieces <-> one span
 *   hemstitch_shuffle_..., _unshuffle_   elements <-> planes of their bytes: HDF5's shuffle filter
 *
 * The results are those of the reference engine (`reference`), byte for byte, on every device, run after run.
 *
 * Asynchronous. The `..._async` functions enqueue on `stream` and return: they allocate nothing, wait for nothing, copy
 * nothing to the host and may be captured in a CUDA graph. Everything they are given on the device must stay until the
 * stream has passed them. What they return speaks of the call (options, temporary memory, the launch); what became of a
 * block stands in statuses[i].
 *
 * Bounds. Sizes stand on the device, where the host does not look. So a call names bounds for them (`max_...`,
 * `total_...`), and temporary memory follows from these. A block that breaks a bound is no error of the call: it gets a
 * status, and all others are done.
 *
 * Errors. A build without CUDA, and one with CUDA on a machine without a driver or device, returns
 * HEMSTITCH_DEVICE_UNAVAILABLE from every function that needs one; hemstitch_last_error_message() says why.
 *
 * Thread safety: every function may be called from any number of threads at once; the work of two calls must not share
 * temporary memory or results unless one stream orders them. The device is the calling thread's current one.
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

/* ---- LZ4 blocks ---- */

/* Raw blocks on the device. Arrays are aligned as their types; blocks have any alignment, and may overlap each other and
 * each other's histories. */
typedef struct hemstitch_lz4_blocks {
  const void* const* blocks; /* device array: where each begins; NULL only where its size is 0 */
  const size_t* block_bytes; /* device array: its size, 0 included */
  /* device array: bytes directly before the block that its matches may point to, up to 65536, and that will be there
   * when it is restored; NULL: no block has any */
  const uint32_t* history_bytes;
  uint32_t count;             /* blocks; 0 included */
  uint32_t max_history_bytes; /* bounds of the arrays above. A block that breaks one is left out, with */
  size_t max_block_bytes;     /* HEMSTITCH_INVALID_OPTION as its status, */
  uint64_t total_block_bytes; /* and one that ends beyond this with HEMSTITCH_OUTPUT_TOO_SMALL */
} hemstitch_lz4_blocks;

/* The most bytes that a block of `block_bytes` becomes; SIZE_MAX where that would be more. */
HEMSTITCH_API size_t hemstitch_lz4_compress_bound(size_t block_bytes);

/* Temporary device memory for hemstitch_lz4_compress_async(). Reads the bounds of `blocks`, never its arrays. `level` is
 * 1..12; tables go by max_block_bytes, so equal blocks under equal bounds give equal bytes. */
HEMSTITCH_API hemstitch_status hemstitch_lz4_compress_temp_bytes(const hemstitch_lz4_blocks* blocks,
                                                                 int level, size_t* temp_bytes);

/* outputs       device: count pointers, any alignment
 * capacities    device: count elements, the room at each; NULL: hemstitch_lz4_compress_bound(max_block_bytes) at each
 * output_bytes  device: count elements, the size of each LZ4 block; 0 where the status is not OK
 * statuses      device: count elements; HEMSTITCH_OUTPUT_TOO_SMALL where a block does not fit */
HEMSTITCH_API hemstitch_status hemstitch_lz4_compress_async(const hemstitch_lz4_blocks* blocks, int level,
                                                            void* const* outputs, const size_t* capacities,
                                                            size_t* output_bytes, hemstitch_status* statuses,
                                                            void* temp, size_t temp_bytes,
                                                            hemstitch_stream stream);

/* Set in sizes[i] where a block is stored, since compressing would not make it smaller: the bit of LZ4 frames. */
#define HEMSTITCH_LZ4_STORED_BIT 0x80000000u

/* Where blocks go that are to lie one behind the other. */
typedef struct hemstitch_lz4_span {
  void* span;           /* device */
  uint64_t capacity;    /* total_block_bytes + count * (lead_bytes + trail_bytes) always suffices */
  uint32_t lead_bytes;  /* left free before every block, */
  uint32_t trail_bytes; /* and behind it: for headers and checksums of the caller's */
  /* device: count + 1 elements: where the room before each block begins; the end of the last */
  uint64_t* offsets;
  /* device: count elements: bytes of each block, with HEMSTITCH_LZ4_STORED_BIT where stored */
  uint32_t* sizes;
} hemstitch_lz4_span;

HEMSTITCH_API hemstitch_status hemstitch_lz4_span_temp_bytes(const hemstitch_lz4_blocks* blocks, int level,
                                                             size_t* temp_bytes);
/* statuses  device: count elements; HEMSTITCH_OUTPUT_TOO_SMALL for blocks that end behind the capacity */
HEMSTITCH_API hemstitch_status hemstitch_lz4_span_async(const hemstitch_lz4_blocks* blocks, int level,
                                                        const hemstitch_lz4_span* span,
                                                        hemstitch_status* statuses, void* temp,
                                                        size_t temp_bytes, hemstitch_stream stream);

/* LZ4 blocks on the device, of any content. */
typedef struct hemstitch_lz4_compressed {
  const void* const* blocks; /* device array: where each begins, any alignment */
  const size_t* block_bytes; /* device array: its size */
  uint64_t count;            /* blocks; 0 included */
  size_t max_block_bytes; /* no block is larger, nor than 2^30; one that is gets HEMSTITCH_INVALID_OPTION */
} hemstitch_lz4_compressed;

/* `max_output_bytes`: no element of `capacities` is larger, nor than 2^30. Up to 4096, pages are what is restored. */
HEMSTITCH_API hemstitch_status hemstitch_lz4_restore_temp_bytes(const hemstitch_lz4_compressed* compressed,
                                                                size_t max_output_bytes, size_t* temp_bytes);
/* outputs        device: count pointers, any alignment
 * capacities     device: count elements; no byte behind them is written
 * history_bytes  device: count elements, bytes directly before each output that matches may reach, already there; or
 *                NULL: none
 * output_bytes   device: count elements, restored bytes; 0 where the status is not OK
 * statuses       device: count elements: HEMSTITCH_OK, HEMSTITCH_CORRUPT_BLOCK or HEMSTITCH_OUTPUT_TOO_SMALL; what
 *                stands in an output is unspecified unless it is OK */
HEMSTITCH_API hemstitch_status hemstitch_lz4_restore_async(
    const hemstitch_lz4_compressed* compressed, void* const* outputs, const size_t* capacities,
    size_t max_output_bytes, const uint32_t* history_bytes, size_t* output_bytes, hemstitch_status* statuses,
    void* temp, size_t temp_bytes, hemstitch_stream stream);

/* What restoring would give, without writing it. Blocks above `max_output_bytes` get HEMSTITCH_OUTPUT_TOO_SMALL. */
HEMSTITCH_API hemstitch_status hemstitch_lz4_sizes_temp_bytes(const hemstitch_lz4_compressed* compressed,
                                                              size_t max_output_bytes, size_t* temp_bytes);
HEMSTITCH_API hemstitch_status hemstitch_lz4_sizes_async(const hemstitch_lz4_compressed* compressed,
                                                         size_t max_output_bytes, size_t* output_bytes,
                                                         hemstitch_status* statuses, void* temp,
                                                         size_t temp_bytes, hemstitch_stream stream);

/* XXH32 with seed 0 of each of `count` spans, as LZ4 frames have it behind their blocks. All arrays on the device. */
HEMSTITCH_API hemstitch_status hemstitch_lz4_checksums_async(const void* const* spans,
                                                             const size_t* span_bytes, uint64_t count,
                                                             uint32_t* checksums, hemstitch_stream stream);

/* ---- Pages ---- */

typedef enum hemstitch_lz4_page_kind {
  HEMSTITCH_LZ4_PAGE_COMPRESSED = 1, /* an LZ4 block, smaller than the page */
  HEMSTITCH_LZ4_PAGE_RAW = 2,        /* the page as it is */
  HEMSTITCH_LZ4_PAGE_SAME_FILLED = 3 /* the 8 bytes that it repeats */
} hemstitch_lz4_page_kind;

/* What a page is kept as; the first kind of same-filled, compressed, raw that applies. */
typedef struct hemstitch_lz4_page_entry {
  uint32_t bytes;
  int32_t kind; /* a hemstitch_lz4_page_kind */
} hemstitch_lz4_page_entry;

/* `pages`: max_block_bytes is at most 4096, and no page has a history. */
HEMSTITCH_API hemstitch_status hemstitch_lz4_pages_compress_temp_bytes(const hemstitch_lz4_blocks* pages,
                                                                       int level, size_t* temp_bytes);
/* outputs   device: count pointers, at each as much room as its page has bytes
 * entries   device: count elements */
HEMSTITCH_API hemstitch_status hemstitch_lz4_pages_compress_async(const hemstitch_lz4_blocks* pages,
                                                                  int level, void* const* outputs,
                                                                  hemstitch_lz4_page_entry* entries,
                                                                  hemstitch_status* statuses, void* temp,
                                                                  size_t temp_bytes, hemstitch_stream stream);

HEMSTITCH_API hemstitch_status hemstitch_lz4_pages_restore_temp_bytes(uint64_t count, size_t* temp_bytes);
/* kept        device: count pointers
 * entries     device: count elements, of any content: an entry that no page of that size has is corrupt
 * pages       device: count pointers
 * page_bytes  device: count elements, exactly what each page had; at most 4096
 * statuses    device: count elements: HEMSTITCH_OK or HEMSTITCH_CORRUPT_BLOCK */
HEMSTITCH_API hemstitch_status hemstitch_lz4_pages_restore_async(const void* const* kept,
                                                                 const hemstitch_lz4_page_entry* entries,
                                                                 uint64_t count, void* const* pages,
                                                                 const size_t* page_bytes,
                                                                 hemstitch_status* statuses, void* temp,
                                                                 size_t temp_bytes, hemstitch_stream stream);

/* ---- Frames ---- */

/* What a frame's header says. For a frame to be written: fill block_bytes, and the flags that are wanted, and leave the
 * rest 0. */
typedef struct hemstitch_lz4_frame {
  uint32_t block_bytes;        /* 64K, 256K, 1M or 4M: no block is larger */
  int32_t linked_blocks;       /* 0 or 1: blocks may refer to the 64 KB before them */
  int32_t block_checksums;     /* 0 or 1 */
  int32_t content_checksum;    /* 0 or 1; read, never written or verified here: it is serial */
  int32_t content_bytes_known; /* 0 or 1; always written */
  uint32_t header_bytes;       /* magic number included */
  uint64_t content_bytes;      /* where known */
  /* to be read: room for so many blocks. hemstitch_lz4_frame_read_header() sets what a frame of full blocks needs, with the
   * last byte apart, where the size is known, else 0 */
  uint32_t max_block_count;
} hemstitch_lz4_frame;

/* The most bytes of a frame with that content. With block_checksums and more than 60 KB of content, the last byte is a block
 * of its own: lz4 1.9.4 would else lose the first bytes of what stands behind the frame. */
HEMSTITCH_API hemstitch_status hemstitch_lz4_frame_bound(uint64_t content_bytes,
                                                         const hemstitch_lz4_frame* frame, uint64_t* bytes);
HEMSTITCH_API hemstitch_status hemstitch_lz4_frame_compress_temp_bytes(uint64_t content_bytes,
                                                                       const hemstitch_lz4_frame* frame,
                                                                       int level, size_t* temp_bytes);
/* content       device: content_bytes bytes
 * output        device: room for `capacity` bytes
 * output_bytes  device: one element, 8-byte aligned: the frame's size; 0 where the status is not OK
 * status        device: one element: HEMSTITCH_OK or HEMSTITCH_OUTPUT_TOO_SMALL */
HEMSTITCH_API hemstitch_status hemstitch_lz4_frame_compress_async(const void* content, uint64_t content_bytes,
                                                                  const hemstitch_lz4_frame* frame, int level,
                                                                  void* output, uint64_t capacity,
                                                                  uint64_t* output_bytes,
                                                                  hemstitch_status* status, void* temp,
                                                                  size_t temp_bytes, hemstitch_stream stream);

/* Reads the header from the first bytes of a frame, in host memory: 19 always suffice. Skippable and legacy frames are
 * HEMSTITCH_UNSUPPORTED_FEATURE. */
HEMSTITCH_API hemstitch_status hemstitch_lz4_frame_read_header(const void* begin, size_t bytes,
                                                               hemstitch_lz4_frame* frame);
/* `frame` as read, with a max_block_count above 0. Linked blocks are one chain, restored one after the other: slow. */
HEMSTITCH_API hemstitch_status hemstitch_lz4_frame_restore_temp_bytes(const hemstitch_lz4_frame* frame,
                                                                      size_t* temp_bytes);
/* frame_bytes   of the frame, its header included; what follows it is not looked at
 * output        device: room for `capacity` bytes
 * output_bytes  device: one element, 8-byte aligned: restored bytes; 0 where the status is not OK
 * status        device: one element: what the whole frame came to, the first block's failure first; block checksums are
 *               verified. HEMSTITCH_MEMORY_LIMIT: there are more than max_block_count blocks */
HEMSTITCH_API hemstitch_status hemstitch_lz4_frame_restore_async(
    const void* data, uint64_t frame_bytes, const hemstitch_lz4_frame* frame, void* output, uint64_t capacity,
    uint64_t* output_bytes, hemstitch_status* status, void* temp, size_t temp_bytes, hemstitch_stream stream);

/* ---- DEFLATE ---- */

typedef enum hemstitch_deflate_format {
  HEMSTITCH_DEFLATE_RAW = 0,  /* RFC 1951 */
  HEMSTITCH_DEFLATE_ZLIB = 1, /* RFC 1950, with Adler-32 */
  HEMSTITCH_DEFLATE_GZIP = 2, /* RFC 1952: one member, with CRC-32, without a name and a time */
  HEMSTITCH_DEFLATE_BGZF =
      3 /* the same with the field that says the member's size; the empty one that ends a file is the caller's */
} hemstitch_deflate_format;

/* As for LZ4, but: max_block_bytes is at most 1 MiB, of BGZF 65280; and only raw DEFLATE may have histories, of at most 32768 bytes. */
typedef hemstitch_lz4_blocks hemstitch_deflate_blocks;

/* The most bytes that a block of `block_bytes` becomes; SIZE_MAX for a block or a format that there is not. */
HEMSTITCH_API size_t hemstitch_deflate_compress_bound(int32_t format, size_t block_bytes);

/* Temporary device memory for hemstitch_deflate_compress_async(): about 18 bytes for each of content. Reads the bounds of `blocks`, never its
 * arrays. `format` is a hemstitch_deflate_format, `level` 1..12. */
HEMSTITCH_API hemstitch_status hemstitch_deflate_compress_temp_bytes(const hemstitch_deflate_blocks* blocks,
                                                                     int32_t format, int level,
                                                                     size_t* temp_bytes);

/* Each block becomes a stream of its own, which any reader of the format restores.
 *
 * outputs       device: count pointers, any alignment
 * capacities    device: count elements, the room at each; NULL: hemstitch_deflate_compress_bound(format, max_block_bytes) at each
 * output_bytes  device: count elements, the size of each stream; 0 where the status is not OK
 * statuses      device: count elements; HEMSTITCH_OUTPUT_TOO_SMALL where a stream does not fit: then nothing is written */
HEMSTITCH_API hemstitch_status hemstitch_deflate_compress_async(
    const hemstitch_deflate_blocks* blocks, int32_t format, int level, void* const* outputs,
    const size_t* capacities, size_t* output_bytes, hemstitch_status* statuses, void* temp, size_t temp_bytes,
    hemstitch_stream stream);

/* Streams of DEFLATE, zlib or gzip, or blocks of BGZF, on the device, of any content: each whole, and nothing behind it. Of gzip a stream is
 * one member. */
typedef struct hemstitch_deflate_streams {
  const void* const* streams; /* device array: where each begins, any alignment */
  const size_t* stream_bytes; /* device array: its size */
  uint64_t count;             /* streams, below 2^31; 0 included */
  size_t max_stream_bytes;    /* no stream is larger; one that is gets HEMSTITCH_INVALID_OPTION */
} hemstitch_deflate_streams;

/* Temporary device memory for hemstitch_deflate_restore_async(): about 4 bytes a stream of raw DEFLATE, 60 of other formats. `format` is a
 * hemstitch_deflate_format. `max_output_bytes`: no element of `capacities` is larger; one that is gets HEMSTITCH_INVALID_OPTION. */
HEMSTITCH_API hemstitch_status hemstitch_deflate_restore_temp_bytes(const hemstitch_deflate_streams* streams,
                                                                    int32_t format, size_t max_output_bytes,
                                                                    size_t* temp_bytes);
/* Headers are read, and header checksums, content checksums and sizes verified, on the device.
 *
 * outputs        device: count pointers, any alignment; or NULL: sizes and statuses alone, nothing is written, and checksums of contents
 *                and dictionaries are not verified
 * capacities     device: count elements; no byte behind them is written
 * history_bytes  device: count elements, bytes directly before each output that matches may reach, already there; or
 *                NULL: none. Of a zlib stream that names a dictionary these are the dictionary, all of it
 * output_bytes   device: count elements, restored bytes; 0 where the status is not OK
 * statuses       device: count elements; what stands in an output is unspecified unless it is OK. The first of these that holds:
 *                of the header HEMSTITCH_TRUNCATED (no room for it and the trailer), HEMSTITCH_UNKNOWN_FORMAT,
 *                HEMSTITCH_UNSUPPORTED_FEATURE, HEMSTITCH_HEADER_CHECKSUM_MISMATCH; of zlib HEMSTITCH_DICTIONARY_NEEDED and
 *                HEMSTITCH_DICTIONARY_MISMATCH; of BGZF HEMSTITCH_TRUNCATED and HEMSTITCH_TRAILING_GARBAGE where the header tells another
 *                size than stream_bytes;
 *                HEMSTITCH_CORRUPT_BLOCK: DEFLATE that zlib's inflate refuses, that is cut off, or that does not end where the trailer, or
 *                the stream, does; HEMSTITCH_OUTPUT_TOO_SMALL;
 *                of the trailer HEMSTITCH_CONTENT_SIZE_MISMATCH, HEMSTITCH_CONTENT_CHECKSUM_MISMATCH, of BGZF
 *                HEMSTITCH_BLOCK_CHECKSUM_MISMATCH */
HEMSTITCH_API hemstitch_status hemstitch_deflate_restore_async(
    const hemstitch_deflate_streams* streams, int32_t format, void* const* outputs, const size_t* capacities,
    size_t max_output_bytes, const uint32_t* history_bytes, size_t* output_bytes, hemstitch_status* statuses,
    void* temp, size_t temp_bytes, hemstitch_stream stream);

/* One long stream in device memory, as most .gz files are: restored by the whole device, from many places at once, where
 * hemstitch_deflate_restore_async() takes a warp. From some megabytes on.
 *
 * Temporary device memory for hemstitch_deflate_stream_restore(): about 4 bytes for each of content, of at most 768 MB of content. `capacity` is
 * the room for the content; `format` is HEMSTITCH_DEFLATE_RAW, _ZLIB or _GZIP. With less, down to what a stream of 64 KB asks for, the call goes
 * on in smaller steps. */
HEMSTITCH_API hemstitch_status hemstitch_deflate_stream_temp_bytes(uint64_t stream_bytes, uint64_t capacity,
                                                                   int32_t format, size_t* temp_bytes);
/* Not asynchronous: it reads counts back and waits for `stream`, and what the device's way does not restore, damage included, it reads back and
 * restores on the calling thread (docs/formats/gzip-in-parallel.md says what that is). Checksums and sizes are verified.
 *
 * data           device: the stream, any alignment; of gzip one member or several
 * output         device: room for `capacity` bytes, any alignment; no byte behind them is written
 * output_bytes   host: the content's size, and where the status is not OK how much of it is good; those bytes stand in `output`
 *
 * Returns besides the errors of the call, which leave 0 bytes: of the header HEMSTITCH_TRUNCATED, HEMSTITCH_UNKNOWN_FORMAT,
 * HEMSTITCH_UNSUPPORTED_FEATURE, HEMSTITCH_HEADER_CHECKSUM_MISMATCH, HEMSTITCH_DICTIONARY_NEEDED; HEMSTITCH_CORRUPT_BLOCK: DEFLATE that zlib's
 * inflate refuses, or that is cut off; HEMSTITCH_OUTPUT_TOO_SMALL; HEMSTITCH_CONTENT_SIZE_MISMATCH, HEMSTITCH_CONTENT_CHECKSUM_MISMATCH;
 * HEMSTITCH_TRAILING_GARBAGE: something that is no member follows; the content before is whole. */
HEMSTITCH_API hemstitch_status hemstitch_deflate_stream_restore(const void* data, uint64_t stream_bytes,
                                                                int32_t format, void* output,
                                                                uint64_t capacity, uint64_t* output_bytes,
                                                                void* temp, size_t temp_bytes,
                                                                hemstitch_stream stream);

/* CRC-32 (of gzip and BGZF) and Adler-32 (of zlib) of each of `count` spans. All arrays on the device. */
HEMSTITCH_API hemstitch_status hemstitch_crc32_async(const void* const* spans, const size_t* span_bytes,
                                                     uint64_t count, uint32_t* checksums,
                                                     hemstitch_stream stream);
HEMSTITCH_API hemstitch_status hemstitch_adler32_async(const void* const* spans, const size_t* span_bytes,
                                                       uint64_t count, uint32_t* checksums,
                                                       hemstitch_stream stream);

/* ---- Blocks to be found in and parsed ----
 *
 *   hemstitch_find_temp_bytes   -> allocate   hemstitch_find_async    bytes      -> candidates, one a position
 *   hemstitch_parse_temp_bytes  -> allocate   hemstitch_parse_async   candidates -> sequences, one list a block
 *
 * Positions. The blocks of a batch are laid one behind the other: block i has positions first[i] .. first[i+1] - 1,
 * where first[0] = 0 and first[i+1] = first[i] + input_bytes[i]; a block that is left out (see below) counts 0 bytes.
 * The candidate of the block's byte j stands at candidates[first[i] + j]. hemstitch_find_async() writes `first`. Give
 * both calls the same batch. */

/* Blocks on the device. Pointers and arrays may have any alignment that their types ask for; the bytes of blocks any at
 * all. Blocks may overlap, in memory, each other and each other's histories. */
typedef struct hemstitch_batch {
  const void* const* inputs;   /* device array: where each block begins; NULL only where its size is 0 */
  const uint32_t* input_bytes; /* device array: its size, 0 included */
  /* device array: bytes directly before the block that matches may point to, up to 65536; NULL: no block has any */
  const uint32_t* history_bytes;
  uint32_t count;             /* blocks; 0 included */
  uint32_t max_input_bytes;   /* bounds of the arrays above. A block that breaks one is left out, with */
  uint32_t max_history_bytes; /* HEMSTITCH_INVALID_OPTION as its status, */
  uint64_t total_input_bytes; /* and one that ends beyond this with HEMSTITCH_OUTPUT_TOO_SMALL */
} hemstitch_batch;

/* ---- Finding ---- */

typedef enum hemstitch_finder {
  HEMSTITCH_FINDER_HASH_STEP = 0,  /* fast: one candidate from a table, and the offsets 1, 2 and 4 */
  HEMSTITCH_FINDER_HASH_CHAIN = 1, /* good: the `depth` nearest earlier positions with the same hash */
  /* These search a window, and are there to compare with: their work grows with it. */
  HEMSTITCH_FINDER_BRUTE_FORCE = 2,  /* every offset of the window: nothing finds longer ones in it */
  HEMSTITCH_FINDER_LAZY_SCAN = 3,    /* every offset up to near_range, then every far_step-th one */
  HEMSTITCH_FINDER_COOP_STITCH = 4,  /* 64 positions share what each found in a band of its own */
  HEMSTITCH_FINDER_WINDOW_INDEX = 5, /* as brute_force but inside long runs, at a small part of its work */
  /* One match for two positions, in blocks of up to 65536 bytes without history; of match.h, not on devices. */
  HEMSTITCH_FINDER_HASH_PAIRS = 6
} hemstitch_finder;

/* What one position of coop_stitch shows to the other 63. */
typedef enum hemstitch_top_k_policy {
  HEMSTITCH_TOP_K_LONGEST = 0,           /* its top_k best matches */
  HEMSTITCH_TOP_K_LONGEST_PER_BUCKET = 1 /* its band cut into top_k equal parts, and the best match of each */
} hemstitch_top_k_policy;

/* Fields that a finder has no use for are ignored. hemstitch_find_options_for_finder() fills all of them. */
typedef struct hemstitch_find_options {
  int32_t finder;           /* a hemstitch_finder */
  uint32_t hash_bits;       /* a table of 2^hash_bits entries */
  uint32_t cap_bytes;       /* where comparing stops before a match's true length is found; 4..65535 */
  uint32_t stitch;          /* 0 or 1: let matches be carried back, and then forward, or to other positions */
  uint32_t group_positions; /* hash_step: positions looked up before any of them is entered */
  uint32_t depth;           /* hash_chain: candidates a position, at least 1 */
  uint32_t window_bytes;    /* the largest offset, 1..65535; coop_stitch: the offsets of a band */
  uint32_t stitch_reach;    /* hash_chain: positions that a match is carried back over, 1..16; hash_step: 4 */
  uint32_t hash_bytes;      /* hash_chain: bytes that are hashed, 4..8 */
  /* hash_chain: the same in blocks of 8 KB and more whose words have few values, as genomes': 5..8 (one less in
   * blocks of up to 64 KB); 0: no difference */
  uint32_t few_values_hash_bytes;

  /* What searches a window knows the shortest and the longest match; what hashes leaves them to the parse. */
  uint32_t min_match_bytes; /* 3..max_match_bytes: what is shorter is no candidate */
  uint32_t max_match_bytes; /* at most 65535: what is longer is cut to this */
  uint32_t near_range;      /* lazy_scan, coop_stitch: offsets 1..near_range are tried everywhere; 0..65535 */
  uint32_t good_match_bytes; /* lazy_scan, coop_stitch: a match of this length ends a search; 0: none does */
  uint32_t far_step;         /* lazy_scan: offsets from one try to the next beyond near_range, at least 1 */

  /* coop_stitch: position t of 64 tries the offsets band_origin + t * stride + 1 .. band_origin + t * stride +
   * window_bytes, all of which are at most 65535. */
  uint32_t stride; /* at least 1 */
  uint32_t band_origin;
  uint32_t top_k;       /* matches that a position shows to the others, 1..16 */
  int32_t top_k_policy; /* a hemstitch_top_k_policy */
} hemstitch_find_options;

/* What a finder takes where nobody says otherwise; `finder` is a hemstitch_finder. */
HEMSTITCH_API hemstitch_status hemstitch_find_options_for_finder(int32_t finder,
                                                                 hemstitch_find_options* options);

/* What level 1..12 of LZ4 uses for blocks of that size; but levels 1 and 2 write blocks of at most 4096 bytes without history
 * by a finder of their own. */
HEMSTITCH_API hemstitch_status hemstitch_find_options_for_level(int level, uint32_t block_bytes,
                                                                hemstitch_find_options* options);

/* A candidate: the best match that starts at a position, `offset << 16 | length`, or 0. Lengths run to the end of the
 * block at most; a longer one than 65535 is given as 65535. */
typedef uint32_t hemstitch_candidate;

#define HEMSTITCH_CANDIDATE_OFFSET(candidate) ((candidate) >> 16)
#define HEMSTITCH_CANDIDATE_LENGTH(candidate) ((candidate)&0xFFFFu)

/* Temporary device memory for hemstitch_find_async(): about 3 bytes a position; for what searches a window, a few bytes a
 * block. Reads sizes and bounds of the batch, never its arrays. */
HEMSTITCH_API hemstitch_status hemstitch_find_temp_bytes(const hemstitch_batch* batch,
                                                         const hemstitch_find_options* options,
                                                         size_t* temp_bytes);

/* candidates  device: total_input_bytes elements
 * first       device: count + 1 elements, 8-byte aligned; the last is the number of positions
 * statuses    device: count elements */
HEMSTITCH_API hemstitch_status hemstitch_find_async(const hemstitch_batch* batch,
                                                    const hemstitch_find_options* options,
                                                    hemstitch_candidate* candidates, uint64_t* first,
                                                    hemstitch_status* statuses, void* temp, size_t temp_bytes,
                                                    hemstitch_stream stream);

/* ---- Parsing ---- */

typedef enum hemstitch_parse {
  HEMSTITCH_PARSE_GREEDY = 0,       /* every match, as soon as there is one */
  HEMSTITCH_PARSE_LAZY = 1,         /* unless the next position has a longer one */
  HEMSTITCH_PARSE_OPTIMAL = 2,      /* the cheapest way, within 0.01 % */
  HEMSTITCH_PARSE_OPTIMAL_EXACT = 3 /* the cheapest way; slow, for measuring */
} hemstitch_parse;

typedef enum hemstitch_costs {
  HEMSTITCH_COSTS_FLAT = 0, /* literal_bits and match_bits below; matches at full length */
  HEMSTITCH_COSTS_LZ4 = 1   /* the bytes of an LZ4 block; shorter lengths are tried as well */
} hemstitch_costs;

typedef struct hemstitch_parse_options {
  int32_t parse;      /* a hemstitch_parse */
  uint32_t lazy_skip; /* lazy: a match of this many bytes is taken without looking further; 0: never */

  /* optimal and optimal_exact: what they believe that things cost */
  int32_t costs;         /* a hemstitch_costs */
  uint32_t literal_bits; /* flat: 1..4096 */
  uint32_t match_bits;   /* flat: 1..4096 */

  /* What the format allows. */
  uint32_t min_match_bytes;      /* at least 1; at least 4 with HEMSTITCH_COSTS_LZ4 */
  uint32_t max_match_bytes;      /* 0xFFFFFFFF: no limit */
  uint32_t max_offset;           /* bytes */
  uint32_t last_match_start_gap; /* a match starts at least so many bytes before the end of its block, */
  uint32_t last_match_end_gap;   /* and ends at least so many before it */
} hemstitch_parse_options;

/* LZ4's costs and limits with the parse of that level, 1..12. */
HEMSTITCH_API hemstitch_status hemstitch_parse_options_for_level(int level, hemstitch_parse_options* options);

/* Literals, then a match. The last sequence of a block has literals alone (perhaps none) and a match_bytes of 0. */
typedef struct hemstitch_sequence {
  uint32_t literal_bytes;
  uint32_t match_bytes;
  uint32_t offset;
} hemstitch_sequence;

/* Elements of `sequences` that hemstitch_parse_async() needs: total_input_bytes / min_match_bytes + count. */
HEMSTITCH_API hemstitch_status hemstitch_parse_capacity(const hemstitch_batch* batch,
                                                        const hemstitch_parse_options* options,
                                                        uint64_t* sequences);

/* Temporary device memory for hemstitch_parse_async(): little for greedy and lazy; for optimal 2 bytes a position, and
 * 160 KB for each warp that the device runs at once, but no more than 5 bytes a position; for optimal_exact 10 bytes a
 * position. */
HEMSTITCH_API hemstitch_status hemstitch_parse_temp_bytes(const hemstitch_batch* batch,
                                                          const hemstitch_parse_options* options,
                                                          size_t* temp_bytes);

/* candidates       device: as hemstitch_find_async() gives them, or anyone else in that shape
 * sequences        device: hemstitch_parse_capacity() elements; lists are contiguous, with room between them
 * first_sequences  device: count elements, 8-byte aligned: where each block's list begins
 * sequence_counts  device: count elements: how long it is, at least 1
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

/* From sizes to places, and many pieces into one span and back. Pieces have any size, 0 included, and any alignment on
 * both sides; work is divided by bytes. */

HEMSTITCH_API hemstitch_status hemstitch_scan_temp_bytes(uint64_t count, size_t* temp_bytes);

/* offsets[i] = sizes[0] + ... + sizes[i-1].
 * sizes    device: count elements
 * offsets  device: count + 1 elements, the last of them the total */
HEMSTITCH_API hemstitch_status hemstitch_scan_async(const uint32_t* sizes, uint64_t count, uint64_t* offsets,
                                                    void* temp, size_t temp_bytes, hemstitch_stream stream);

/* Both functions below need none today. */
HEMSTITCH_API hemstitch_status hemstitch_gather_temp_bytes(uint64_t count, size_t* temp_bytes);
HEMSTITCH_API hemstitch_status hemstitch_scatter_temp_bytes(uint64_t count, size_t* temp_bytes);

/* Copies sizes[i] bytes from sources[i] to output + offsets[i]. Pieces must not overlap in the output; gaps between them
 * keep their contents. The caller answers for the room.
 * sources  device: count pointers to device memory
 * sizes    device: count elements
 * offsets  device: count elements, ascending, as hemstitch_scan_async() gives them
 * output   device */
HEMSTITCH_API hemstitch_status hemstitch_gather_async(const void* const* sources, const uint32_t* sizes,
                                                      const uint64_t* offsets, uint64_t count, void* output,
                                                      void* temp, size_t temp_bytes, hemstitch_stream stream);

/* Copies sizes[i] bytes from input + offsets[i] to targets[i]. Targets must not overlap; nothing else is written.
 * input    device
 * offsets  device: count elements, ascending
 * sizes    device: count elements
 * targets  device: count pointers to device memory */
HEMSTITCH_API hemstitch_status hemstitch_scatter_async(const void* input, const uint64_t* offsets,
                                                       const uint32_t* sizes, uint64_t count,
                                                       void* const* targets, void* temp, size_t temp_bytes,
                                                       hemstitch_stream stream);

/* ---- Shuffling ---- */

/* HDF5's shuffle filter: of a buffer of n elements of element_bytes bytes, first the n first bytes, then the n second ones, and so
 * on; bytes that fill no element stay behind them. unshuffle is the way back. Buffers have any size, 0 included, and any alignment;
 * work is divided by bytes. Elements of 2, 4, 8 and 16 bytes are the fast ones. */

/* Temporary device memory for either call below. */
HEMSTITCH_API hemstitch_status hemstitch_shuffle_temp_bytes(uint64_t count, size_t* temp_bytes);

/* Moves sizes[i] bytes from sources[i] to targets[i]. Targets overlap neither each other nor a source. The caller answers for the
 * room.
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

#ifdef __cplusplus
}
#endif

#endif
