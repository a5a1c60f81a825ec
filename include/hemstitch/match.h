/* Match finding and parsing alone, for encoders in C that bring their own format: what match.hpp says, with statuses in place of exceptions. Bytes
 * are on the host; encoders on CUDA have batch.h, whose finders and options these are.
 *
 *   hemstitch_matcher* matcher = NULL;
 *   hemstitch_matches found;
 *   const hemstitch_match_block block = {.data = text, .bytes = text_bytes};
 *   status = hemstitch_matcher_new(NULL, &matcher);
 *   if (status == HEMSTITCH_OK) status = hemstitch_matcher_find(matcher, &block, 1, &found);
 *   ... found.matches[i], of found.first[1] ...
 *   hemstitch_matches_free(&found);
 *   hemstitch_matcher_free(matcher);
 *
 * Positions, lengths and offsets are bytes. Results depend on the input, the finder and its options alone, never on threads or on the machine.
 * Thread safety: any number of threads may use one matcher at once, but for freeing it; pending matches belong to one thread at a time. */
#ifndef HEMSTITCH_MATCH_H
#define HEMSTITCH_MATCH_H

#include <stddef.h>
#include <stdint.h>

#include "hemstitch/batch.h"
#include "hemstitch/hemstitch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fills `options` as a name says: "4k", "16k", "32k", "32k-gaps" and "near-1k" are sets of the finder coop_stitch (match.hpp says what they search).
 * HEMSTITCH_INVALID_OPTION names those that there are. hemstitch_find_options_for_finder() (batch.h) fills what a finder takes where nobody says
 * otherwise. */
HEMSTITCH_API hemstitch_status hemstitch_find_options_for_preset(const char* name,
                                                                 hemstitch_find_options* options);

/* Zeros and NULLs, and no options at all, are the defaults. */
typedef struct hemstitch_matcher_options {
  size_t size;                        /* sizeof(hemstitch_matcher_options) */
  const hemstitch_find_options* find; /* NULL: the preset "4k" of coop_stitch */
  const char*
      parse; /* how matches are chosen among candidates: "greedy", "lazy", "optimal"; NULL: "optimal" */
  uint32_t literal_bits; /* what the optimal parse believes that a literal costs, 1..4096; 0: 9 */
  uint32_t match_bits;   /* and that any match costs, 1..4096; 0: 25 */
  /* "reference", on the calling thread, defines every result; "cuda" and "webgpu" give the same. NULL: "reference". */
  const char* backend;
  const char* device; /* as hemstitch_compress_options::device */
} hemstitch_matcher_options;

/* `length` bytes at `position` of a block that also stand `offset` bytes earlier. */
typedef struct hemstitch_match {
  uint64_t position;
  uint32_t offset; /* bytes back, 1..65535 */
  uint32_t length; /* min_match_bytes..max_match_bytes of the options */
} hemstitch_match;

/* A block, and what stands before it: matches may point into the history, but none is given for its bytes. */
typedef struct hemstitch_match_block {
  const void* data;     /* history, then the block */
  size_t bytes;         /* of both */
  size_t history_bytes; /* at most all of them */
} hemstitch_match_block;

/* Those of block i are matches[first[i]] up to matches[first[i + 1]], in order of position, none overlapping another. The bytes between them
 * are literals. */
typedef struct hemstitch_matches {
  const hemstitch_match* matches;
  const size_t* first; /* block_count + 1 elements */
  size_t block_count;
  void* owner; /* Hemstitch's */
} hemstitch_matches;

/* `matches` may be NULL, or zeros; they are zeros afterwards. */
HEMSTITCH_API void hemstitch_matches_free(hemstitch_matches* matches);

typedef struct hemstitch_matcher hemstitch_matcher;

/* HEMSTITCH_INVALID_OPTION names the parameter that is out of its limits, HEMSTITCH_UNKNOWN_BACKEND the backend that finds no matches in this
 * build, and HEMSTITCH_DEVICE_UNAVAILABLE says why a device cannot be used. *matcher is set on success, to be freed. */
HEMSTITCH_API hemstitch_status hemstitch_matcher_new(const hemstitch_matcher_options* options,
                                                     hemstitch_matcher** matcher);
HEMSTITCH_API void hemstitch_matcher_free(hemstitch_matcher* matcher); /* NULL: nothing */

/* Makes ready what the first call would wait for: shaders compiled, kernels loaded. Nothing to do for "reference". */
HEMSTITCH_API hemstitch_status hemstitch_matcher_prepare(const hemstitch_matcher* matcher);

/* *matches is set on success, to be freed. On "cuda" a block has up to 2 GiB with its history, and the calling thread's current device is the
 * matcher's afterwards. */
HEMSTITCH_API hemstitch_status hemstitch_matcher_find(const hemstitch_matcher* matcher,
                                                      const hemstitch_match_block* blocks, size_t count,
                                                      hemstitch_matches* matches);

/* The raw table, for those who bring their own parse: an element for each byte after the history, the best match that starts there, or 0.
 *   candidates  block->bytes - block->history_bytes elements */
HEMSTITCH_API hemstitch_status hemstitch_matcher_candidates(const hemstitch_matcher* matcher,
                                                            const hemstitch_match_block* block,
                                                            hemstitch_candidate* candidates);

/* ---- Without waiting ---- */

typedef struct hemstitch_pending_matches hemstitch_pending_matches;

/* The bytes must stay until the matches are taken or freed. On a device all blocks are one batch, and three submissions have room at once; one
 * more is HEMSTITCH_INVALID_OPTION. *pending is set on success, to be freed. */
HEMSTITCH_API hemstitch_status hemstitch_matcher_submit(const hemstitch_matcher* matcher,
                                                        const hemstitch_match_block* blocks, size_t count,
                                                        hemstitch_pending_matches** pending);
/* *ready is 1 where hemstitch_pending_matches_take() would not wait, else 0. Never waits. */
HEMSTITCH_API hemstitch_status hemstitch_pending_matches_are_ready(const hemstitch_pending_matches* pending,
                                                                   int* ready);
/* As hemstitch_matcher_find(). Once: then HEMSTITCH_INVALID_OPTION. */
HEMSTITCH_API hemstitch_status hemstitch_pending_matches_take(hemstitch_pending_matches* pending,
                                                              hemstitch_matches* matches);

/* Handles of webgpu.h, as wgpu-native gives them, which belong to the pending matches. */
typedef struct hemstitch_webgpu_matches {
  void* device; /* WGPUDevice */
  void* queue;  /* WGPUQueue: work submitted to it later finds the matches there */
  void*
      matches; /* WGPUBuffer: two words a match, block after block: its position, and offset << 16 | length */
  void*
      begins; /* WGPUBuffer: a word for each block, where its matches begin, and a last one, how many there are */
} hemstitch_webgpu_matches;

/* Before or after they are taken, or without it. HEMSTITCH_INVALID_OPTION for a matcher that is not on "webgpu". */
HEMSTITCH_API hemstitch_status hemstitch_pending_matches_on_webgpu(const hemstitch_pending_matches* pending,
                                                                   hemstitch_webgpu_matches* matches);
/* Waits for the device where matches were not taken. NULL: nothing. */
HEMSTITCH_API void hemstitch_pending_matches_free(hemstitch_pending_matches* pending);

#ifdef __cplusplus
}
#endif

#endif /* HEMSTITCH_MATCH_H */
