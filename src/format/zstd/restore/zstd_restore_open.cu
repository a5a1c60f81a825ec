// Reads the headers of chunks and lists their blocks, as the first stage of restoring (zstd_restore_cuda.hpp).
#include "format/zstd/restore/zstd_block_work.cuh"
#include "format/zstd/restore/zstd_stages_cuda.hpp"
#include "gpu/cuda/kernel_trace.hpp"
#include "gpu/cuda/launch.hpp"

namespace hemstitch::cuda {
namespace {

constexpr unsigned kThreads = 64, kOrderThreads = 128;
// Offsets have 27 bits (kZstdNamedOffset), so no larger content is restored by stages.
constexpr std::uint64_t kMostContent = std::uint64_t{1} << 27;

struct Room {
  std::uint32_t blocks = 0, tables = 0, units = 0;
};

// False if the chunk is no frame that stages restore, or breaks a rule of the headers.
__device__ bool measure_chunk(const std::uint8_t* d_bytes, std::uint64_t size, const ZstdDeviceHeader& header,
                              std::uint32_t most_bytes, std::uint32_t block_room, Room& room) {
  std::uint64_t at = header.bytes, all_units = 0;
  for (bool is_last = false; !is_last;) {
    ZstdDeviceBlock block;
    if (!read_zstd_block(d_bytes + at, size - at, most_bytes, block, is_last)) return false;
    if (block.sequences > most_bytes / kZstdLeastMatch) return false;
    at += kZstdBlockHeaderBytes + block.data_bytes;
    if (++room.blocks > block_room) return false;
    room.tables += block.is_compressed() ? 1 : 0;
    all_units += zstd_literal_units(block) + zstd_state_units(block) + zstd_sequence_units(block);
    if (all_units >= kZstdNone) return false;
  }
  room.units = static_cast<std::uint32_t>(all_units);
  return at + (header.has_checksum ? kZstdChecksumBytes : 0) == size;
}

// Takes `count` of `room`; false if there are not so many. `first` is where they begin, or would.
__device__ bool take_room(unsigned long long* d_taken, std::uint32_t count, std::uint32_t room,
                          std::uint64_t& first) {
  first = atomicAdd(d_taken, static_cast<unsigned long long>(count));
  return first + count <= room;
}

// A record of a chunk that is left.
__device__ void write_unused(const ZstdStages& stages, std::uint64_t number, std::uint32_t chunk) {
  ZstdBlockRecord& record = stages.d_blocks[number];
  record.block.type = ZstdBlockType::kRaw;
  record.chunk = chunk;
  record.tables = kZstdNone;
}

// Mapping: a thread a chunk. No shared memory, no synchronisation. Work: linear in blocks.
__global__ void __launch_bounds__(kThreads)
    open_zstd_chunks(const DeviceRestore batch, const ZstdStages stages) {
  const std::uint64_t index = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (index >= batch.count) return;
  const auto own = static_cast<std::uint32_t>(index);
  trace_mark(kTraceRestoreZstdChunk, own);
  ZstdChunkRecord& chunk = stages.d_chunks[index];
  chunk.first_block = chunk.block_count = 0;
  chunk.is_left = 1;
  const auto* const d_bytes = reinterpret_cast<const std::uint8_t*>(batch.d_blocks[index]);
  const std::uint64_t size = batch.d_block_bytes[index], capacity = batch.d_capacities[index];
  if (size > batch.max_block_bytes || capacity > batch.max_capacity || capacity > kMostContent) return;
  ZstdDeviceHeader header;
  if (stages.form == ZstdChunkForm::kBlocks)
    header.window_bytes = capacity;
  else if (read_zstd_header(d_bytes, size, header) != HEMSTITCH_OK)
    return;
  const auto most_bytes = static_cast<std::uint32_t>(
      header.window_bytes < kZstdMostBlockBytes ? header.window_bytes : kZstdMostBlockBytes);
  Room room;
  if (!measure_chunk(d_bytes, size, header, most_bytes, stages.block_room, room)) return;

  std::uint64_t first_block = 0, table = 0, unit = 0;
  const bool has_blocks =
      take_room(&stages.d_taken[ZstdStages::kBlocks], room.blocks, stages.block_room, first_block);
  if (!has_blocks ||
      !take_room(&stages.d_taken[ZstdStages::kTables], room.tables, stages.table_room, table) ||
      !take_room(&stages.d_taken[ZstdStages::kUnits], room.units, stages.unit_room, unit)) {
    // Later stages look at all records that were taken.
    for (std::uint64_t i = first_block; i < first_block + room.blocks && i < stages.block_room; ++i)
      write_unused(stages, i, own);
    return;
  }
  std::uint32_t huffman_of = kZstdNone, table_of[kZstdKinds] = {kZstdNone, kZstdNone, kZstdNone};
  std::uint64_t at = header.bytes;
  bool is_sound = true;
  for (std::uint32_t i = 0; i < room.blocks; ++i) {
    const auto number = static_cast<std::uint32_t>(first_block) + i;
    ZstdDeviceBlock block;
    bool is_last = false;
    read_zstd_block(d_bytes + at, size - at, most_bytes, block, is_last);
    at += kZstdBlockHeaderBytes + block.data_bytes;
    ZstdBlockRecord& record = stages.d_blocks[number];
    record.block = block;
    if (block.is_compressed() && block.literals_type == ZstdDeviceLiterals::kCompressed) huffman_of = number;
    if (block.has_coded_literals() && huffman_of == kZstdNone) is_sound = false;
#pragma unroll
    for (unsigned kind = 0; kind < kZstdKinds; ++kind) {
      if (block.defines(kind)) table_of[kind] = number;
      if (block.sequences != 0 && table_of[kind] == kZstdNone) is_sound = false;
      record.table_of[kind] = table_of[kind];
      record.repeats[kind] = kZstdNamedOffset | kind << kZstdSlotAt;
    }
    record.huffman_of = huffman_of;
    record.chunk = own;
    record.tables = static_cast<std::uint32_t>(table);
    table += block.is_compressed() ? 1 : 0;
    record.literals_unit = static_cast<std::uint32_t>(unit);
    record.states_unit = record.literals_unit + zstd_literal_units(block);
    record.sequences_unit = record.states_unit + zstd_state_units(block);
    unit = std::uint64_t{record.sequences_unit} + zstd_sequence_units(block);
    record.used_literals = 0;
    count_zstd_work(stages, block);
  }
  chunk.first_block = static_cast<std::uint32_t>(first_block);
  chunk.block_count = room.blocks;
  chunk.window_bytes = header.window_bytes;
  chunk.has_size = header.has_size;
  chunk.stated_bytes = header.content_bytes;
  chunk.has_checksum = header.has_checksum;
  chunk.stated_checksum =
      header.has_checksum ? static_cast<std::uint32_t>(zstd_number_at(d_bytes + at, kZstdChecksumBytes)) : 0;
  chunk.is_left = is_sound ? 0 : 1;
}

// Lists blocks by classes.
//
// Mapping: a thread a record. No shared memory, no synchronisation. Work: linear in blocks.
__global__ void __launch_bounds__(kOrderThreads) list_zstd_blocks(const ZstdStages stages) {
  const std::uint32_t index = blockIdx.x * kOrderThreads + threadIdx.x;
  if (index >= stages.block_count()) return;
  const ZstdBlockRecord& record = stages.d_blocks[index];
  if (record.tables == kZstdNone) return;
  for (unsigned list = 0; list < kZstdLists; ++list) {
    if (!is_in_zstd_list(list, record.block)) continue;
    const unsigned own = zstd_list_class(list, record.block);
    const std::uint32_t* const d_members = stages.d_counts + ZstdStages::kClassesAt + list * kZstdClasses;
    std::uint32_t place = 0;
    for (unsigned i = 0; i < own; ++i) place += d_members[i];
    place += atomicAdd(&stages.d_counts[ZstdStages::kListedAt + list * kZstdClasses + own], 1u);
    stages.d_lists[std::size_t{list} * stages.block_room + place] = index;
  }
}

constexpr KernelBudget kOpenBudget("zstd_restore.open", "open_zstd_chunks",
                                   {.threads = kThreads, .registers = 128});
const KernelRegistration kOpenRegistration(kOpenBudget, open_zstd_chunks);
constexpr KernelBudget kListBudget("zstd_restore.list", "list_zstd_blocks",
                                   {.threads = kOrderThreads, .registers = 40});
const KernelRegistration kListRegistration(kListBudget, list_zstd_blocks);

}  // namespace

void launch_zstd_open(const DeviceRestore& batch, const ZstdStages& stages, cudaStream_t stream) {
  launch({.kernel = kOpenBudget,
          .grid = static_cast<unsigned>((batch.count + kThreads - 1) / kThreads),
          .stream = stream},
         open_zstd_chunks, batch, stages);
}

void launch_zstd_list(const ZstdStages& stages, cudaStream_t stream) {
  launch({.kernel = kListBudget,
          .grid = (stages.block_room + kOrderThreads - 1) / kOrderThreads,
          .stream = stream},
         list_zstd_blocks, stages);
}

}  // namespace hemstitch::cuda
