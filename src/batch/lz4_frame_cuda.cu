// Whole LZ4 frames in device memory, written and read without the host looking at them. The format's headers are tiny
// kernels around the stages:
//
//   writing                                      reading
//     split_content   blocks of the content        clear_blocks     marks all as absent
//     compress span   with 4 bytes of room before  walk_frame       from block to block (lz4_frame_walk.hpp)
//                     each block, 4 behind it      restore          sizes alone
//     write_headers   header, sizes, end mark      count_sizes      and their sum: places
//     checksum        of every block               place_outputs
//     write_checksums                              gather           stored blocks
//     end_frame       size and status              restore          to their places
//                                                  checksum
//                                                  judge_frame      the first failure, or the size
//
// Linked blocks differ only in the second restore, which takes one after the other. Sizes do not depend on any content, so they are
// found all at once, as if every block but the first had all the history that an offset can reach. How much it really has is known,
// and checked, when the blocks are restored.
//
// Thread mapping: one thread a block of the frame; walk_frame is one thread, judge_frame and end_frame one block of
// threads. Shared memory: 8 bytes in judge_frame. Scratch: what the stages need, and 60 bytes a block
// (writing), 88 (reading).
//
// The frame has the bytes that the `reference` engine writes. Input is read as hostile: every size is checked against what is left
// before it is used.
#include <array>

#include "batch/batch_layout.hpp"
#include "batch/lz4_batch_device.hpp"
#include "compact/gather/gather_cuda.hpp"
#include "compact/scan/scan_cuda.hpp"
#include "format/lz4/compress/lz4_compress_cuda.hpp"
#include "format/lz4/frame/lz4_checksum_cuda.hpp"
#include "format/lz4/frame/lz4_frame.hpp"
#include "format/lz4/frame/lz4_frame_layout.hpp"
#include "format/lz4/frame/lz4_frame_walk.hpp"
#include "format/lz4/restore/lz4_restore_cuda.hpp"
#include "gpu/cuda/launch.hpp"

namespace hemstitch {
namespace {

using cuda::Carver;
using cuda::check_scratch;
using cuda::launch;

static_assert(kWalkHeaderBytes == kBlockHeaderBytes && kWalkChecksumBytes == kBlockChecksumBytes &&
              kWalkStoredBit == kStoredBlockBit && kWalkStoredBit == cuda::kStoredBit);

constexpr unsigned kThreads = 256;
constexpr std::uint32_t kFrameHistoryBytes = 65536;

unsigned grid_for(std::uint32_t count) { return count / kThreads + (count % kThreads != 0); }

__device__ std::uint32_t thread_index() { return blockIdx.x * kThreads + threadIdx.x; }

// ---- Writing ----

// What a frame's header is, in a form that travels with a launch.
struct HeaderBytes {
  std::array<std::byte, kMaxFrameHeaderBytes> bytes;
  std::uint32_t count;
};

HeaderBytes header_of(const hemstitch_lz4_frame& frame, std::uint64_t content_bytes) {
  FrameHeader header;
  if (frame.linked_blocks != 0) header.block_kind = BlockKind::kLinked;
  header.block_checksums = frame.block_checksums != 0;
  header.block_bytes = frame.block_bytes;
  header.content_bytes = content_bytes;
  const std::vector<std::byte> written = write_lz4_frame_header(header);
  HeaderBytes bytes{{}, static_cast<std::uint32_t>(written.size())};
  std::copy(written.begin(), written.end(), bytes.bytes.begin());
  return bytes;
}

struct ContentBlocks {
  const std::byte* d_content;
  FrameLayout layout;
  std::uint32_t count;
  bool linked;
};

__global__ void __launch_bounds__(kThreads)
    split_content(const ContentBlocks content, DeviceBlock* d_blocks) {
  const std::uint32_t i = thread_index();
  if (i >= content.count) return;
  const FrameLayout::Block block = content.layout.block(i);
  // A last byte in a block of its own is stored, whatever precedes it.
  const bool linked = content.linked && block.at < content.layout.body_bytes();
  d_blocks[i] = {content.d_content + block.at, static_cast<std::uint32_t>(block.bytes),
                 linked ? static_cast<std::uint32_t>(min(std::uint64_t{kFrameHistoryBytes}, block.at)) : 0,
                 block.at};
}

// A frame on its way out. The span of blocks begins behind the header.
struct WrittenFrame {
  std::byte* d_output;
  std::uint64_t capacity;
  const std::uint64_t* d_offsets;  // count + 1, from the span's first byte
  const std::uint32_t* d_sizes;
  hemstitch_status* d_statuses;
  std::uint32_t header_bytes;
  std::uint32_t count;
  bool checksums;
};

__global__ void __launch_bounds__(kThreads)
    write_headers(const WrittenFrame frame, const HeaderBytes header, const std::byte** d_spans,
                  std::size_t* d_span_bytes) {
  const std::uint32_t i = thread_index();
  if (i == 0 && frame.header_bytes <= frame.capacity) {
#pragma unroll
    for (std::uint32_t byte = 0; byte < kMaxFrameHeaderBytes; ++byte)
      if (byte < header.count) frame.d_output[byte] = header.bytes[byte];
  }
  if (i >= frame.count) return;
  const bool there = frame.d_statuses[i] == HEMSTITCH_OK;
  std::byte* const d_block = frame.d_output + frame.header_bytes + frame.d_offsets[i];
  if (there) store_le32(d_block, frame.d_sizes[i]);
  d_spans[i] = d_block + kBlockHeaderBytes;
  d_span_bytes[i] = there ? frame.d_sizes[i] & ~kStoredBlockBit : 0;
}

__global__ void __launch_bounds__(kThreads)
    write_checksums(const WrittenFrame frame, const std::uint32_t* d_checksums) {
  const std::uint32_t i = thread_index();
  if (i >= frame.count || frame.d_statuses[i] != HEMSTITCH_OK) return;
  store_le32(frame.d_output + frame.header_bytes + frame.d_offsets[i] + kBlockHeaderBytes +
                 (frame.d_sizes[i] & ~kStoredBlockBit),
             d_checksums[i]);
}

// One block of threads: whether any block failed, then the end mark, the size and the status.
__global__ void __launch_bounds__(kThreads)
    end_frame(const WrittenFrame frame, std::uint64_t* d_output_bytes, hemstitch_status* d_status) {
  bool failed = false;
  for (std::uint32_t i = threadIdx.x; i < frame.count; i += kThreads)
    failed |= frame.d_statuses[i] != HEMSTITCH_OK;
  failed = __syncthreads_or(failed);
  if (threadIdx.x != 0) return;
  const std::uint64_t end_mark_at = frame.header_bytes + frame.d_offsets[frame.count];
  const std::uint64_t bytes = end_mark_at + kBlockHeaderBytes;
  const bool fits = !failed && bytes <= frame.capacity;
  if (fits) store_le32(frame.d_output + end_mark_at, 0);
  *d_output_bytes = fits ? bytes : 0;
  *d_status = fits ? HEMSTITCH_OK : HEMSTITCH_OUTPUT_TOO_SMALL;
}

struct WriteTemp {
  Carver carver;
  FrameLayout layout;
  DeviceBlocks blocks;
  DeviceBlock* d_blocks;
  std::uint64_t* d_offsets;
  std::uint32_t* d_sizes;
  hemstitch_status* d_statuses;
  const std::byte** d_spans;
  std::size_t* d_span_bytes;
  std::uint32_t* d_checksums;
  std::size_t compress_bytes;
  std::byte* d_compress;

  WriteTemp(std::uint64_t content_bytes, const hemstitch_lz4_frame& frame, const Lz4Level& level,
            void* d_temp)
      : carver(d_temp),
        layout(lz4_frame_layout(content_bytes, frame.block_bytes, frame.block_checksums != 0, false)) {
    const auto count = static_cast<std::uint32_t>(layout.block_count());
    d_blocks = carver.take<DeviceBlock>(count);
    d_offsets = carver.take<std::uint64_t>(std::size_t{count} + 1);
    d_sizes = carver.take<std::uint32_t>(count);
    d_statuses = carver.take<hemstitch_status>(count);
    d_spans = carver.take<const std::byte*>(count);
    d_span_bytes = carver.take<std::size_t>(count);
    d_checksums = carver.take<std::uint32_t>(count);
    blocks = {d_blocks, count,
              static_cast<std::uint32_t>(std::min<std::uint64_t>(frame.block_bytes, content_bytes)),
              frame.linked_blocks != 0 && layout.body_block_count() > 1 ? kFrameHistoryBytes : 0,
              content_bytes};
    compress_bytes = cuda::compress_lz4_span_cuda_scratch_bytes(blocks, level);
    d_compress = carver.take<std::byte>(compress_bytes);
  }
};

// ---- Reading ----

// The blocks of a frame on its way in, and what became of them: arrays of max_block_count elements. A block that is not
// there (behind the last, or stored, where LZ4 blocks are meant) has no bytes.
struct ReadFrame {
  const std::byte* d_frame;
  std::uint64_t frame_bytes;
  std::uint64_t capacity;
  std::byte* d_output;
  std::uint64_t content_bytes;
  std::uint32_t header_bytes;
  std::uint32_t block_bytes;
  std::uint32_t max_block_count;
  bool linked;
  bool checksums;
  bool content_bytes_known;

  WalkedFrame* d_walked;
  const std::byte** d_data;       // of every block
  std::size_t* d_data_bytes;      // of every block
  std::uint32_t* d_stored;        // 1 for stored blocks
  std::size_t* d_lz4_bytes;       // 0 for stored blocks
  std::uint32_t* d_stored_bytes;  // 0 for LZ4 blocks
  std::uint32_t* d_checksums;
  std::uint32_t* d_found_checksums;
  std::size_t*
      d_rooms;  // the frame's block size; then exactly what the block restores to, or 0 where that does not fit
  std::uint32_t* d_history_bytes;  // the most there can be; then what there is
  std::byte** d_outputs;
  std::size_t* d_restored_bytes;
  hemstitch_status* d_size_statuses;
  hemstitch_status* d_statuses;
  std::uint32_t* d_sizes;
  std::uint64_t* d_offsets;  // one element more
};

__global__ void __launch_bounds__(kThreads) clear_blocks(const ReadFrame frame) {
  const std::uint32_t i = thread_index();
  if (i >= frame.max_block_count) return;
  frame.d_data[i] = frame.d_frame;
  frame.d_data_bytes[i] = 0;
  frame.d_stored[i] = 0;
  frame.d_lz4_bytes[i] = 0;
  frame.d_stored_bytes[i] = 0;
  frame.d_checksums[i] = 0;
  frame.d_rooms[i] = frame.block_bytes;
  frame.d_history_bytes[i] = frame.linked && i != 0 ? kFrameHistoryBytes : 0;
}

__global__ void __launch_bounds__(1) walk_frame(const ReadFrame frame) {
  *frame.d_walked =
      walk_lz4_frame(frame.d_frame, frame.frame_bytes, frame.header_bytes, frame.block_bytes, frame.checksums,
                     frame.max_block_count, [&](std::uint32_t i, const WalkedBlock& block) {
                       frame.d_data[i] = frame.d_frame + block.at;
                       frame.d_data_bytes[i] = block.bytes;
                       frame.d_stored[i] = block.stored;
                       frame.d_lz4_bytes[i] = block.stored ? 0 : block.bytes;
                       frame.d_stored_bytes[i] = block.stored ? block.bytes : 0;
                       frame.d_checksums[i] = block.checksum;
                     });
}

__global__ void __launch_bounds__(kThreads) count_sizes(const ReadFrame frame) {
  const std::uint32_t i = thread_index();
  if (i >= frame.max_block_count) return;
  // A block that failed, or is not there, has restored 0 bytes.
  frame.d_sizes[i] =
      frame.d_stored[i] ? frame.d_stored_bytes[i] : static_cast<std::uint32_t>(frame.d_restored_bytes[i]);
}

__global__ void __launch_bounds__(kThreads) place_outputs(const ReadFrame frame) {
  const std::uint32_t i = thread_index();
  if (i >= frame.max_block_count) return;
  const std::uint64_t at = frame.d_offsets[i], end = at + frame.d_sizes[i];
  const bool fits = end <= frame.capacity;
  frame.d_outputs[i] = frame.d_output + (fits ? at : 0);
  frame.d_rooms[i] = fits ? frame.d_sizes[i] : 0;
  if (frame.linked)
    frame.d_history_bytes[i] = static_cast<std::uint32_t>(min(std::uint64_t{kFrameHistoryBytes}, at));
  // A block that failed or does not fit is not restored again: it counts as empty and writes nothing.
  if (!fits || frame.d_size_statuses[i] != HEMSTITCH_OK) frame.d_lz4_bytes[i] = 0;
  if (!fits) frame.d_stored_bytes[i] = 0;
}

// One block of threads: the lowest number of a block that failed, and how; then the frame's own end.
__global__ void __launch_bounds__(kThreads)
    judge_frame(const ReadFrame frame, std::uint64_t* d_output_bytes, hemstitch_status* d_status) {
  constexpr std::uint64_t kNone = ~std::uint64_t{0};
  __shared__ unsigned long long sh_first;  // number << 32 | status
  if (threadIdx.x == 0) sh_first = kNone;
  __syncthreads();
  const WalkedFrame walked = *frame.d_walked;
  for (std::uint32_t i = threadIdx.x; i < walked.block_count; i += kThreads) {
    hemstitch_status status = HEMSTITCH_OK;
    if (frame.checksums && frame.d_checksums[i] != frame.d_found_checksums[i])
      status = HEMSTITCH_BLOCK_CHECKSUM_MISMATCH;
    else if (!frame.d_stored[i] && frame.d_size_statuses[i] != HEMSTITCH_OK)
      status = HEMSTITCH_CORRUPT_BLOCK;  // also a block larger than the frame's block size
    else if (frame.d_offsets[i] + frame.d_sizes[i] > frame.capacity)
      status = HEMSTITCH_OUTPUT_TOO_SMALL;
    else if (!frame.d_stored[i] && frame.d_statuses[i] != HEMSTITCH_OK)
      // It was sound when its size was computed. But a linked block may refer to bytes before the content.
      status = frame.linked ? HEMSTITCH_CORRUPT_BLOCK : HEMSTITCH_INTERNAL;
    if (status != HEMSTITCH_OK)
      atomicMin(&sh_first, static_cast<unsigned long long>(i) << 32 | static_cast<unsigned>(status));
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  const std::uint64_t bytes = frame.d_offsets[frame.max_block_count];
  hemstitch_status status = static_cast<hemstitch_status>(walked.status);
  if (sh_first != kNone)
    status = static_cast<hemstitch_status>(sh_first & 0xFFFFFFFFu);
  else if (status == HEMSTITCH_OK && frame.content_bytes_known && bytes != frame.content_bytes)
    status = HEMSTITCH_CONTENT_SIZE_MISMATCH;
  *d_status = status;
  *d_output_bytes = status == HEMSTITCH_OK ? bytes : 0;
}

struct ReadTemp {
  Carver carver;
  ReadFrame read;
  cuda::DeviceRestore restore;  // outputs, capacities and statuses differ between its two runs
  std::size_t restore_bytes, scan_bytes, gather_bytes;
  std::byte *d_restore, *d_scan, *d_gather;

  ReadTemp(const hemstitch_lz4_frame& frame, void* d_temp) : carver(d_temp), read{}, restore{} {
    const std::size_t count = frame.max_block_count;
    read.header_bytes = frame.header_bytes;
    read.block_bytes = frame.block_bytes;
    read.max_block_count = frame.max_block_count;
    read.linked = frame.linked_blocks != 0;
    read.checksums = frame.block_checksums != 0;
    read.content_bytes = frame.content_bytes;
    read.content_bytes_known = frame.content_bytes_known != 0;
    read.d_walked = carver.take<WalkedFrame>(1);
    read.d_data = carver.take<const std::byte*>(count);
    read.d_data_bytes = carver.take<std::size_t>(count);
    read.d_stored = carver.take<std::uint32_t>(count);
    read.d_lz4_bytes = carver.take<std::size_t>(count);
    read.d_stored_bytes = carver.take<std::uint32_t>(count);
    read.d_checksums = carver.take<std::uint32_t>(count);
    read.d_found_checksums = carver.take<std::uint32_t>(count);
    read.d_rooms = carver.take<std::size_t>(count);
    read.d_history_bytes = carver.take<std::uint32_t>(count);
    read.d_outputs = carver.take<std::byte*>(count);
    read.d_restored_bytes = carver.take<std::size_t>(count);
    read.d_size_statuses = carver.take<hemstitch_status>(count);
    read.d_statuses = carver.take<hemstitch_status>(count);
    read.d_sizes = carver.take<std::uint32_t>(count);
    read.d_offsets = carver.take<std::uint64_t>(count + 1);
    restore.d_blocks = read.d_data;
    restore.d_block_bytes = read.d_lz4_bytes;
    restore.d_capacities = read.d_rooms;
    restore.d_history_bytes = read.linked ? read.d_history_bytes : nullptr;
    restore.d_output_bytes = read.d_restored_bytes;
    restore.d_statuses = read.d_size_statuses;
    restore.count = count;
    restore.max_capacity = frame.block_bytes;
    restore.max_block_bytes = frame.block_bytes;
    cuda::DeviceRestore with_outputs = restore;
    with_outputs.d_outputs = read.d_outputs;
    restore_bytes = std::max(cuda::restore_lz4_cuda_scratch_bytes(restore),
                             cuda::restore_lz4_cuda_scratch_bytes(with_outputs));
    scan_bytes = cuda::scan_sizes_cuda_scratch_bytes(count);
    gather_bytes = cuda::gather_pieces_cuda_scratch_bytes(count);
    d_restore = carver.take<std::byte>(restore_bytes);
    d_scan = carver.take<std::byte>(scan_bytes);
    d_gather = carver.take<std::byte>(gather_bytes);
  }
};

constexpr cuda::KernelBudget kSplitContentBudget("lz4_frame.split_content", "split_content",
                                                 {.threads = kThreads, .registers = 32});
constexpr cuda::KernelBudget kWriteHeadersBudget("lz4_frame.write_headers", "write_headers",
                                                 {.threads = kThreads, .registers = 40});
constexpr cuda::KernelBudget kWriteChecksumsBudget("lz4_frame.write_checksums", "write_checksums",
                                                   {.threads = kThreads, .registers = 32});
constexpr cuda::KernelBudget kEndFrameBudget("lz4_frame.end_frame", "end_frame",
                                             {.threads = kThreads, .registers = 32});
constexpr cuda::KernelBudget kClearBlocksBudget("lz4_frame.clear_blocks", "clear_blocks",
                                                {.threads = kThreads, .registers = 32});
constexpr cuda::KernelBudget kWalkFrameBudget("lz4_frame.walk_frame", "walk_frame",
                                              {.threads = 1, .registers = 64});
constexpr cuda::KernelBudget kCountSizesBudget("lz4_frame.count_sizes", "count_sizes",
                                               {.threads = kThreads, .registers = 32});
constexpr cuda::KernelBudget kPlaceOutputsBudget("lz4_frame.place_outputs", "place_outputs",
                                                 {.threads = kThreads, .registers = 32});
constexpr cuda::KernelBudget kJudgeFrameBudget("lz4_frame.judge_frame", "judge_frame",
                                               {.threads = kThreads, .registers = 32, .shared_bytes = 8});
const cuda::KernelRegistration kSplitContentRegistration(kSplitContentBudget, split_content);
const cuda::KernelRegistration kWriteHeadersRegistration(kWriteHeadersBudget, write_headers);
const cuda::KernelRegistration kWriteChecksumsRegistration(kWriteChecksumsBudget, write_checksums);
const cuda::KernelRegistration kEndFrameRegistration(kEndFrameBudget, end_frame);
const cuda::KernelRegistration kClearBlocksRegistration(kClearBlocksBudget, clear_blocks);
const cuda::KernelRegistration kWalkFrameRegistration(kWalkFrameBudget, walk_frame);
const cuda::KernelRegistration kCountSizesRegistration(kCountSizesBudget, count_sizes);
const cuda::KernelRegistration kPlaceOutputsRegistration(kPlaceOutputsBudget, place_outputs);
const cuda::KernelRegistration kJudgeFrameRegistration(kJudgeFrameBudget, judge_frame);

}  // namespace

std::size_t lz4_frame_compress_temp_bytes(std::uint64_t content_bytes, const hemstitch_lz4_frame& frame,
                                          int level) {
  cuda::need_device();
  return WriteTemp(content_bytes, frame, lz4_level(level, frame.block_bytes), nullptr).carver.bytes();
}

void lz4_frame_compress_async(const std::byte* d_content, std::uint64_t content_bytes,
                              const hemstitch_lz4_frame& frame, int level, std::byte* d_output,
                              std::uint64_t capacity, std::uint64_t* d_output_bytes,
                              hemstitch_status* d_status, BatchTemp given, hemstitch_stream stream) {
  cuda::need_device();
  const Lz4Level row = lz4_level(level, frame.block_bytes);
  const WriteTemp temp(content_bytes, frame, row, given.d_temp);
  check_scratch("lz4 frame compress", temp.carver.bytes(), given.d_temp, given.bytes);
  const HeaderBytes header = header_of(frame, content_bytes);
  const std::uint32_t count = temp.blocks.block_count;
  const WrittenFrame written{.d_output = d_output,
                             .capacity = capacity,
                             .d_offsets = temp.d_offsets,
                             .d_sizes = temp.d_sizes,
                             .d_statuses = temp.d_statuses,
                             .header_bytes = header.count,
                             .count = count,
                             .checksums = frame.block_checksums != 0};
  // A frame without blocks has a header all the same.
  const unsigned grid = std::max(1u, grid_for(count));

  launch({.kernel = kSplitContentBudget, .grid = grid_for(count), .stream = stream}, split_content,
         ContentBlocks{d_content, temp.layout, count, frame.linked_blocks != 0}, temp.d_blocks);
  cuda::compress_lz4_span_cuda(
      temp.blocks, row,
      {.d_span = d_output + header.count,
       .capacity_bytes = capacity > header.count ? capacity - header.count : 0,
       .lead_bytes = kBlockHeaderBytes,
       .trail_bytes = written.checksums ? static_cast<std::uint32_t>(kBlockChecksumBytes) : 0,
       .d_offsets = temp.d_offsets,
       .d_sizes = temp.d_sizes,
       .d_statuses = temp.d_statuses},
      temp.d_compress, temp.compress_bytes, stream);
  launch({.kernel = kWriteHeadersBudget, .grid = grid, .stream = stream}, write_headers, written, header,
         temp.d_spans, temp.d_span_bytes);
  if (written.checksums) {
    cuda::checksum_lz4_cuda(temp.d_spans, temp.d_span_bytes, count, temp.d_checksums, stream);
    launch({.kernel = kWriteChecksumsBudget, .grid = grid_for(count), .stream = stream}, write_checksums,
           written, temp.d_checksums);
  }
  launch({.kernel = kEndFrameBudget, .grid = 1, .stream = stream}, end_frame, written, d_output_bytes,
         d_status);
}

std::size_t lz4_frame_restore_temp_bytes(const hemstitch_lz4_frame& frame) {
  cuda::need_device();
  return ReadTemp(frame, nullptr).carver.bytes();
}

void lz4_frame_restore_async(const std::byte* d_frame, std::uint64_t frame_bytes,
                             const hemstitch_lz4_frame& frame, std::byte* d_output, std::uint64_t capacity,
                             std::uint64_t* d_output_bytes, hemstitch_status* d_status, BatchTemp given,
                             hemstitch_stream stream) {
  cuda::need_device();
  ReadTemp temp(frame, given.d_temp);
  check_scratch("lz4 frame restore", temp.carver.bytes(), given.d_temp, given.bytes);
  ReadFrame& read = temp.read;
  read.d_frame = d_frame;
  read.frame_bytes = frame_bytes;
  read.d_output = d_output;
  read.capacity = capacity;
  const unsigned grid = grid_for(read.max_block_count);

  launch({.kernel = kClearBlocksBudget, .grid = grid, .stream = stream}, clear_blocks, read);
  launch({.kernel = kWalkFrameBudget, .grid = 1, .stream = stream}, walk_frame, read);
  cuda::restore_lz4_cuda(temp.restore, temp.d_restore, temp.restore_bytes, stream);
  launch({.kernel = kCountSizesBudget, .grid = grid, .stream = stream}, count_sizes, read);
  cuda::scan_sizes_cuda(read.d_sizes, read.max_block_count, read.d_offsets, temp.d_scan, temp.scan_bytes,
                        stream);
  launch({.kernel = kPlaceOutputsBudget, .grid = grid, .stream = stream}, place_outputs, read);
  temp.restore.d_outputs = read.d_outputs;
  temp.restore.d_statuses = read.d_statuses;
  cuda::gather_pieces_cuda(read.d_data, read.d_stored_bytes, read.d_offsets, read.max_block_count, d_output,
                           temp.d_gather, temp.gather_bytes, stream);
  if (read.linked)
    cuda::restore_lz4_chain_cuda(temp.restore, &read.d_walked->block_count, stream);
  else
    cuda::restore_lz4_cuda(temp.restore, temp.d_restore, temp.restore_bytes, stream);
  if (read.checksums)
    cuda::checksum_lz4_cuda(read.d_data, read.d_data_bytes, read.max_block_count, read.d_found_checksums,
                            stream);
  launch({.kernel = kJudgeFrameBudget, .grid = 1, .stream = stream}, judge_frame, read, d_output_bytes,
         d_status);
}

}  // namespace hemstitch
