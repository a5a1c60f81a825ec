/* Chunks of arrays as Blosc and HDF5's filters store them, for C: the functions of arrays.hpp, with statuses instead of
 * exceptions. docs/arrays.md names what is read and what is not.
 *
 *   hemstitch_chunk_coding coding = {.size = sizeof coding, .container = HEMSTITCH_CHUNK_BLOSC};
 *   hemstitch_item items[2] = {
 *       {.input = a, .input_bytes = 4096, .output = content_a, .output_capacity = content_bytes},
 *       {.input = b, .input_bytes = 5000, .output = content_b, .output_capacity = content_bytes}};
 *   status = hemstitch_restore_chunks(&coding, items, 2);      // then items[i].status
 *
 * The processor does the work, with all threads: blocks of one chunk at once, as chunks.
 *
 * Thread safety: any number of threads may call these at once. */
#ifndef HEMSTITCH_ARRAYS_H
#define HEMSTITCH_ARRAYS_H

#include <stddef.h>
#include <stdint.h>

#include "hemstitch/hemstitch.h"
#include "hemstitch/memory.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hemstitch_chunk_container {
  HEMSTITCH_CHUNK_BLOSC = 1,           /* Blosc 1; to restore, Blosc 2 and its contiguous frames too */
  HEMSTITCH_CHUNK_HDF5_LZ4 = 2,        /* HDF5's filter 32004 */
  HEMSTITCH_CHUNK_HDF5_BITSHUFFLE = 3, /* HDF5's filter 32008 with LZ4 or Zstandard */
  HEMSTITCH_CHUNK_BARE = 4 /* none, to restore: a block of LZ4, a stream of zlib or a frame of Zstandard */
} hemstitch_chunk_container;

/* What content was rearranged by before it was compressed (compact.h). */
typedef enum hemstitch_chunk_filter {
  HEMSTITCH_CHUNK_NOT_FILTERED = 0,
  HEMSTITCH_CHUNK_SHUFFLED = 1,
  HEMSTITCH_CHUNK_BITSHUFFLED = 2
} hemstitch_chunk_filter;

/* Zeros are the defaults, and so is a NULL pointer to it. */
typedef struct hemstitch_chunk_coding {
  size_t size;                         /* sizeof(hemstitch_chunk_coding) */
  hemstitch_chunk_container container; /* 0: HEMSTITCH_CHUNK_BLOSC */
  /* Of the blocks: LZ4 (the default), zlib (Blosc and bare), Zstandard (all but HDF5's LZ4). To restore Blosc, its header counts. */
  hemstitch_format format;
  hemstitch_chunk_filter filter;  /* to compress to Blosc */
  uint32_t element_bytes;         /* Blosc: 1 to 255; bitshuffle: 1 to 256, to restore too; 0: 1 */
  uint32_t block_bytes;           /* to compress; 0: the container's default */
  int level;                      /* to compress: of the format; 0: its default */
  int acceleration;               /* of LZ4, as in hemstitch_compress_options */
  unsigned threads;               /* 0: one per core */
  hemstitch_check between_pieces; /* ends a call; NULL: none */
  void* between_pieces_context;
} hemstitch_chunk_coding;

/* Restores each item's chunk. output_capacity is exactly the content's size, else the item gets
 * HEMSTITCH_CONTENT_SIZE_MISMATCH. Damage is a status of its item alone; what is in an output then is
 * unspecified. Of an item `place` is not known. */
HEMSTITCH_API hemstitch_status hemstitch_restore_chunks(const hemstitch_chunk_coding* coding,
                                                        hemstitch_item* items, size_t count);

/* Compresses each item's input to a chunk that the container's own readers restore. Room of
 * hemstitch_chunk_bound() bytes is always enough. Not for HEMSTITCH_CHUNK_BARE. */
HEMSTITCH_API hemstitch_status hemstitch_compress_chunks(const hemstitch_chunk_coding* coding,
                                                         hemstitch_item* items, size_t count);

/* Sets *bytes to the most that a chunk with so much content has. Returns HEMSTITCH_INVALID_OPTION if it is more than
 * the container can hold. Not for HEMSTITCH_CHUNK_BARE. */
HEMSTITCH_API hemstitch_status hemstitch_chunk_bound(const hemstitch_chunk_coding* coding,
                                                     size_t content_bytes, size_t* bytes);

/* Sets *content_bytes to what a chunk says that it holds. Not for HEMSTITCH_CHUNK_BARE. Returns what is wrong with
 * the header. */
HEMSTITCH_API hemstitch_status hemstitch_chunk_content_bytes(const hemstitch_chunk_coding* coding,
                                                             const void* chunk, size_t chunk_bytes,
                                                             uint64_t* content_bytes);

/* A block of a chunk: bytes [begin, begin + bytes) of the chunk, which hold content [content_begin, content_begin +
 * content_bytes); stored 1: as it is, 0: in the chunk's format. */
typedef struct hemstitch_chunk_block {
  uint64_t begin, bytes, content_begin, content_bytes;
  int stored;
} hemstitch_chunk_block;

/* Where a chunk's blocks are, for those who restore them on a device (batch.h). Of the content in [filtered_begin,
 * filtered_end), each filter_block_bytes, counted from the beginning of the content, and what is left at the end, were
 * rearranged by themselves; the rest was not. */
typedef struct hemstitch_chunk_layout {
  size_t size; /* sizeof(hemstitch_chunk_layout) */
  hemstitch_format format;
  hemstitch_chunk_filter filter;
  uint32_t element_bytes;
  uint64_t content_bytes, filter_block_bytes, filtered_begin, filtered_end;
  uint64_t block_count;
} hemstitch_chunk_layout;

/* Sets *layout, and the first block_count of `blocks`, in the order of their content, which they fill without gaps. If
 * `capacity` is less than block_count, it returns HEMSTITCH_OUTPUT_TOO_SMALL and sets *layout alone. Not for
 * HEMSTITCH_CHUNK_BARE, nor for Blosc 2. What blocks hold is not looked at. */
HEMSTITCH_API hemstitch_status hemstitch_read_chunk_layout(const hemstitch_chunk_coding* coding,
                                                           const void* chunk, size_t chunk_bytes,
                                                           hemstitch_chunk_layout* layout,
                                                           hemstitch_chunk_block* blocks, uint64_t capacity);

/* Sets *checksum to that of HDF5's filter 3, fletcher32, which follows a chunk's bytes in 4 bytes, little-endian. HDF5
 * before 1.6.3 wrote the two bytes of each half in the other order, and readers take both. */
HEMSTITCH_API hemstitch_status hemstitch_hdf5_fletcher32(const void* data, size_t bytes, uint32_t* checksum);

#ifdef __cplusplus
}
#endif

#endif /* HEMSTITCH_ARRAYS_H */
