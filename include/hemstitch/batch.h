/* Hemstitch's batch interface: match finding and parsing on a CUDA device, for callers with an encoder of their own.
 *
 * Input, candidates and sequences stay on the device. The shape is the usual one of batched GPU libraries: arrays of
 * device pointers and sizes, a call that says how much temporary memory is needed, a call that enqueues the work, and
 * a status for every block.
 *
 *   hemstitch_find_temp_bytes   -> allocate   hemstitch_find_async    bytes      -> candidates, one a position
 *   hemstitch_parse_temp_bytes  -> allocate   hemstitch_parse_async   candidates -> sequences, one list a block
 *
 * The results are those of the reference engine (`reference`), byte for byte, on every device, run after run.
 *
 * Positions. The blocks of a batch are laid one behind the other: block i has positions first[i] .. first[i+1] - 1,
 * where first[0] = 0 and first[i+1] = first[i] + input_bytes[i]; a block that is left out (see below) counts 0 bytes.
 * The candidate of the block's byte j stands at candidates[first[i] + j]. hemstitch_find_async() writes `first`. Give
 * both calls the same batch.
 *
 * Asynchronous. The `..._async` functions enqueue on `stream` and return: they allocate nothing, wait for nothing, copy
 * nothing to the host and may be captured in a CUDA graph. Everything they are given on the device must stay until the
 * stream has passed them. What they return speaks of the call (options, temporary memory, the launch); what became of a
 * block stands in statuses[i].
 *
 * Errors. A build without CUDA, and one with CUDA on a machine without a driver or device, returns
 * HEMSTITCH_DEVICE_UNAVAILABLE from every function that needs one; hemstitch_last_error_message() says why. A batch with
 * blocks that break its own bounds is no error of the call: those blocks get a status, and all others are done.
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

/* Blocks on the device. Pointers and arrays may have any alignment that their types ask for; the bytes of blocks any at
 * all. Blocks may overlap, in memory, each other and each other's histories. */
typedef struct hemstitch_batch {
  const void* const* inputs;   /* device array: where each block begins; NULL only where its size is 0 */
  const uint32_t* input_bytes; /* device array: its size, 0 included */
  const uint32_t*
      history_bytes;        /* device array: bytes directly before the block that matches may point to, up to
                                  * 65536; NULL: no block has any */
  uint32_t count;           /* blocks; 0 included */
  uint32_t max_input_bytes; /* bounds of the arrays above. A block that breaks one is left out, with */
  uint32_t max_history_bytes; /* HEMSTITCH_INVALID_OPTION as its status, */
  uint64_t total_input_bytes; /* and one that ends beyond this with HEMSTITCH_OUTPUT_TOO_SMALL */
} hemstitch_batch;

/* ---- Finding ---- */

typedef enum hemstitch_finder {
  HEMSTITCH_FINDER_HASH_STEP = 0, /* fast: one candidate from a table, and the offsets 1, 2 and 4 */
  HEMSTITCH_FINDER_HASH_CHAIN = 1 /* good: the `depth` nearest earlier positions with the same hash */
} hemstitch_finder;

/* Fields that a finder has no use for are ignored. */
typedef struct hemstitch_find_options {
  int32_t finder;           /* a hemstitch_finder */
  uint32_t hash_bits;       /* a table of 2^hash_bits entries */
  uint32_t cap_bytes;       /* where comparing stops before a match's true length is found; 4..65535 */
  uint32_t stitch;          /* 0 or 1: let neighbours carry their matches to each other */
  uint32_t group_positions; /* hash_step: positions looked up before any of them is entered */
  uint32_t depth;           /* hash_chain: candidates a position, at least 1 */
  uint32_t window_bytes;    /* hash_chain: the largest offset, 1..65535 */
} hemstitch_find_options;

/* What level 1..12 of LZ4 uses for blocks of that size. */
HEMSTITCH_API hemstitch_status hemstitch_find_options_for_level(int level, uint32_t block_bytes,
                                                                hemstitch_find_options* options);

/* A candidate: the best match that starts at a position, `offset << 16 | length`, or 0. Lengths run to the end of the
 * block at most; a longer one than 65535 is given as 65535. */
typedef uint32_t hemstitch_candidate;

#define HEMSTITCH_CANDIDATE_OFFSET(candidate) ((candidate) >> 16)
#define HEMSTITCH_CANDIDATE_LENGTH(candidate) ((candidate)&0xFFFFu)

/* Temporary device memory for hemstitch_find_async(): about 3 bytes a position. Reads sizes and bounds of the batch,
 * never its arrays. */
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

#ifdef __cplusplus
}
#endif

#endif
