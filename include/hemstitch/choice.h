/* Which backend a run should take, for C: what choice.hpp says, with statuses in place of exceptions. The rule behind "auto", as functions of
 * plain facts and figures: they start nothing, read nothing and know no machine.
 *
 * Rates are GB/s, 10^9 bytes a second; times are seconds. Thread safety: all functions are pure. */
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

/* Where data stands, or goes. */
typedef enum hemstitch_data_place {
  HEMSTITCH_DATA_IN_MEMORY = 0,
  HEMSTITCH_DATA_IN_FILE = 1,
  HEMSTITCH_DATA_ON_DEVICE = 2,
  HEMSTITCH_DATA_NOWHERE = 3 /* it is looked at and dropped */
} hemstitch_data_place;

/* What is to be done. */
typedef struct hemstitch_workload {
  size_t size;               /* sizeof(hemstitch_workload) */
  int32_t direction;         /* a hemstitch_direction */
  hemstitch_format format;   /* DEFAULT: whichever comes */
  int level;                 /* 1 to 12, of compressing; 0: 1 */
  uint64_t content_bytes;    /* uncompressed; 0: not known */
  uint64_t compressed_bytes; /* of what is restored; 0: not known */
  int linked_blocks;         /* 1: a device restores those one after the other */
  int32_t from, to;          /* hemstitch_data_place */
  unsigned threads;          /* 0: one a core */
} hemstitch_workload;

typedef enum hemstitch_backend_kind {
  HEMSTITCH_BACKEND_PROCESSOR = 0,
  HEMSTITCH_BACKEND_DEVICE = 1,
  HEMSTITCH_BACKEND_SOFTWARE = 2 /* a device's driver that runs on the processor: for tests, never chosen */
} hemstitch_backend_kind;

/* A backend and its device. What is not known of the device, 0, counts as that of the one that the default figures are from. */
typedef struct hemstitch_backend_facts {
  size_t size;         /* sizeof(hemstitch_backend_facts) */
  const char* backend; /* its name */
  int32_t kind;        /* a hemstitch_backend_kind */
  const char* device;  /* as its driver calls it; NULL for the processor */
  unsigned units;      /* cores, or multiprocessors */
  double memory_gbps;  /* of the device's memory */
  double bus_gbps;     /* to and from the device, pinned, one way */
  int is_started;      /* 1: by this process: its start costs nothing any more */
} hemstitch_backend_facts;

/* What a backend does: the terms of the model. */
typedef struct hemstitch_backend_figures {
  size_t size;          /* sizeof(hemstitch_backend_figures) */
  double start_seconds; /* until the first batch can go up */
  double pin_seconds;   /* for each GB that is pinned, before it is used first */
  double pinned_bytes;  /* as much as a long run pins */
  double
      compress[5]; /* kernel, GB/s of content, at levels 1, 3, 6, 9 and 12; those between are reckoned with */
  double restore;  /* the same */
  double bus_gbps; /* up, and down; 0: the way from and to memory is in the rates above */
  double overlap;  /* 0 to 1: how much of the shorter stages hides behind the longest one */
} hemstitch_backend_figures;

/* What the host gives to all backends. */
typedef struct hemstitch_host_figures {
  size_t size;             /* sizeof(hemstitch_host_figures) */
  double read_gbps;        /* a file in the page cache */
  double write_gbps;       /* a new file */
  double copy_gbps;        /* memory to memory, by all threads */
  double to_device_gbps;   /* from memory that is not pinned */
  double from_device_gbps; /* to such memory */
} hemstitch_host_figures;

/* What a run is predicted to take, stage by stage. */
typedef struct hemstitch_stage_seconds {
  size_t size; /* sizeof(hemstitch_stage_seconds) */
  double start, read, upload, kernel, download, write;
  double total;
  const char* longest; /* the stage that the run waits for; stays as long as the library */
} hemstitch_stage_seconds;

/* Figures of what was measured, for other devices scaled by their facts. *known is 1, or 0 where no table speaks of such a backend, which is
 * not chosen then unless it was measured. Set figures->size. */
HEMSTITCH_API hemstitch_status hemstitch_default_figures(const hemstitch_backend_facts* facts,
                                                         hemstitch_format format,
                                                         hemstitch_backend_figures* figures, int* known);
/* Set figures->size. */
HEMSTITCH_API hemstitch_status hemstitch_default_host_figures(unsigned cores,
                                                              hemstitch_host_figures* figures);

/* Set seconds->size. *known is 1, or 0 where the size of the work is not known. */
HEMSTITCH_API hemstitch_status hemstitch_predict(const hemstitch_backend_facts* facts,
                                                 const hemstitch_backend_figures* figures,
                                                 const hemstitch_host_figures* host,
                                                 const hemstitch_workload* work,
                                                 hemstitch_stage_seconds* seconds, int* known);

typedef struct hemstitch_backend_candidate {
  const hemstitch_backend_facts* facts;
  const hemstitch_backend_figures* figures; /* NULL: it was not measured, and is not chosen */
} hemstitch_backend_candidate;

/* *chosen is the number of a candidate: the first processor, unless a device is predicted to save a tenth of its time; then the fastest device.
 * Where the size is not known it is the processor. HEMSTITCH_INVALID_OPTION where no candidate is a processor.
 *   reason  room for a sentence of reason_capacity bytes with its zero, cut off where it is longer; NULL, with 0: none is wanted */
HEMSTITCH_API hemstitch_status hemstitch_select_backend(const hemstitch_backend_candidate* candidates,
                                                        size_t count, const hemstitch_host_figures* host,
                                                        const hemstitch_workload* work, size_t* chosen,
                                                        char* reason, size_t reason_capacity);

/* From how much content on hemstitch_select_backend() takes `backend` for such work, whatever sizes that names; UINT64_MAX where it never does. */
HEMSTITCH_API hemstitch_status hemstitch_least_content_bytes(const char* backend,
                                                             const hemstitch_backend_candidate* candidates,
                                                             size_t count, const hemstitch_host_figures* host,
                                                             const hemstitch_workload* work,
                                                             uint64_t* least_bytes);

#ifdef __cplusplus
}
#endif

#endif /* HEMSTITCH_CHOICE_H */
