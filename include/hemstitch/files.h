/* Files and devices for C: the functions of files.hpp, with statuses instead of exceptions. First part: many
 * files in one buffer, on the host and, if asked, also on a device. Second part: compressed files to the
 * memory of a CUDA device and back.
 *
 *   hemstitch_files files;
 *   if (hemstitch_load_files(paths, count, NULL, &files) != HEMSTITCH_OK) ...
 *   for (size_t i = 0; i < files.count; ++i)
 *     use(paths[files.indices[i]], (const char*)files.bytes + files.offsets[i],
 *         files.offsets[i + 1] - files.offsets[i]);
 *   hemstitch_files_free(&files);
 *
 * Thread safety: any number of threads may call these at once, and read what was loaded. Only one thread at a
 * time may use a loader. */
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

/* Zeros and NULLs are the defaults, and so is a NULL pointer to the options. */
typedef struct hemstitch_load_options {
  size_t size;                 /* sizeof(hemstitch_load_options) */
  unsigned threads;            /* threads that read; 0: one per core */
  uint64_t memory_limit_bytes; /* limits the contents of a batch; 0: no limit */
  int oversize_alone;          /* 1: a file beyond the limit is a batch of its own; 0: it is skipped */
  int to_device;               /* 1: also load to a CUDA device; the host's memory is pinned then */
  /* which device, as hemstitch_compress_options::device; NULL: the calling thread's current one */
  const char* device;
  const hemstitch_webgpu_device* webgpu; /* also load to buffers of this device; NULL: no */
  /* Opens the file paths[index] for reading, as open() does; on failure it returns -1 and sets errno. Called
   * from any thread. NULL: the path is opened, and links are followed. */
  int (*open_file)(void* context, size_t index);
  void* open_context; /* passed to open_file */
} hemstitch_load_options;

typedef enum hemstitch_skipped_why {
  HEMSTITCH_SKIPPED_UNREADABLE = 0,
  HEMSTITCH_SKIPPED_FOLDER = 1,
  HEMSTITCH_SKIPPED_NOT_REGULAR = 2,
  HEMSTITCH_SKIPPED_EMPTY = 3,
  HEMSTITCH_SKIPPED_CHANGED = 4, /* while it was being read */
  HEMSTITCH_SKIPPED_TOO_LARGE = 5
} hemstitch_skipped_why;

typedef struct hemstitch_skipped_file {
  size_t index;       /* in the list of paths */
  int32_t why;        /* a hemstitch_skipped_why */
  const char* reason; /* "No such file or directory" */
} hemstitch_skipped_file;

/* The contents of files, one after the other in the order of their paths; file i is bytes[offsets[i]] up to
 * bytes[offsets[i + 1]]. */
typedef struct hemstitch_files {
  size_t count;
  const void* bytes;
  const uint64_t* offsets; /* count + 1 elements; the last is the size of `bytes` */
  const size_t* indices;   /* count elements: the place of each file in the list of paths */
  const hemstitch_skipped_file* skipped;
  size_t skipped_count;
  /* The same on the CUDA device. NULL without to_device, and if there are no bytes. */
  const void* d_bytes;
  const uint64_t* d_offsets;
  /* The same as WGPUBuffers, or NULL without a WebGPU device. They are complete for all work that is queued
   * there later. The bytes are followed by at least 16 zeros; the offsets are 32-bit words. The buffers live
   * as long as this structure's contents, unless you add a reference. */
  void* webgpu_bytes;
  void* webgpu_offsets;
  void* owner; /* private to Hemstitch */
} hemstitch_files;

/* Loads all files at once. Returns HEMSTITCH_MEMORY_LIMIT if they exceed the limit together,
 * HEMSTITCH_DEVICE_UNAVAILABLE if to_device is set and there is no device. On success *files is set; free it
 * with hemstitch_files_free(). */
HEMSTITCH_API hemstitch_status hemstitch_load_files(const char* const* paths, size_t count,
                                                    const hemstitch_load_options* options,
                                                    hemstitch_files* files);
/* Frees the contents and sets *files to zeros. `files` may be NULL or all zeros. */
HEMSTITCH_API void hemstitch_files_free(hemstitch_files* files);

/* The same in batches; the contents of a batch stay within the limit. */
typedef struct hemstitch_file_loader hemstitch_file_loader;

/* Paths are copied. On success *loader is set; free it with hemstitch_file_loader_free(). */
HEMSTITCH_API hemstitch_status hemstitch_file_loader_new(const char* const* paths, size_t count,
                                                         const hemstitch_load_options* options,
                                                         hemstitch_file_loader** loader);
/* Loads the next batch. Free it with hemstitch_files_free(), before or after the loader. *found is set to 1;
 * or, if there is no further batch, to 0, and *files to zeros. */
HEMSTITCH_API hemstitch_status hemstitch_file_loader_next(hemstitch_file_loader* loader,
                                                          hemstitch_files* files, int* found);
HEMSTITCH_API void hemstitch_file_loader_free(hemstitch_file_loader* loader); /* NULL: does nothing */

/* ---- Compressed files to the memory of a CUDA device and back ----
 *
 * Compressed bytes cross the bus. They are restored on the device, and the content never touches the host. In
 * builds without CUDA, and if there is no device, these functions return HEMSTITCH_DEVICE_UNAVAILABLE. They
 * wait for the device, and do not change the calling thread's current device. Error messages name the file
 * and, if it is damaged, the place. */

/* Zeros and NULLs are the defaults, and so is a NULL pointer to the options. */
typedef struct hemstitch_frame_load_options {
  size_t size;        /* sizeof(hemstitch_frame_load_options) */
  const char* device; /* as hemstitch_compress_options::device; NULL: the calling thread's current one */
  unsigned threads;   /* threads that read; 0: one per core */
  int skip_checksums; /* 1: verify no checksum */
  /* 1: do not verify checksums of whole contents, which are serial: a few GB/s per frame */
  int skip_content_checksum;
  /* a cudaStream_t, which must outlive the content: see hemstitch_release_content() */
  struct CUstream_st* stream;
} hemstitch_frame_load_options;

/* The content of a file. */
typedef struct hemstitch_device_content {
  void* data; /* device address; NULL if the content is empty */
  uint64_t bytes;
  int restored_on_device; /* 0: the processor restored it, and it was uploaded */
  void* owner;            /* private to Hemstitch */
} hemstitch_device_content;

/* Restores all frames in a file, from any writer. The processor restores what a device cannot restore block
 * by block (linked blocks, legacy frames). The content is complete for every stream when the call returns. */
HEMSTITCH_API hemstitch_status hemstitch_load_frame(const char* path,
                                                    const hemstitch_frame_load_options* options,
                                                    hemstitch_device_content* content);

/* Loads `count` files in one run, each to an element of `contents`. Returns all of them, or none and the
 * error of the first file that cannot be loaded. */
HEMSTITCH_API hemstitch_status hemstitch_load_frames(const char* const* paths, size_t count,
                                                     const hemstitch_frame_load_options* options,
                                                     hemstitch_device_content* contents);

/* Releases the memory. It is reused only after the work given to options.stream so far. Sets *content to
 * zeros. `content` may be NULL or all zeros. */
HEMSTITCH_API void hemstitch_release_content(hemstitch_device_content* content);

/* Zeros and NULLs are the defaults, and so is a NULL pointer to the options. */
typedef struct hemstitch_frame_save_options {
  size_t size;            /* sizeof(hemstitch_frame_save_options) */
  int level;              /* 1 to 12, of Zstandard -7 to 22; 0: the default */
  size_t block_bytes;     /* 64K, 256K, 1M or 4M; of Zstandard 64K to 16M; 0: the default */
  int no_block_checksums; /* 1: blocks have no checksums */
  unsigned threads;       /* threads that write; 0: one per core */
  /* a cudaStream_t: the content is read after the work given to this stream so far */
  struct CUstream_st* stream;
  hemstitch_format
      format; /* HEMSTITCH_FORMAT_LZ4, the default, or _ZSTD: a file of many frames, with a seek table */
} hemstitch_frame_save_options;

/* Compresses content[0, content_bytes), memory of a CUDA device, into one frame, or Zstandard's many. The file gets its name when
 * it is complete, and replaces a file of that name. After an error everything is as before.
 *   frame_bytes   set to the frame's size on success; may be NULL */
HEMSTITCH_API hemstitch_status hemstitch_save_frame(const void* content, uint64_t content_bytes,
                                                    const char* path,
                                                    const hemstitch_frame_save_options* options,
                                                    uint64_t* frame_bytes);

#ifdef __cplusplus
}
#endif

#endif /* HEMSTITCH_FILES_H */
