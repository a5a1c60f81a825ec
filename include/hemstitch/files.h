/* Files and devices, for C: what files.hpp says, with statuses in place of exceptions. Many files in one buffer, on the host and, where that is
 * asked for, on a device as well; and compressed files to memory of a CUDA device and back.
 *
 *   hemstitch_files files;
 *   if (hemstitch_load_files(paths, count, NULL, &files) != HEMSTITCH_OK) ...
 *   for (size_t i = 0; i < files.count; ++i)
 *     use(paths[files.indices[i]], (const char*)files.bytes + files.offsets[i], files.offsets[i + 1] - files.offsets[i]);
 *   hemstitch_files_free(&files);
 *
 * Thread safety: any number of threads may call these at once, and read what was loaded; a loader belongs to one thread at a time. */
#ifndef HEMSTITCH_FILES_H
#define HEMSTITCH_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "hemstitch/hemstitch.h"
#include "hemstitch/webgpu.h"

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st; /* what a cudaStream_t points to */

/* ---- Many files in one buffer ---- */

/* Zeros and NULLs, and no options at all, are the defaults. */
typedef struct hemstitch_load_options {
  size_t size;                 /* sizeof(hemstitch_load_options) */
  unsigned threads;            /* that read; 0: one a core */
  uint64_t memory_limit_bytes; /* of a batch's contents; 0: none */
  int oversize_alone;          /* 1: a file beyond the limit is a batch by itself, rather than skipped */
  int to_device;               /* 1: also to a CUDA device; the host's memory is pinned then */
  const char*
      device; /* which, as hemstitch_compress_options::device; NULL: the calling thread's current one */
  const hemstitch_webgpu_device* webgpu; /* also to buffers of this device; NULL: of none */
  /* Opens the file of paths[index] for reading, as open() does, -1 and errno included, from any thread; NULL: the path is opened, through
   * whatever links it leads. */
  int (*open_file)(void* context, size_t index);
  void* open_context; /* that it is given */
} hemstitch_load_options;

typedef enum hemstitch_skipped_why {
  HEMSTITCH_SKIPPED_UNREADABLE = 0,
  HEMSTITCH_SKIPPED_FOLDER = 1,
  HEMSTITCH_SKIPPED_NOT_REGULAR = 2,
  HEMSTITCH_SKIPPED_EMPTY = 3,
  HEMSTITCH_SKIPPED_CHANGED = 4, /* while it was read */
  HEMSTITCH_SKIPPED_TOO_LARGE = 5
} hemstitch_skipped_why;

typedef struct hemstitch_skipped_file {
  size_t index;       /* in the list of paths */
  int32_t why;        /* a hemstitch_skipped_why */
  const char* reason; /* "No such file or directory" */
} hemstitch_skipped_file;

/* The contents of files, one behind the other in the order of their paths; file i from offsets[i] to offsets[i + 1]. */
typedef struct hemstitch_files {
  size_t count;
  const void* bytes;
  const uint64_t* offsets; /* count + 1; the last is the size of `bytes` */
  const size_t* indices;   /* count: of each file in the list of paths */
  const hemstitch_skipped_file* skipped;
  size_t skipped_count;
  /* The same on the CUDA device; NULL without to_device, and where there is nothing. */
  const void* d_bytes;
  const uint64_t* d_offsets;
  /* WGPUBuffers, complete for all that is queued there later; NULL without a device: the bytes, then at least 16 zeros; the offsets as words of
   * 32 bits. They live as long as this, unless they are given a reference. */
  void* webgpu_bytes;
  void* webgpu_offsets;
  void* owner; /* Hemstitch's */
} hemstitch_files;

/* All files at once. HEMSTITCH_MEMORY_LIMIT where they are more than the limit together, HEMSTITCH_DEVICE_UNAVAILABLE where
 * to_device asks for what is not there. *files is set on success, to be freed. */
HEMSTITCH_API hemstitch_status hemstitch_load_files(const char* const* paths, size_t count,
                                                    const hemstitch_load_options* options,
                                                    hemstitch_files* files);
/* `files` may be NULL, or zeros; they are zeros afterwards. */
HEMSTITCH_API void hemstitch_files_free(hemstitch_files* files);

/* The same in batches of no more contents than the limit. */
typedef struct hemstitch_file_loader hemstitch_file_loader;

/* Paths are copied. *loader is set on success, to be freed. */
HEMSTITCH_API hemstitch_status hemstitch_file_loader_new(const char* const* paths, size_t count,
                                                         const hemstitch_load_options* options,
                                                         hemstitch_file_loader** loader);
/* The next batch, to be freed before or after the loader; *found is 1, or 0 where there is none any more and *files is zeros. */
HEMSTITCH_API hemstitch_status hemstitch_file_loader_next(hemstitch_file_loader* loader,
                                                          hemstitch_files* files, int* found);
HEMSTITCH_API void hemstitch_file_loader_free(hemstitch_file_loader* loader); /* NULL: nothing */

/* ---- Compressed files to the memory of a CUDA device and back ----
 *
 * Compressed bytes cross the bus; what they restore to is made on the device and never touches the host. In builds without CUDA,
 * and where there is no device, these return HEMSTITCH_DEVICE_UNAVAILABLE. They wait for the device, and leave the calling
 * thread's current device as it was. Messages of errors name the file, and where it is damaged. */

/* Zeros and NULLs, and no options at all, are the defaults. */
typedef struct hemstitch_frame_load_options {
  size_t size;        /* sizeof(hemstitch_frame_load_options) */
  const char* device; /* as hemstitch_compress_options::device; NULL: the calling thread's current one */
  unsigned threads;   /* that read; 0: one a core */
  int skip_checksums; /* 1: none is verified */
  int skip_content_checksum; /* 1: those of whole contents are not, which are serial: a few GB/s for a frame */
  struct CUstream_st*
      stream; /* a cudaStream_t, which outlives the content: see hemstitch_release_content() */
} hemstitch_frame_load_options;

/* What a file holds. */
typedef struct hemstitch_device_content {
  void* data; /* on the device; NULL where there is nothing */
  uint64_t bytes;
  int restored_on_device; /* 0: the processor restored it, and it was uploaded */
  void* owner;            /* Hemstitch's */
} hemstitch_device_content;

/* Restores all frames in a file, whoever wrote them; what a device cannot restore block by block (linked blocks, legacy frames) the
 * processor does. The content is complete when the call returns, for every stream. */
HEMSTITCH_API hemstitch_status hemstitch_load_frame(const char* path,
                                                    const hemstitch_frame_load_options* options,
                                                    hemstitch_device_content* content);

/* `count` files in one run, each to an element of `contents`: all of them, or none and the error of the first that cannot be loaded. */
HEMSTITCH_API hemstitch_status hemstitch_load_frames(const char* const* paths, size_t count,
                                                     const hemstitch_frame_load_options* options,
                                                     hemstitch_device_content* contents);

/* Gives the memory back, for use after the work that options.stream has been given so far. `content` may be NULL, or zeros; it
 * is zeros afterwards. */
HEMSTITCH_API void hemstitch_release_content(hemstitch_device_content* content);

/* Zeros and NULLs, and no options at all, are the defaults. */
typedef struct hemstitch_frame_save_options {
  size_t size;            /* sizeof(hemstitch_frame_save_options) */
  int level;              /* 1 to 12; 0 for the default */
  size_t block_bytes;     /* 64K, 256K, 1M or 4M; 0 for the default */
  int no_block_checksums; /* 1: blocks have none */
  unsigned threads;       /* that write; 0: one a core */
  struct CUstream_st*
      stream; /* a cudaStream_t: the content is what it is when the work given to it so far is over */
} hemstitch_frame_save_options;

/* Compresses content[0, content_bytes), memory of a CUDA device, into one frame. The file appears under its name when it is complete,
 * and replaces what had the name; after an error all is as it was.
 *   frame_bytes   set to the frame's size on success; may be NULL */
HEMSTITCH_API hemstitch_status hemstitch_save_frame(const void* content, uint64_t content_bytes,
                                                    const char* path,
                                                    const hemstitch_frame_save_options* options,
                                                    uint64_t* frame_bytes);

#ifdef __cplusplus
}
#endif

#endif /* HEMSTITCH_FILES_H */
