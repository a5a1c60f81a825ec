#include <algorithm>

#include "core/status.hpp"
#include "format/device_format.hpp"
#include "format/zstd/stream/zstd_frame_stages.cuh"
#include "gpu/cuda/cuda_error.hpp"
#include "gpu/cuda/scratch.hpp"

namespace hemstitch::cuda {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 31;

// Literals and sequences of what encoders write take 3 bytes a byte and less; where a piece needs more it ends earlier. One block
// always has room: at most, it has literals of 128 KB, or a sequence for three bytes.
constexpr std::uint64_t kPoolBytesOfByte = 3, kPoolBytesOfBlock = std::uint64_t{672} << 10;
constexpr std::uint64_t kSpareUnitsOfBlock = 8;

ZstdFrameWork carved(Carver& carve, std::uint32_t block_count, std::size_t capacity) {
  const std::size_t records =
      std::size_t{block_count} + 1;  // of the piece's blocks, and the one for all before
  ZstdFrameWork work{};
  ZstdStages& stages = work.stages;
  const std::uint64_t pool_bytes = std::max<std::uint64_t>(kPoolBytesOfByte * capacity, kPoolBytesOfBlock);
  stages.block_room = stages.table_room = static_cast<std::uint32_t>(records);
  stages.unit_room = static_cast<std::uint32_t>(pool_bytes / kZstdUnitBytes + records * kSpareUnitsOfBlock);
  stages.d_taken = carve.take<unsigned long long>(ZstdStages::kTakenCount);
  stages.d_counts = carve.take<std::uint32_t>(ZstdStages::kCountsCount);
  stages.d_chunks = carve.take<ZstdChunkRecord>(records);
  stages.d_blocks = carve.take<ZstdBlockRecord>(records);
  stages.d_lists = carve.take<std::uint32_t>(kZstdLists * records);
  stages.d_cells = carve.take<ZstdDeviceCell>(records * kZstdCells);
  stages.d_codes = carve.take<ZstdDeviceCode>(records * kZstdCodes);
  stages.d_pool = carve.take<std::uint8_t>(std::size_t{stages.unit_room} * kZstdUnitBytes);
  work.d_data_of = carve.take<const std::byte*>(records);
  work.d_bytes_of = carve.take<std::size_t>(records);
  work.d_symbols = carve.take<std::uint32_t>(capacity);
  work.d_stop = carve.take<std::uint32_t>(1);
  return work;
}

ZstdFrameWork work_of(const ZstdFramePiece& piece, const ZstdFrameMemory& memory) {
  if (piece.data_bytes >= kMostBytes || piece.history_bytes >= kMostBytes ||
      piece.capacity >= kMostBytes - piece.history_bytes || piece.block_count >= kMostBytes / 2)
    throw Error(Status::kInvalidOption, "zstd_frame: a piece of 2^31 bytes or more");
  check_scratch("zstd_frame", zstd_frame_scratch_bytes(piece.block_count, piece.capacity), memory.d_scratch,
                memory.scratch_bytes);
  Carver carve(memory.d_scratch);
  ZstdFrameWork work = carved(carve, piece.block_count, piece.capacity);
  work.piece = piece;
  work.d_carry = static_cast<ZstdFrameCarry*>(memory.d_carry);
  work.d_result = memory.d_result;
  return work;
}

}  // namespace

std::size_t zstd_frame_scratch_bytes(std::uint32_t block_count, std::size_t capacity) {
  Carver carve(nullptr);
  carved(carve, block_count, capacity);
  return carve.bytes();
}

std::size_t zstd_frame_carry_bytes() { return sizeof(ZstdFrameCarry); }

void decode_zstd_frame_piece(const ZstdFramePiece& piece, const ZstdFrameMemory& memory,
                             cudaStream_t stream) {
  const ZstdFrameWork work = work_of(piece, memory);
  // What the stages of batches read of a batch.
  DeviceRestore blocks;
  blocks.d_blocks = work.d_data_of;
  blocks.d_block_bytes = work.d_bytes_of;
  blocks.count = std::uint64_t{piece.block_count} + 1;
  const ZstdStages& stages = work.stages;
  check(cudaMemsetAsync(stages.d_counts, 0, ZstdStages::kCountsCount * sizeof *stages.d_counts, stream),
        "zstd_frame");
  launch_zstd_frame_open(work, stream);
  launch_zstd_list(stages, stream);
  launch_zstd_tables(stages, stream);
  launch_zstd_frame_check(work, stream);
  launch_zstd_frame_carry(work, nullptr, stream);
  launch_zstd_literals_and_sequences(blocks, stages, stream);
}

void place_zstd_frame_piece(const ZstdFramePiece& piece, const ZstdFrameMemory& memory, cudaStream_t stream) {
  const ZstdFrameWork work = work_of(piece, memory);
  check(cudaMemsetAsync(work.d_stop, 0xFF, sizeof *work.d_stop, stream), "zstd_frame");
  launch_zstd_frame_places(work, stream);
  launch_zstd_frame_copy(work, stream);
  launch_zstd_frame_close(work, stream);
}

void rewind_zstd_frame_piece(const ZstdFramePiece& piece, const ZstdFrameMemory& memory,
                             cudaStream_t stream) {
  launch_zstd_frame_carry(work_of(piece, memory), memory.d_result, stream);
}

void resolve_zstd_frame_piece(const ZstdFramePiece& piece, const ZstdFrameMemory& memory,
                              cudaStream_t stream) {
  launch_zstd_frame_resolve(work_of(piece, memory), stream);
}

void restore_zstd_frame_piece(const ZstdFramePiece& piece, const ZstdFrameMemory& memory,
                              cudaStream_t stream) {
  decode_zstd_frame_piece(piece, memory, stream);
  place_zstd_frame_piece(piece, memory, stream);
  rewind_zstd_frame_piece(piece, memory, stream);
  resolve_zstd_frame_piece(piece, memory, stream);
}

}  // namespace hemstitch::cuda
