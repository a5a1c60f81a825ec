/* Hemstitch's pages for C: the functions of pages.hpp, with statuses instead of exceptions.
 * hemstitch_last_error_message() describes a failed call.
 *
 * Thread safety: any number of threads may use a store or a batch at once, except to create and free it.
 *
 * fork(): a store has a thread, which a child does not have. A child may free a store or a batch that its parent made,
 * at any moment: hemstitch_page_store_free() waits for nothing then, and gives the memory of the pages back. It may call
 * nothing else with it, but it may make stores and batches of its own. */
#ifndef HEMSTITCH_PAGES_H
#define HEMSTITCH_PAGES_H

#include <stddef.h>
#include <stdint.h>

#include "hemstitch/hemstitch.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hemstitch_page_kind {
  HEMSTITCH_PAGE_COMPRESSED = 1,
  HEMSTITCH_PAGE_RAW = 2,
  HEMSTITCH_PAGE_SAME_FILLED = 3
} hemstitch_page_kind;

/* The result for one page of a batch, and where the page is kept. */
typedef struct hemstitch_kept_page {
  uint64_t at;    /* offset in the batch's kept bytes */
  uint32_t bytes; /* kept size */
  int32_t kind;   /* a hemstitch_page_kind */
  hemstitch_status status;
} hemstitch_kept_page;

/* Zeros and NULLs are the defaults, and so is a NULL pointer to the options. */
typedef struct hemstitch_page_batch_options {
  size_t size;         /* sizeof(hemstitch_page_batch_options) */
  uint32_t page_bytes; /* a power of two from 4096 to 65536; 0: 4096 */
  int32_t level;       /* 1 to 12; 0: 1 */
  const char* backend; /* NULL: "auto" */
  const char* device;  /* as hemstitch_compress_options::device */
  uint32_t threads;    /* 0: one per core */
} hemstitch_page_batch_options;

/* What a batch did. Set `size` before passing it in. The fields are explained in pages.hpp. */
typedef struct hemstitch_page_batch_report {
  size_t size; /* sizeof(hemstitch_page_batch_report) */
  uint64_t pages, same_filled, compressed, raw, damaged;
  uint64_t kept_bytes;
  uint64_t fallback_pages;   /* pages on which a device failed and which the processor did */
  int32_t on_device;         /* 1: a device worked on the batch */
  int32_t rule_takes_device; /* 1: the rule of founding document 004 (2000 pages) would choose a device */
  double seconds, upload_seconds, kernel_seconds, download_seconds, cpu_seconds;
} hemstitch_page_batch_report;

typedef struct hemstitch_page_batch hemstitch_page_batch;

/* `options` may be NULL. On success *batch is set; free it with hemstitch_page_batch_free(). */
HEMSTITCH_API hemstitch_status hemstitch_page_batch_new(const hemstitch_page_batch_options* options,
                                                        hemstitch_page_batch** batch);
HEMSTITCH_API void hemstitch_page_batch_free(hemstitch_page_batch* batch); /* NULL: does nothing */

/* pages    count pointers to pages of the batch's size
 * kept     room for as many bytes as the pages have
 * entries  count elements, written
 * report   may be NULL */
HEMSTITCH_API hemstitch_status hemstitch_page_batch_compress(hemstitch_page_batch* batch,
                                                             const void* const* pages, size_t count,
                                                             void* kept, size_t kept_capacity,
                                                             hemstitch_kept_page* entries,
                                                             hemstitch_page_batch_report* report);
/* Also returns HEMSTITCH_OK if pages are damaged: see entries[i].status. */
HEMSTITCH_API hemstitch_status hemstitch_page_batch_restore(hemstitch_page_batch* batch, const void* kept,
                                                            size_t kept_bytes, hemstitch_kept_page* entries,
                                                            void* const* pages, size_t count,
                                                            hemstitch_page_batch_report* report);

/* Zeros and NULLs are the defaults, and so is a NULL pointer to the options. */
typedef struct hemstitch_page_store_options {
  size_t size;           /* sizeof(hemstitch_page_store_options) */
  uint64_t page_count;   /* page numbers are below it; 0: any number */
  uint64_t budget_bytes; /* limit of the store's memory, enough for a page at least; 0: none */
  int32_t checksums;     /* 1: each page has a checksum, verified when it is read */
  int32_t lock_memory;   /* 1: keep pages out of swap */
  int32_t prefault;      /* 1: take the whole budget from the system at once, in huge pages if possible */
  const hemstitch_page_batch_options* batch; /* how pages are compressed; NULL: the defaults */
} hemstitch_page_store_options;

/* What a store holds and has done. Set `size` before passing it in. The fields are explained in pages.hpp. */
typedef struct hemstitch_page_store_statistics {
  size_t size; /* sizeof(hemstitch_page_store_statistics) */
  uint64_t pages, same_filled, compressed, raw;
  uint64_t kept_bytes, slot_bytes, used_slot_bytes, bookkeeping_bytes, memory_bytes;
  uint64_t puts, gets, misses, discards, refused, moved_pages, failed_pages, fallback_pages;
} hemstitch_page_store_statistics;

typedef struct hemstitch_page_store hemstitch_page_store;

HEMSTITCH_API hemstitch_status hemstitch_page_store_new(const hemstitch_page_store_options* options,
                                                        hemstitch_page_store** store);
HEMSTITCH_API void hemstitch_page_store_free(hemstitch_page_store* store); /* NULL: does nothing */

HEMSTITCH_API hemstitch_status hemstitch_page_store_put(hemstitch_page_store* store, uint64_t number,
                                                        const void* page, size_t page_bytes);
/* *found is set to 1, or to 0 if there is no such page; then nothing is written. */
HEMSTITCH_API hemstitch_status hemstitch_page_store_get(hemstitch_page_store* store, uint64_t number,
                                                        void* page, size_t page_bytes, int32_t* found);
HEMSTITCH_API hemstitch_status hemstitch_page_store_discard(hemstitch_page_store* store, uint64_t number,
                                                            int32_t* found);
/* *discarded is set to the number of pages that there were; `discarded` may be NULL. */
HEMSTITCH_API hemstitch_status hemstitch_page_store_discard_range(hemstitch_page_store* store, uint64_t first,
                                                                  uint64_t count, uint64_t* discarded);
/* `count` pages, one after the other. statuses[i] is the status of page i, and the call returns an error only
 * if the call itself is wrong. `statuses` may be NULL: then the call returns the status of the first page
 * that failed. Getting a missing page fills it with zeros. */
HEMSTITCH_API hemstitch_status hemstitch_page_store_put_many(hemstitch_page_store* store,
                                                             const uint64_t* numbers, size_t count,
                                                             const void* pages, hemstitch_status* statuses);
HEMSTITCH_API hemstitch_status hemstitch_page_store_get_many(hemstitch_page_store* store,
                                                             const uint64_t* numbers, size_t count,
                                                             void* pages, hemstitch_status* statuses);
/* The same with pages in the memory of a CUDA device. The calls first wait for `stream`, a cudaStream_t or
 * NULL. See pages.hpp for the rest. */
struct CUstream_st;
HEMSTITCH_API hemstitch_status hemstitch_page_store_put_many_from_device(hemstitch_page_store* store,
                                                                         const uint64_t* numbers,
                                                                         size_t count, const void* d_pages,
                                                                         hemstitch_status* statuses,
                                                                         struct CUstream_st* stream);
HEMSTITCH_API hemstitch_status hemstitch_page_store_get_many_to_device(hemstitch_page_store* store,
                                                                       const uint64_t* numbers, size_t count,
                                                                       void* d_pages,
                                                                       hemstitch_status* statuses,
                                                                       struct CUstream_st* stream);
HEMSTITCH_API hemstitch_status
hemstitch_page_store_statistics_of(hemstitch_page_store* store, hemstitch_page_store_statistics* statistics);
HEMSTITCH_API hemstitch_status hemstitch_page_store_save(hemstitch_page_store* store, const char* path);
HEMSTITCH_API hemstitch_status hemstitch_page_store_load(hemstitch_page_store* store, const char* path);

#ifdef __cplusplus
}
#endif

#endif /* HEMSTITCH_PAGES_H */
