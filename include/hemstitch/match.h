/* Match finding and parsing alone, for C encoders with a format of their own: the functions of match.hpp,
 * with statuses instead of exceptions. Bytes are on the host. Encoders on CUDA use batch.h; finders and
 * options here are the same.
 *
 *   hemstitch_matcher* matcher = NULL;
 *   hemstitch_matches found;
 *   const hemstitch_match_block block = {.data = text, .bytes = text_bytes};
 *   status = hemstitch_matcher_new(NULL, &matcher);
 *   if (status == HEMSTITCH_OK) status = hemstitch_matcher_find(matcher, &block, 1, &found);
 *   ... found.matches[i], for i below found.first[1] ...
 *   hemstitch_matches_free(&found);
 *   hemstitch_matcher_free(matcher);
 *
 * Positions, lengths and offsets are in bytes. Results depend only on the input, the finder and its options,
 * never on threads or the machine.
 *
 * Thread safety: any number of threads may use one matcher at once, except to free it. Only one thread at a
 * time may use pending matches. */
#ifndef HEMSTITCH_MATCH_H
#define HEMSTITCH_MATCH_H

#include <stddef.h>
#include <stdint.h>

#include "hemstitch/batch.h"
#include "hemstitch/hemstitch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fills `options` from a named set. "4k", "16k", "32k", "32k-gaps" and "near-1k" are sets for the finder
 * coop_stitch; match.hpp says what they search. For an unknown name it returns HEMSTITCH_INVALID_OPTION, and
 * the message lists the names. hemstitch_find_options_for_finder() (batch.h) fills in a finder's defaults. */
HEMSTITCH_API hemstitch_status hemstitch_find_options_for_preset(const char* name,
                                                                 hemstitch_find_options* options);

/* Zeros and NULLs are the defaults, and so is a NULL pointer to the options. */
typedef struct hemstitch_matcher_options {
  size_t size;                        /* sizeof(hemstitch_matcher_options) */
  const hemstitch_find_options* find; /* NULL: the preset "4k" of coop_stitch */
  /* how matches are chosen among candidates: "greedy", "lazy", "optimal"; NULL: "optimal" */
  const char* parse;
  uint32_t literal_bits; /* the cost of a literal for the optimal parse, in bits, 1..4096; 0: 9 */
  uint32_t match_bits;   /* the cost of any match for it, in bits, 1..4096; 0: 25 */
  /* "reference" runs on the calling thread and defines every result; "cuda" and "webgpu" give the same. NULL:
   * "reference". */
  const char* backend;
  const char* device; /* as hemstitch_compress_options::device */
  /* For every call but hemstitch_matcher_submit(); NULL: none. On a device a piece is a batch of blocks. */
  hemstitch_check between_pieces;
  void* between_pieces_context; /* passed to `between_pieces` */
} hemstitch_matcher_options;

/* `length` bytes at `position` of a block that also occur `offset` bytes earlier. */
typedef struct hemstitch_match {
  uint64_t position;
  uint32_t offset; /* bytes back, 1..65535 */
  uint32_t length; /* from min_match_bytes to max_match_bytes of the options */
} hemstitch_match;

/* A block with its history, the bytes before it. Matches may point into the history, but none starts
 * there. */
typedef struct hemstitch_match_block {
  const void* data;     /* history, then the block */
  size_t bytes;         /* history and block together */
  size_t history_bytes; /* at most `bytes` */
} hemstitch_match_block;

/* The matches of block i are matches[first[i]] up to, not including, matches[first[i + 1]], in order of
 * position, without overlaps. The bytes between them are literals. */
typedef struct hemstitch_matches {
  const hemstitch_match* matches;
  const size_t* first; /* block_count + 1 elements */
  size_t block_count;
  void* owner; /* private to Hemstitch */
} hemstitch_matches;

/* Frees the matches and sets *matches to zeros. `matches` may be NULL or all zeros. */
HEMSTITCH_API void hemstitch_matches_free(hemstitch_matches* matches);

typedef struct hemstitch_matcher hemstitch_matcher;

/* Returns HEMSTITCH_INVALID_OPTION, naming the parameter that is out of range; HEMSTITCH_UNKNOWN_BACKEND,
 * naming the backend that cannot find matches in this build; or HEMSTITCH_DEVICE_UNAVAILABLE, saying why a
 * device cannot be used. On success *matcher is set; free it with hemstitch_matcher_free(). */
HEMSTITCH_API hemstitch_status hemstitch_matcher_new(const hemstitch_matcher_options* options,
                                                     hemstitch_matcher** matcher);
HEMSTITCH_API void hemstitch_matcher_free(hemstitch_matcher* matcher); /* NULL: does nothing */

/* Does the preparations for which the first call would wait: compiles shaders, loads kernels. Does nothing
 * for "reference". */
HEMSTITCH_API hemstitch_status hemstitch_matcher_prepare(const hemstitch_matcher* matcher);

/* On success *matches is set; free it with hemstitch_matches_free(). On "cuda" a block and its history have
 * at most 2 GiB together, and the calls make the matcher's device the calling thread's current one. */
HEMSTITCH_API hemstitch_status hemstitch_matcher_find(const hemstitch_matcher* matcher,
                                                      const hemstitch_match_block* blocks, size_t count,
                                                      hemstitch_matches* matches);

/* Fills the raw table, for callers with a parse of their own: for each byte after the history, the best match
 * that starts there, or 0.
 *   candidates  block->bytes - block->history_bytes elements */
HEMSTITCH_API hemstitch_status hemstitch_matcher_candidates(const hemstitch_matcher* matcher,
                                                            const hemstitch_match_block* block,
                                                            hemstitch_candidate* candidates);

/* ---- Without waiting ---- */

typedef struct hemstitch_pending_matches hemstitch_pending_matches;

/* Keep the bytes until the matches are taken or freed. On a device all blocks are one batch, and at most
 * three submissions may be open; a fourth returns HEMSTITCH_INVALID_OPTION. On success *pending is set; free
 * it with hemstitch_pending_matches_free(). */
HEMSTITCH_API hemstitch_status hemstitch_matcher_submit(const hemstitch_matcher* matcher,
                                                        const hemstitch_match_block* blocks, size_t count,
                                                        hemstitch_pending_matches** pending);
/* Sets *ready to 1 if hemstitch_pending_matches_take() would not wait, else to 0. Never waits itself. */
HEMSTITCH_API hemstitch_status hemstitch_pending_matches_are_ready(const hemstitch_pending_matches* pending,
                                                                   int* ready);
/* As hemstitch_matcher_find(). A second call returns HEMSTITCH_INVALID_OPTION. */
HEMSTITCH_API hemstitch_status hemstitch_pending_matches_take(hemstitch_pending_matches* pending,
                                                              hemstitch_matches* matches);

/* Handles of webgpu.h, as wgpu-native defines them. They belong to the pending matches. */
typedef struct hemstitch_webgpu_matches {
  void* device; /* WGPUDevice */
  void* queue;  /* WGPUQueue: work submitted to it later can read the matches */
  /* WGPUBuffer: two words per match, block after block: the position in its block, and offset << 16 |
   * length */
  void* matches;
  /* WGPUBuffer: one word per block, the index of its first match; then one more word, the number of
   * matches */
  void* begins;
} hemstitch_webgpu_matches;

/* May be called before or after the matches are taken, or without taking them. Returns
 * HEMSTITCH_INVALID_OPTION if the matcher is not on "webgpu". */
HEMSTITCH_API hemstitch_status hemstitch_pending_matches_on_webgpu(const hemstitch_pending_matches* pending,
                                                                   hemstitch_webgpu_matches* matches);
/* Waits for the device if the matches were not taken. NULL: does nothing. */
HEMSTITCH_API void hemstitch_pending_matches_free(hemstitch_pending_matches* pending);

#ifdef __cplusplus
}
#endif

#endif /* HEMSTITCH_MATCH_H */
