/* Which backend a run should use, for C: the functions of choice.hpp, with statuses instead of exceptions.
 * They are the rule behind "auto", as functions of plain facts and figures. They start nothing, read nothing
 * and know no machine: the caller says what there is.
 *
 * Rates are in GB/s, 10^9 bytes per second; times are in seconds. Thread safety: all functions are pure. */
#ifndef HEMSTITCH_CHOICE_H
#define HEMSTITCH_CHOICE_H

#include <stddef.h>
#include <stdint.h>

#include "hemstitch/hemstitch.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hemstitch_direction {
  HEMSTITCH_DIRECTION_COMPRESS = 0,
  HEMSTITCH_DIRECTION_RESTORE = 1
} hemstitch_direction;

/* Where data is, or goes. */
typedef enum hemstitch_data_place {
  HEMSTITCH_DATA_IN_MEMORY = 0,
  HEMSTITCH_DATA_IN_FILE = 1,
  HEMSTITCH_DATA_ON_DEVICE = 2,
  HEMSTITCH_DATA_NOWHERE = 3 /* the data is examined and dropped */
} hemstitch_data_place;

/* The work to do. */
typedef struct hemstitch_workload {
  size_t size;               /* sizeof(hemstitch_workload) */
  int32_t direction;         /* a hemstitch_direction */
  hemstitch_format format;   /* DEFAULT: any format */
  int level;                 /* one of the format's, when compressing; 0: 1 */
  uint64_t content_bytes;    /* uncompressed size; 0: not known */
  uint64_t compressed_bytes; /* when restoring: compressed size; 0: not known */
  int linked_blocks;         /* 1: linked blocks, which a device restores one after the other */
  int32_t from, to;          /* hemstitch_data_place */
  unsigned threads;          /* 0: one per core */
  int pages;                 /* 1: one call of a page batch, in a process that runs already */
} hemstitch_workload;

typedef enum hemstitch_backend_kind {
  HEMSTITCH_BACKEND_PROCESSOR = 0,
  HEMSTITCH_BACKEND_DEVICE = 1,
  HEMSTITCH_BACKEND_SOFTWARE = 2 /* a device whose driver runs on the processor: for tests, never chosen */
} hemstitch_backend_kind;

/* A backend and its device. A fact of 0 is unknown: the model then assumes the fact of the device that the
 * default figures were measured on. */
typedef struct hemstitch_backend_facts {
  size_t size;         /* sizeof(hemstitch_backend_facts) */
  const char* backend; /* its name */
  int32_t kind;        /* a hemstitch_backend_kind */
  const char* device;  /* the name its driver gives; NULL for the processor */
  unsigned units;      /* cores, or multiprocessors */
  double memory_gbps;  /* bandwidth of the device's memory */
  double bus_gbps;     /* to and from the device, pinned memory, one way */
  int is_started;      /* 1: this process has started it already: starting costs nothing */
} hemstitch_backend_facts;

/* What a backend achieves: the terms of the model. */
typedef struct hemstitch_backend_figures {
  size_t size;          /* sizeof(hemstitch_backend_figures) */
  double start_seconds; /* until the first batch can be uploaded */
  double pin_seconds;   /* per GB of memory that is pinned, before its first use */
  double pinned_bytes;  /* the most that a long run pins */
  /* kernel rate at levels 1, 3, 6, 9 and 12, GB/s of content; levels between them are interpolated
   * geometrically */
  double compress[5];
  double restore;  /* kernel rate, GB/s of content */
  double bus_gbps; /* up, and down; 0: the rates above include the transfers */
  double overlap;  /* 0 to 1: the part of the shorter stages that overlaps with the longest one */
} hemstitch_backend_figures;

/* The host's rates, which are the same for all backends. */
typedef struct hemstitch_host_figures {
  size_t size;             /* sizeof(hemstitch_host_figures) */
  double read_gbps;        /* reading a file in the page cache */
  double write_gbps;       /* writing a new file */
  double copy_gbps;        /* memory to memory, by all threads */
  double to_device_gbps;   /* upload from memory that is not pinned */
  double from_device_gbps; /* download to such memory */
} hemstitch_host_figures;

/* The predicted duration of a run, stage by stage. */
typedef struct hemstitch_stage_seconds {
  size_t size; /* sizeof(hemstitch_stage_seconds) */
  double start, read, upload, kernel, download, write;
  double total;
  const char* longest; /* name of the longest stage, for which the run waits; valid as long as the library */
} hemstitch_stage_seconds;

/* Gives the measured figures, scaled by the facts for other devices. Set figures->size before. *known is set
 * to 1, or to 0 for a backend that is not in the table. To have that one chosen, measure it and pass its
 * figures. */
HEMSTITCH_API hemstitch_status hemstitch_default_figures(const hemstitch_backend_facts* facts,
                                                         hemstitch_format format,
                                                         hemstitch_backend_figures* figures, int* known);
/* Set figures->size before. */
HEMSTITCH_API hemstitch_status hemstitch_default_host_figures(unsigned cores,
                                                              hemstitch_host_figures* figures);

/* Set seconds->size before. *known is set to 1, or to 0 if the size of the work is not known. */
HEMSTITCH_API hemstitch_status hemstitch_predict(const hemstitch_backend_facts* facts,
                                                 const hemstitch_backend_figures* figures,
                                                 const hemstitch_host_figures* host,
                                                 const hemstitch_workload* work,
                                                 hemstitch_stage_seconds* seconds, int* known);

typedef struct hemstitch_backend_candidate {
  const hemstitch_backend_facts* facts;
  const hemstitch_backend_figures* figures; /* NULL: not measured, and never chosen */
} hemstitch_backend_candidate;

/* Sets *chosen to the index of a candidate: the first processor; or, if a device is predicted to save a tenth
 * of its time, the fastest device. If the size is not known, it is the processor. Returns
 * HEMSTITCH_INVALID_OPTION if no candidate is a processor.
 *   reason  room of reason_capacity bytes for a sentence with its final zero byte; a longer sentence is cut
 *           off. NULL, with a capacity of 0: no reason is wanted */
HEMSTITCH_API hemstitch_status hemstitch_select_backend(const hemstitch_backend_candidate* candidates,
                                                        size_t count, const hemstitch_host_figures* host,
                                                        const hemstitch_workload* work, size_t* chosen,
                                                        char* reason, size_t reason_capacity);

/* Sets *least_bytes to the least content size from which hemstitch_select_backend() chooses `backend` for
 * such work, or to UINT64_MAX if it never does. Sizes in `work` are ignored. */
HEMSTITCH_API hemstitch_status hemstitch_least_content_bytes(const char* backend,
                                                             const hemstitch_backend_candidate* candidates,
                                                             size_t count, const hemstitch_host_figures* host,
                                                             const hemstitch_workload* work,
                                                             uint64_t* least_bytes);

#ifdef __cplusplus
}
#endif

#endif /* HEMSTITCH_CHOICE_H */
