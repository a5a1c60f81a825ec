// A debug buffer for kernels that survives a launch which fails.
//
// After an illegal or misaligned access the context is gone, and with it everything in device memory: what a kernel
// had done by then cannot be read any more. This buffer is host memory that is mapped into the device, so it can. A
// kernel leaves marks at points of interest; the host reads them after the failure, and the last one says how far the
// kernel came. `check()` adds it to the error's text by itself.
//
//   word 0          slots taken: an atomic counter in system scope
//   words 4 to 7    slot 0: marker, value, block (blockIdx.x), thread (threadIdx.x)
//   words 8 to 11   slot 1, and so on; marks past the last slot are counted and not kept
//
// In a kernel:   trace_mark(3, position);          // marker 3 of your own numbering, not 0; any 32-bit value
//
// The kernels that do the most leave marks of their own, numbered from 1001 (TraceMarker), one for each piece of work: so
// the last one says which piece a kernel died in, and marks put beside it say where in that piece.
//
// Marks are compiled to nothing unless HEMSTITCH_KERNEL_TRACE is defined (CMake option of that name). A mark costs an
// atomic over the bus, a microsecond or so: for a handful of blocks and few marks, never for speed measurements.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hemstitch::cuda {

struct TraceRecord {
  std::uint32_t marker;
  std::uint32_t value;
  std::uint32_t block;
  std::uint32_t thread;
};

// Made by one thread of a warp or thread block when it begins with ...
enum TraceMarker : std::uint32_t {
  kTraceBuildChains =
      1001,  // hash_chain.build, near_three.build: a segment; the value is its number in the batch
  kTraceFindTile =
      1003,  // find_tiles and near_three.walk: a tile; its position in the segment, or in the run of segments
  kTraceExtendTile = 1004,  // find_tiles: the true lengths of a tile that has capped matches; as above
  kTraceSolveSegments =
      1005,  // optimal.solve_segments, deflate.solve_chunks: a warp's segments; the number of that group
  kTraceWalkChunk = 1006,     // parse.walk: a chunk; its position in the block
  kTraceCompressPage = 1007,  // lz4.compress_small and lz4.compress_pages: a page; its number in the batch
  kTraceCompressSegment =
      1008,  // lz4.list_tiles: a warp's segment, each time it is gone over; its position in the block
  kTraceWriteSegment = 1009,  // lz4.write_tiles: the bytes of a segment; as above
  kTraceEncodeTile =
      1010,  // lz4.encode_to_outputs and its like: a tile; the number of its first sequence in the list
  kTraceRestoreChunk = 1011,  // lz4_restore.*: a chunk; its number in the batch
  kTraceRestoreWindow =
      1012,  // lz4_restore.blocks, .few_blocks and .block_chain: a window; its first byte in the LZ4 block
  kTraceFillPage = 1013,      // lz4.fill_pages: a page; its number in the batch
  kTraceChecksumSpan = 1014,  // lz4.checksum_spans: a span; its number
  kTraceSearchTile = 1015,    // search.tiles: a tile; its number
  kTraceCopyShare = 1016,     // gather.copy and scatter.copy: a share; the number of its first piece
  kTraceScanGroup =
      1017,  // brute_force and lazy_scan: neighbouring positions; the group's number in the batch
  kTraceListEdges = 1018,  // deflate.list_edges: neighbouring positions; the first one's in the chunk
  kTraceCountTokens =
      1019,  // deflate.count_tokens: a tile of sequences; the number of its first one in the chunk
  kTraceCodeChunk = 1020,  // deflate.code_parts and .measure_spans: a block that is tried; its number
  kTracePackTile = 1021,   // deflate.pack_chunks: a tile of tokens; the number of its first one in the chunk
  kTraceDeflateChecksum = 1022,  // deflate.crc32_spans and .adler32_spans: a span; its number
  kTraceRestoreStream = 1023,    // deflate_restore.*: a stream; its number in the batch
  kTraceShuffleBuffer = 1024,    // shuffle.move_tiles: a run of one buffer's tiles; the buffer's number
  kTraceFindStarts =
      1025,  // deflate_stream.find_candidates: 256 words of a piece, and more a stride away; the number of the first
  kTraceCheckStart = 1026,    // deflate_stream.check_candidates: a candidate; its number
  kTraceRestoreEntry = 1027,  // deflate_stream.restore_entries: an entry; its number
  kTracePlaceChunk = 1028,    // deflate_stream.place_chunks: a chunk; its number
  kTraceMapGroup =
      1029,  // deflate_stream.compose_maps and .write_tails: a group of chunks; the number of its first one
  kTraceResolvePage = 1030,   // deflate_stream.resolve_pages: a page; the number of its first part
  kTraceCopyFewBytes = 1031,  // deflate_stream.copy_few_bytes: 256 bytes; the first one's place
  kTraceCutBlock = 1032,      // deflate.cut_chunks: a block of the batch; its number
  kTraceOpenStream = 1033,    // batch.open_streams: a stream; its number in the batch
  kTraceJudgeStream = 1034,   // batch.judge_streams: likewise
};

inline constexpr std::uint32_t kTraceHeaderWords = 4;
inline constexpr std::uint32_t kTraceSlotWords = 4;

// What a kernel sees of it.
struct TraceBuffer {
  std::uint32_t* d_words = nullptr;  // nullptr: nobody listens
  std::uint32_t slot_count = 0;
};

// The host's end, of one device. While it lives, and no newer one is made, it is that device's trace.
class KernelTrace {
 public:
  // Makes the buffer and tells the device's copy of every source file that marks about it; the device becomes the calling
  // thread's current one. Throws Error.
  KernelTrace(int device, std::uint32_t slot_count);
  ~KernelTrace();
  KernelTrace(const KernelTrace&) = delete;
  KernelTrace& operator=(const KernelTrace&) = delete;

  // The marks, in the order in which they took their slots. Valid at any time, after a failed launch as well.
  std::vector<TraceRecord> records() const;
  // Marks that were made, kept or not.
  std::uint32_t mark_count() const;

  // The newest mark of each trace that lives as the end of an error's text; empty where there is none.
  static std::string last_record_text();

 private:
  int device_;
  std::uint32_t* words_ = nullptr;
  std::uint32_t slot_count_;
};

// Each source file with marks has a device variable of its own that holds the buffer; this makes them known.
class TraceSymbol {
 public:
  explicit TraceSymbol(const void* symbol);
};

#if defined(__CUDACC__) && defined(HEMSTITCH_KERNEL_TRACE)

static __device__ TraceBuffer trace_buffer;
static const TraceSymbol trace_symbol(&trace_buffer);

__device__ inline void trace_mark(std::uint32_t marker, std::uint32_t value) {
  const TraceBuffer buffer = trace_buffer;
  if (buffer.d_words == nullptr) return;
  const std::uint32_t slot = atomicAdd_system(buffer.d_words, 1u);
  if (slot >= buffer.slot_count) return;
  volatile std::uint32_t* words = buffer.d_words + kTraceHeaderWords + slot * kTraceSlotWords;
  words[1] = value;
  words[2] = blockIdx.x;
  words[3] = threadIdx.x;
  // The marker says that the slot is complete, so it goes last; and all of it must have left the device before the
  // kernel takes another step, which may be the one that kills it.
  __threadfence_system();
  words[0] = marker;
  __threadfence_system();
}

#elif defined(__CUDACC__)

__device__ inline void trace_mark(std::uint32_t, std::uint32_t) {}

#endif

}  // namespace hemstitch::cuda
