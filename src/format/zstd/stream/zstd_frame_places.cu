// Finds where blocks of a piece begin and what repeat offsets are there, and says in the end what became of the piece
// (zstd_frame_cuda.hpp).
#include "format/zstd/stream/zstd_block_scan.cuh"
#include "format/zstd/stream/zstd_frame_stages.cuh"
#include "gpu/cuda/launch.hpp"

namespace hemstitch::cuda {
namespace {

constexpr unsigned kCloseThreads = 32;

__device__ ZstdDeviceRepeats carried_repeats(const ZstdFrameCarry& carry) {
  if (carry.has_repeats == 0) return {1, 4, 8};
  return {carry.repeats[0], carry.repeats[1], carry.repeats[2]};
}

// Mapping: one thread block for all blocks, 256 at a time. Shared memory: 192 bytes. Synchronisation: three barriers for 256 blocks. Work: linear in
// blocks. CPU twin: ZstdOffsets.
__global__ void __launch_bounds__(kZstdScanThreads) place_zstd_frame(const ZstdFrameWork work) {
  __shared__ ZstdPlaced sh_warps[kZstdScanWarps];
  const ZstdStages& stages = work.stages;
  const ZstdFramePiece& piece = work.piece;
  ZstdPlaced carry{0, carried_repeats(*work.d_carry)};
  for (std::uint32_t first = 1; first <= piece.block_count; first += kZstdScanThreads) {
    const std::uint32_t index = first + threadIdx.x;
    ZstdPlaced own{0, zstd_same_repeats()};
    std::uint32_t left = 0;
    if (index <= piece.block_count) {
      const ZstdBlockRecord& record = stages.d_blocks[index];
      left = stages.d_chunks[index].is_left;
      if (left == 0 && record.block.content_bytes > work.most_block_bytes()) left = kZstdLeftInDoubt;
      // Nothing behind a block that is left is looked at.
      if (left == 0)
        own = {record.block.content_bytes, {record.repeats[0], record.repeats[1], record.repeats[2]}};
    }
    const ZstdPlaced before = zstd_scan_of_blocks(own, sh_warps, carry);
    if (index > piece.block_count) continue;
    ZstdBlockRecord& record = stages.d_blocks[index];
    record.begin = before.bytes;
    record.repeats_before[0] = before.repeats.first;
    record.repeats_before[1] = before.repeats.second;
    record.repeats_before[2] = before.repeats.third;
    const bool has_offsets =
        before.repeats.first != 0 && before.repeats.second != 0 && before.repeats.third != 0;
    if (left == 0 && !has_offsets) left = kZstdLeftInDoubt;
    if (left == 0 && before.bytes + own.bytes > piece.capacity) left = kZstdLeftForRoom;
    if (left != 0) work.stop_at(index, left);
  }
}

// Says what became of the piece, and carries on the offsets that its last block leaves.
//
// Mapping: one lane. No shared memory, no synchronisation. Work: constant.
__global__ void __launch_bounds__(kCloseThreads) close_zstd_piece(const ZstdFrameWork work) {
  if (threadIdx.x != 0) return;
  ZstdFrameCarry& carry = *work.d_carry;
  const std::uint32_t last = work.stop_record() - 1;
  const ZstdBlockRecord& record = work.stages.d_blocks[last];
  ZstdDeviceRepeats repeats = carried_repeats(carry);
  if (last != 0)
    repeats =
        resolved_zstd_repeats({record.repeats[0], record.repeats[1], record.repeats[2]},
                              {record.repeats_before[0], record.repeats_before[1], record.repeats_before[2]});
  ZstdFrameResult& result = *work.d_result;
  result.repeats[0] = carry.repeats[0] = repeats.first;
  result.repeats[1] = carry.repeats[1] = repeats.second;
  result.repeats[2] = carry.repeats[2] = repeats.third;
  carry.has_repeats = 1;
  result.blocks = last;
  result.content_bytes =
      last != 0 ? static_cast<std::uint32_t>(record.begin) + record.block.content_bytes : 0;
  result.stop = last == work.piece.block_count ? ZstdFrameStop::kNone
                : *work.d_stop % 2 == 0        ? ZstdFrameStop::kRoom
                                               : ZstdFrameStop::kDoubt;
}

constexpr KernelBudget kPlacesBudget("zstd_frame.places", "place_zstd_frame",
                                     {.threads = kZstdScanThreads,
                                      .registers = 64,
                                      .shared_bytes = kZstdScanWarps * sizeof(ZstdPlaced)});
const KernelRegistration kPlacesRegistration(kPlacesBudget, place_zstd_frame);
constexpr KernelBudget kCloseBudget("zstd_frame.close", "close_zstd_piece",
                                    {.threads = kCloseThreads, .registers = 64});
const KernelRegistration kCloseRegistration(kCloseBudget, close_zstd_piece);

}  // namespace

void launch_zstd_frame_places(const ZstdFrameWork& work, cudaStream_t stream) {
  launch({.kernel = kPlacesBudget, .grid = 1, .stream = stream}, place_zstd_frame, work);
}

void launch_zstd_frame_close(const ZstdFrameWork& work, cudaStream_t stream) {
  launch({.kernel = kCloseBudget, .grid = 1, .stream = stream}, close_zstd_piece, work);
}

}  // namespace hemstitch::cuda
