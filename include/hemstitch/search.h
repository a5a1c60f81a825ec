/* Text search for C: the functions of search.hpp, with statuses instead of exceptions. It selects the same
 * lines as GNU grep -F in the C locale.
 *
 *   const char* const patterns[] = {"error", "warning"};
 *   hemstitch_search_options options = {.size = sizeof options, .patterns = patterns, .pattern_count = 2};
 *   hemstitch_searcher* searcher = NULL;
 *   hemstitch_search_results results;
 *   status = hemstitch_searcher_new(&options, &searcher);
 *   if (status == HEMSTITCH_OK) status = hemstitch_search_text(searcher, text, text_bytes, &results);
 *   ... results.texts[0].lines[i].text, for i below results.texts[0].line_count ...
 *   hemstitch_search_results_free(&results);
 *   hemstitch_searcher_free(searcher);
 *
 * Positions and sizes are in bytes; positions count from 0, lines from 1.
 *
 * Thread safety: any number of threads may use one searcher at once, except to free it. Calls that need its
 * device take turns. */
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
  HEMSTITCH_SEARCH_LINES = 0,  /* the selected lines and their number */
  HEMSTITCH_SEARCH_COUNT = 1,  /* the number of selected lines */
  HEMSTITCH_SEARCH_WHETHER = 2 /* whether any line is selected: the count is 0 or 1 */
} hemstitch_search_wanted;

/* The binary part of a text begins where grep's buffer with the first zero byte begins. */
typedef enum hemstitch_search_binary {
  /* selected lines in a binary part are counted and reported by in_binary, but not returned */
  HEMSTITCH_SEARCH_BINARY_TOLD = 0,
  HEMSTITCH_SEARCH_BINARY_AS_TEXT = 1, /* no binary part: zero bytes are like any other byte */
  HEMSTITCH_SEARCH_BINARY_NO_MATCH = 2 /* in a text with a binary part no line is selected */
} hemstitch_search_binary;

typedef struct hemstitch_search_options {
  size_t size;                 /* sizeof(hemstitch_search_options) */
  const char* const* patterns; /* at least one, up to 65,535 bytes each; an empty one matches in every line */
  const size_t* pattern_bytes; /* size of each pattern; NULL: each ends at its first zero byte */
  size_t pattern_count;
  int ignore_case;        /* 1: letters a-z match both cases */
  int whole_words;        /* 1: no letter, digit or underscore may be next to the match */
  int whole_lines;        /* 1: the match must be the whole line; overrides whole_words */
  int invert;             /* 1: select the lines without a match */
  uint64_t most_lines;    /* select at most this many lines of a text; 0: no limit */
  int32_t wanted;         /* a hemstitch_search_wanted */
  int32_t binary;         /* a hemstitch_search_binary */
  uint64_t before, after; /* context: lines returned before and after each selected line */
  int matches;            /* 1: also return where in the lines the matches are */
  int decompress;         /* 1: in texts that are compressed frames, search the content */
  /* NULL or "auto" is the processor, which searches as fast as it reads. "cuda" and "webgpu" are for texts
   * that are already on a device, or that are many. */
  const char* backend;
  const char* device; /* as hemstitch_compress_options::device */
  unsigned threads;   /* of the processor; 0: one per core */
  /* For searches and finds by the processor; NULL: none. A device searches all texts of a call at once. */
  hemstitch_check between_pieces;
  void* between_pieces_context; /* passed to `between_pieces` */
} hemstitch_search_options;

typedef struct hemstitch_search_match {
  uint64_t position; /* in the text or the line */
  uint32_t bytes;    /* length of the longest pattern that matches there */
} hemstitch_search_match;

typedef struct hemstitch_searched_line {
  uint64_t number;  /* counted from 1 */
  uint64_t byte;    /* position of the line's first byte in the text */
  const char* text; /* without the end-of-line byte; a zero byte follows, and the text may contain others */
  size_t text_bytes;
  int selected; /* 0: a context line */
  /* With hemstitch_search_options::matches: from left to right, without overlaps. */
  const hemstitch_search_match* matches;
  size_t match_count;
} hemstitch_searched_line;

typedef struct hemstitch_searched_text {
  uint64_t count; /* number of selected lines */
  const hemstitch_searched_line* lines;
  size_t line_count;
  int in_binary;     /* 1: a line in the binary part is selected; it is not returned */
  const char* error; /* for a file: why not all of it was searched; NULL: all of it was */
} hemstitch_searched_text;

/* The results of a search: one element per text, in their order. */
typedef struct hemstitch_search_results {
  const hemstitch_searched_text* texts;
  size_t text_count;
  const hemstitch_search_match* matches; /* of hemstitch_find_in_texts() */
  size_t match_count;
  void* owner; /* private to Hemstitch */
} hemstitch_search_results;

/* Frees the results and sets *results to zeros. `results` may be NULL or all zeros. */
HEMSTITCH_API void hemstitch_search_results_free(hemstitch_search_results* results);

typedef struct hemstitch_searcher hemstitch_searcher;

/* Returns HEMSTITCH_INVALID_OPTION, naming the option; or HEMSTITCH_UNKNOWN_BACKEND or
 * HEMSTITCH_DEVICE_UNAVAILABLE, saying why a device cannot be used. On success *searcher is set; free it with
 * hemstitch_searcher_free(). Patterns are copied. */
HEMSTITCH_API hemstitch_status hemstitch_searcher_new(const hemstitch_search_options* options,
                                                      hemstitch_searcher** searcher);
/* The same, on this device, whatever backend and device the options name. */
HEMSTITCH_API hemstitch_status hemstitch_searcher_new_on_webgpu(const hemstitch_search_options* options,
                                                                const hemstitch_webgpu_device* device,
                                                                hemstitch_searcher** searcher);
HEMSTITCH_API void hemstitch_searcher_free(hemstitch_searcher* searcher); /* NULL: does nothing */

/* Each of the calls below sets *results on success; free it with hemstitch_search_results_free(). */

/* Searches one text, on the calling thread and the processor. */
HEMSTITCH_API hemstitch_status hemstitch_search_text(const hemstitch_searcher* searcher, const void* text,
                                                     size_t text_bytes, hemstitch_search_results* results);

/* Searches `count` texts that lie one after the other: text i is offsets[i] up to offsets[i + 1]. There are
 * count + 1 offsets, which ascend from 0 to the end. */
HEMSTITCH_API hemstitch_status hemstitch_search_texts(const hemstitch_searcher* searcher, const void* texts,
                                                      const uint64_t* offsets, size_t count,
                                                      hemstitch_search_results* results);

/* Searches `count` files of any size, on the processor. If a file cannot be read or restored, its result has
 * the error and what was found before it; the call returns HEMSTITCH_OK. */
HEMSTITCH_API hemstitch_status hemstitch_search_files(const hemstitch_searcher* searcher,
                                                      const char* const* paths, size_t count,
                                                      hemstitch_search_results* results);

/* Finds every position at which a pattern matches, ascending, as results->matches. Positions count over all
 * texts together. Matches may overlap, but never continue into the next text. Options that select lines have
 * no effect here. An empty pattern matches nowhere. */
HEMSTITCH_API hemstitch_status hemstitch_find_in_texts(const hemstitch_searcher* searcher, const void* texts,
                                                       const uint64_t* offsets, size_t count,
                                                       hemstitch_search_results* results);

/* The same for texts in a WGPUBuffer on the searcher's WebGPU device, after all work that is queued there;
 * waits. The size of the buffer is a multiple of 16, and it has the usage COPY_SRC. Offsets are on the
 * host. */
HEMSTITCH_API hemstitch_status hemstitch_find_in_webgpu_texts(const hemstitch_searcher* searcher,
                                                              void* buffer, const uint64_t* offsets,
                                                              size_t count,
                                                              hemstitch_search_results* results);

/* ---- Texts on the device of the backend "cuda", without waiting: count first, then write ---- */

typedef struct hemstitch_cuda_texts {
  const void* d_bytes;       /* device, any alignment */
  uint64_t bytes;            /* of all texts together; below 2^48 */
  const uint64_t* d_offsets; /* device: count + 1 elements, ascending from 0 to `bytes` */
  uint64_t count;
} hemstitch_cuda_texts;

/* Temporary device memory for the two calls below. Both are steps of the stream, may be captured in a CUDA
 * graph, and allocate nothing. They make the searcher's device the calling thread's current one. They return
 * HEMSTITCH_INVALID_OPTION if the searcher has another backend, or if any pattern is empty. */
HEMSTITCH_API hemstitch_status hemstitch_search_temp_bytes(const hemstitch_searcher* searcher,
                                                           const hemstitch_cuda_texts* texts,
                                                           size_t* temp_bytes);
/* d_count  device: one element: the number of matches */
HEMSTITCH_API hemstitch_status hemstitch_search_count_async(const hemstitch_searcher* searcher,
                                                            const hemstitch_cuda_texts* texts,
                                                            uint64_t* d_count, void* d_temp,
                                                            size_t temp_bytes, struct CUstream_st* stream);
/* d_matches  device: `room` elements, position << 16 | bytes; matches 0 up to, not including, min(*d_count,
 * room) are written */
HEMSTITCH_API hemstitch_status hemstitch_search_write_async(const hemstitch_searcher* searcher,
                                                            const hemstitch_cuda_texts* texts,
                                                            uint64_t* d_matches, uint64_t room, void* d_temp,
                                                            size_t temp_bytes, struct CUstream_st* stream);

#ifdef __cplusplus
}
#endif

#endif /* HEMSTITCH_SEARCH_H */
