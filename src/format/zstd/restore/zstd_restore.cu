#include <algorithm>

#include "core/status.hpp"
#include "format/zstd/restore/zstd_restore_cuda.hpp"
#include "format/zstd/restore/zstd_stages_cuda.hpp"
#include "gpu/cuda/cuda_error.hpp"
#include "gpu/cuda/scratch.hpp"
#include "gpu/cuda/side_stream.hpp"

namespace hemstitch::cuda {
namespace {

constexpr std::uint64_t kMostChunks = (std::uint64_t{1} << 31) - 1;
// Enough for all multiprocessors.
constexpr std::uint64_t kWaveBytes = std::uint64_t{5} << 28, kMostWaveChunks = 1 << 18;

// Few chunks that may have more content than this are *large*: their blocks are copied at once. A few hundred warps with a chunk each would leave
// most of the device idle; with so many chunks as kEnoughChunks, they are as fast, and need no symbols, which take four bytes more for each of
// content, so that waves are smaller. The largest chunk that stages restore has 2^27 bytes.
constexpr std::uint64_t kLargeBytes = 256 << 10, kEnoughChunks = 768, kLargeWaveBytes = kWaveBytes / 2,
                        kMostStagedBytes = 1 << 27;

// What chunks usually need, with room to spare. One that needs more is left to the last kernel if others have not left enough.
constexpr std::uint64_t kBytesOfBlock = 32 << 10, kBytesOfTables = 64 << 10;
constexpr std::uint64_t kPoolBytesOfByte =
    3;  // sequences of 4 bytes take as many, as do literals and sequences together
constexpr std::uint64_t kSpareUnitsOfBlock = 8;

struct Scratch {
  std::uint64_t wave_chunks;
  ZstdStages stages;

  Scratch(Carver& carve, const DeviceRestore& batch, std::uint64_t most_wave_bytes) {
    const bool is_large =
        batch.max_capacity > kLargeBytes &&
        std::min<std::uint64_t>(batch.count, most_wave_bytes / batch.max_capacity) < kEnoughChunks;
    const std::uint64_t wave_bytes = is_large ? std::min(most_wave_bytes, kLargeWaveBytes) : most_wave_bytes;
    const std::uint64_t bytes =
        std::max<std::uint64_t>(1, std::min<std::uint64_t>(batch.max_capacity, wave_bytes));
    wave_chunks = std::clamp<std::uint64_t>(wave_bytes / bytes, 1, std::max<std::uint64_t>(1, batch.count));
    wave_chunks = std::min(wave_chunks, kMostWaveChunks);
    const std::uint64_t blocks = wave_chunks * (2 + bytes / kBytesOfBlock),
                        tables = wave_chunks * (1 + bytes / kBytesOfTables),
                        units = wave_chunks * kPoolBytesOfByte * bytes / kZstdUnitBytes +
                                blocks * kSpareUnitsOfBlock;
    stages.block_room = static_cast<std::uint32_t>(blocks);
    stages.table_room = static_cast<std::uint32_t>(tables);
    stages.unit_room = static_cast<std::uint32_t>(units);
    stages.d_taken = carve.take<unsigned long long>(ZstdStages::kTakenCount);
    stages.d_counts = carve.take<std::uint32_t>(ZstdStages::kCountsCount);
    stages.d_chunks = carve.take<ZstdChunkRecord>(wave_chunks);
    stages.d_left = carve.take<std::uint32_t>(wave_chunks);
    stages.d_blocks = carve.take<ZstdBlockRecord>(blocks);
    stages.d_lists = carve.take<std::uint32_t>(kZstdLists * blocks);
    stages.d_cells = carve.take<ZstdDeviceCell>(tables * kZstdCells);
    stages.d_codes = carve.take<ZstdDeviceCode>(tables * kZstdCodes);
    stages.d_pool = carve.take<std::uint8_t>(units * kZstdUnitBytes);
    stages.symbols_of_chunk = is_large ? std::min<std::uint64_t>(batch.max_capacity, kMostStagedBytes) : 0;
    stages.d_symbols = is_large ? carve.take<std::uint32_t>(wave_chunks * stages.symbols_of_chunk) : nullptr;
  }
};

// The chunks from `first` on, at most `count`.
DeviceRestore wave_of(const DeviceRestore& batch, std::uint64_t first, std::uint64_t count) {
  DeviceRestore wave = batch;
  wave.d_blocks += first;
  wave.d_block_bytes += first;
  if (wave.d_outputs != nullptr) wave.d_outputs += first;
  wave.d_capacities += first;
  wave.d_output_bytes += first;
  wave.d_statuses += first;
  wave.count = std::min(count, batch.count - first);
  return wave;
}

}  // namespace

void launch_zstd_literals_and_sequences(const DeviceRestore& batch, const ZstdStages& stages,
                                        cudaStream_t stream) {
  SideStream side(stream);
  launch_zstd_literals(batch, stages, side.get());
  launch_zstd_states(batch, stages, stream);
  launch_zstd_values(batch, stages, stream);
  side.join();
}

void launch_zstd_stages(const DeviceRestore& batch, const ZstdStages& stages, cudaStream_t stream) {
  check(cudaMemsetAsync(stages.d_taken, 0, ZstdStages::kTakenCount * sizeof *stages.d_taken, stream),
        "zstd_restore");
  check(cudaMemsetAsync(stages.d_counts, 0, ZstdStages::kCountsCount * sizeof *stages.d_counts, stream),
        "zstd_restore");
  launch_zstd_open(batch, stages, stream);
  launch_zstd_list(stages, stream);
  launch_zstd_tables(stages, stream);
  launch_zstd_literals_and_sequences(batch, stages, stream);
  launch_zstd_places(batch, stages, stream);
  // Without outputs there is nothing but offsets to check.
  if (stages.d_symbols != nullptr && batch.d_outputs != nullptr)
    launch_zstd_block_copy(batch, stages, stream);
  else
    launch_zstd_copy(batch, stages, stream);
  launch_zstd_close(batch, stages, stream);
  launch_zstd_left(batch, stages, stream);
}

std::size_t zstd_waves_scratch_bytes(const DeviceRestore& batch, std::uint64_t wave_bytes) {
  if (batch.count > kMostChunks)
    throw Error(Status::kInvalidOption, "zstd_restore: 2^31 chunks or more; split the batch");
  if (batch.count == 0) return 0;
  Carver carve(nullptr);
  Scratch(carve, batch, wave_bytes);
  return carve.bytes();
}

void restore_zstd_waves(const DeviceRestore& batch, std::uint64_t wave_bytes, void* d_scratch,
                        std::size_t scratch_bytes, cudaStream_t stream, ZstdChunkForm form) {
  if (batch.d_history_bytes != nullptr)
    throw Error(Status::kInvalidOption, "zstd_restore: frames have no histories");
  check_scratch("zstd_restore", zstd_waves_scratch_bytes(batch, wave_bytes), d_scratch, scratch_bytes);
  if (batch.count == 0) return;
  Carver carve(d_scratch);
  Scratch scratch(carve, batch, wave_bytes);
  scratch.stages.form = form;
  for (std::uint64_t first = 0; first < batch.count; first += scratch.wave_chunks)
    launch_zstd_stages(wave_of(batch, first, scratch.wave_chunks), scratch.stages, stream);
}

std::size_t restore_zstd_cuda_scratch_bytes(const DeviceRestore& batch) {
  return zstd_waves_scratch_bytes(batch, kWaveBytes);
}

void restore_zstd_cuda(const DeviceRestore& batch, void* d_scratch, std::size_t scratch_bytes,
                       cudaStream_t stream, ZstdChunkForm form) {
  restore_zstd_waves(batch, kWaveBytes, d_scratch, scratch_bytes, stream, form);
}

}  // namespace hemstitch::cuda
