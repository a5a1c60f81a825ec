/* Text search, for C: what search.hpp says, with statuses in place of exceptions. Lines are those that GNU grep -F selects in the C locale.
 *
 *   const char* const patterns[] = {"error", "warning"};
 *   hemstitch_search_options options = {.size = sizeof options, .patterns = patterns, .pattern_count = 2};
 *   hemstitch_searcher* searcher = NULL;
 *   hemstitch_search_results results;
 *   status = hemstitch_searcher_new(&options, &searcher);
 *   if (status == HEMSTITCH_OK) status = hemstitch_search_text(searcher, text, text_bytes, &results);
 *   ... results.texts[0].lines[i].text, of results.texts[0].line_count lines ...
 *   hemstitch_search_results_free(&results);
 *   hemstitch_searcher_free(searcher);
 *
 * Positions, numbers and sizes: bytes, from 0; lines are numbered from 1. Thread safety: any number of threads may use one searcher at once, but for
 * freeing it; calls that need its device take turns. */
#ifndef HEMSTITCH_SEARCH_H
#define HEMSTITCH_SEARCH_H

#include <stddef.h>
#include <stdint.h>

#include "hemstitch/hemstitch.h"
#include "hemstitch/webgpu.h"

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st; /* what a cudaStream_t points to */

typedef enum hemstitch_search_wanted {
  HEMSTITCH_SEARCH_LINES = 0,  /* and their number */
  HEMSTITCH_SEARCH_COUNT = 1,  /* of lines */
  HEMSTITCH_SEARCH_WHETHER = 2 /* a line is selected: the count is 0 or 1 */
} hemstitch_search_wanted;

/* The binary part of a text begins where grep's buffer with the first zero byte does. */
typedef enum hemstitch_search_binary {
  HEMSTITCH_SEARCH_BINARY_TOLD = 0, /* a line selected there is counted and told by in_binary, never given */
  HEMSTITCH_SEARCH_BINARY_AS_TEXT = 1, /* there is no such part: zero bytes are as any other */
  HEMSTITCH_SEARCH_BINARY_NO_MATCH = 2 /* a text with such a part holds no line */
} hemstitch_search_binary;

typedef struct hemstitch_search_options {
  size_t size;                 /* sizeof(hemstitch_search_options) */
  const char* const* patterns; /* at least one, of up to 65,535 bytes; an empty one stands in every line */
  const size_t* pattern_bytes; /* an element for each; NULL: each ends at its first zero byte */
  size_t pattern_count;
  int ignore_case;        /* 1: letters a-z match both cases */
  int whole_words;        /* 1: where no letter, digit or underscore stands beside the pattern */
  int whole_lines;        /* 1: where the pattern is the whole line; goes before whole_words */
  int invert;             /* 1: the lines without a match are selected */
  uint64_t most_lines;    /* that are selected in a text; 0: any number */
  int32_t wanted;         /* a hemstitch_search_wanted */
  int32_t binary;         /* a hemstitch_search_binary */
  uint64_t before, after; /* lines that are given with each selected one */
  int matches;            /* 1: where in the lines they stand, too */
  int decompress;         /* 1: of texts that are compressed frames, what these restore to is searched */
  /* Where texts and positions are looked for: NULL or "auto" is the processor, which searches as fast as it reads; "cuda" and "webgpu" serve
   * those whose texts are there, or are many. */
  const char* backend;
  const char* device; /* as hemstitch_compress_options::device */
  unsigned threads;   /* of the processor; 0: one a core */
} hemstitch_search_options;

typedef struct hemstitch_search_match {
  uint64_t position; /* in the text or line */
  uint32_t bytes;    /* of the longest pattern that stands there */
} hemstitch_search_match;

typedef struct hemstitch_searched_line {
  uint64_t number;  /* from 1 */
  uint64_t byte;    /* of the line's first in the text */
  const char* text; /* without the line's end; a zero byte follows, and may stand inside it */
  size_t text_bytes;
  int selected; /* 0: given for one that is */
  /* With hemstitch_search_options::matches: from left to right, none overlapping another. */
  const hemstitch_search_match* matches;
  size_t match_count;
} hemstitch_searched_line;

typedef struct hemstitch_searched_text {
  uint64_t count; /* of selected lines */
  const hemstitch_searched_line* lines;
  size_t line_count;
  int in_binary;     /* 1: a line of the binary part is selected, which is not given */
  const char* error; /* of a file: why not all of it was searched; NULL: it was */
} hemstitch_searched_text;

/* What a search found: in a text, one of these; in many, one for each, in their order. */
typedef struct hemstitch_search_results {
  const hemstitch_searched_text* texts;
  size_t text_count;
  const hemstitch_search_match* matches; /* of hemstitch_find_in_texts() */
  size_t match_count;
  void* owner; /* Hemstitch's */
} hemstitch_search_results;

/* `results` may be NULL, or zeros; they are zeros afterwards. */
HEMSTITCH_API void hemstitch_search_results_free(hemstitch_search_results* results);

typedef struct hemstitch_searcher hemstitch_searcher;

/* HEMSTITCH_INVALID_OPTION names the option; HEMSTITCH_UNKNOWN_BACKEND and HEMSTITCH_DEVICE_UNAVAILABLE say why a device cannot be used. *searcher
 * is set on success, to be freed. Patterns are copied. */
HEMSTITCH_API hemstitch_status hemstitch_searcher_new(const hemstitch_search_options* options,
                                                      hemstitch_searcher** searcher);
/* On that device, whatever the options say of one. */
HEMSTITCH_API hemstitch_status hemstitch_searcher_new_on_webgpu(const hemstitch_search_options* options,
                                                                const hemstitch_webgpu_device* device,
                                                                hemstitch_searcher** searcher);
HEMSTITCH_API void hemstitch_searcher_free(hemstitch_searcher* searcher); /* NULL: nothing */

/* *results is set on success by each of these, to be freed. */

/* One text, by the calling thread, on the processor. */
HEMSTITCH_API hemstitch_status hemstitch_search_text(const hemstitch_searcher* searcher, const void* text,
                                                     size_t text_bytes, hemstitch_search_results* results);

/* `count` texts that lie one behind the other, text i from offsets[i] to offsets[i + 1]: count + 1 offsets, which ascend from 0 to the end. */
HEMSTITCH_API hemstitch_status hemstitch_search_texts(const hemstitch_searcher* searcher, const void* texts,
                                                      const uint64_t* offsets, size_t count,
                                                      hemstitch_search_results* results);

/* `count` files of any size, on the processor. What cannot be read, or restored, is told in its result, which has what was found before:
 * HEMSTITCH_OK is what the call returns. */
HEMSTITCH_API hemstitch_status hemstitch_search_files(const hemstitch_searcher* searcher,
                                                      const char* const* paths, size_t count,
                                                      hemstitch_search_results* results);

/* Every position at which a pattern stands, ascending, as results->matches: positions of all texts together. They may overlap, and reach from no text
 * into the next. Options that select lines say nothing here, and an empty pattern stands nowhere. */
HEMSTITCH_API hemstitch_status hemstitch_find_in_texts(const hemstitch_searcher* searcher, const void* texts,
                                                       const uint64_t* offsets, size_t count,
                                                       hemstitch_search_results* results);

/* The same of texts in a WGPUBuffer on the searcher's WebGPU device, whose size is a multiple of 16, with the usage COPY_SRC; behind all that is
 * queued there. Waits. Offsets are on the host. */
HEMSTITCH_API hemstitch_status hemstitch_find_in_webgpu_texts(const hemstitch_searcher* searcher,
                                                              void* buffer, const uint64_t* offsets,
                                                              size_t count,
                                                              hemstitch_search_results* results);

/* ---- On the device of backend "cuda", of texts that are there, without waiting: counted, then written ---- */

typedef struct hemstitch_cuda_texts {
  const void* d_bytes;       /* device, at any address */
  uint64_t bytes;            /* of all texts; below 2^48 */
  const uint64_t* d_offsets; /* device: count + 1 elements, ascending from 0 to `bytes` */
  uint64_t count;
} hemstitch_cuda_texts;

/* Temporary device memory for the two below, which are steps of the stream, may be captured in a graph, and allocate nothing. The device is the
 * searcher's, which is made the thread's current one. HEMSTITCH_INVALID_OPTION where the searcher has another backend, or there is no pattern but
 * the empty one. */
HEMSTITCH_API hemstitch_status hemstitch_search_temp_bytes(const hemstitch_searcher* searcher,
                                                           const hemstitch_cuda_texts* texts,
                                                           size_t* temp_bytes);
/* d_count  device: one element: how many matches there are */
HEMSTITCH_API hemstitch_status hemstitch_search_count_async(const hemstitch_searcher* searcher,
                                                            const hemstitch_cuda_texts* texts,
                                                            uint64_t* d_count, void* d_temp,
                                                            size_t temp_bytes, struct CUstream_st* stream);
/* d_matches  device: `room` elements, position << 16 | bytes; matches 0 up to min(*d_count, room) are written */
HEMSTITCH_API hemstitch_status hemstitch_search_write_async(const hemstitch_searcher* searcher,
                                                            const hemstitch_cuda_texts* texts,
                                                            uint64_t* d_matches, uint64_t room, void* d_temp,
                                                            size_t temp_bytes, struct CUstream_st* stream);

#ifdef __cplusplus
}
#endif

#endif /* HEMSTITCH_SEARCH_H */
