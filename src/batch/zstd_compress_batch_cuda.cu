// Compressing to Zstandard in the batch interface on a CUDA device: each chunk becomes a frame of its own. A caller's arrays become a batch
// (batch_layout.hpp), of which some chunks after the other are worked on at once, a *group*. To the encoder each chunk is a part without
// history (zstd_encoder_cuda.hpp), and kernels here write what is around its blocks.
//
//   open_group     a thread a slot: which chunk it has. Sizes are on the device, so the host knows neither where groups begin nor how many chunks
//                  they have, only how many at most; the slots behind the last one are empty parts
//   place_chunks   a warp a slot: the chunk's size, and whether it fits; its header, and where its blocks go
//   end_chunks     a thread a slot: marks the last block
//
// No shared memory, no synchronisation. CPU twin: compress_zstd_chunk_reference().
#include <algorithm>

#include "batch/batch_layout.hpp"
#include "batch/zstd_batch_device.hpp"
#include "batch/zstd_chunk.hpp"
#include "format/zstd/compress/zstd_encoder_cuda.hpp"
#include "gpu/cuda/launch.hpp"

namespace hemstitch {
namespace {

using cuda::BatchLayout;
using cuda::Carver;
using cuda::ZstdEncoder;
using cuda::ZstdPlacing;
using cuda::ZstdUnitPlaces;

constexpr unsigned kThreads = 128, kWarps = kThreads / 32;

// ---- Groups ----

// Chunk i is in group weight(i) / group_weight. So a group is a run of chunks, and what it has at most follows from bounds that the host knows.
struct ChunkGroups {
  std::uint64_t group_weight;
  std::uint64_t chunk_weight;  // bounds the number of chunks
  // False for chunks of one size (but for the last one): then chunk_weight says it all.
  bool counts_content;
  std::uint32_t count;          // of groups
  std::uint32_t slots;          // chunks of a group, at most
  std::uint64_t content_bytes;  // likewise

  __device__ std::uint64_t weight(const DeviceBlocks& chunks, std::uint32_t i) const {
    return i * chunk_weight + (counts_content ? chunks.d_blocks[i].position : 0);
  }
  __device__ std::uint32_t first_chunk(const DeviceBlocks& chunks, std::uint32_t group) const {
    std::uint32_t begin = 0, end = chunks.block_count;
    while (begin < end) {
      const std::uint32_t middle = begin + (end - begin) / 2;
      if (weight(chunks, middle) < group * group_weight)
        begin = middle + 1;
      else
        end = middle;
    }
    return begin;
  }
};

ChunkGroups groups_of(const hemstitch_blocks& blocks, std::uint64_t bytes_at_once) {
  constexpr std::uint64_t kLeastWeight =
      16 << 10;  // the memory for a block is more than 7 KB, however small it is
  const std::uint64_t most = blocks.max_block_bytes, count = blocks.count;
  const std::uint64_t total = std::min(blocks.total_block_bytes, count * most);
  ChunkGroups groups{};
  groups.counts_content = count * most > total + most;
  groups.chunk_weight = std::max(groups.counts_content ? total / count : most, kLeastWeight);
  groups.group_weight = std::max(bytes_at_once, groups.chunk_weight);
  const std::uint64_t last_weight = (count - 1) * groups.chunk_weight + (groups.counts_content ? total : 0);
  groups.count = static_cast<std::uint32_t>(last_weight / groups.group_weight + 1);
  const std::uint64_t slots = (groups.group_weight + groups.chunk_weight - 1) / groups.chunk_weight;
  groups.slots = static_cast<std::uint32_t>(std::min(slots, count));
  groups.content_bytes = std::min(total, groups.slots * most);
  if (groups.counts_content)
    groups.content_bytes = std::min(groups.content_bytes, groups.group_weight + most);
  return groups;
}

struct ChunkRange {
  std::uint32_t first, count;
};

__global__ void __launch_bounds__(kThreads)
    open_group(const DeviceBlocks chunks, const ChunkGroups groups, std::uint32_t group, DeviceBlock* d_slots,
               ChunkRange* d_range) {
  const std::uint32_t slot = blockIdx.x * kThreads + threadIdx.x;
  if (slot >= groups.slots) return;
  const std::uint32_t begin = groups.first_chunk(chunks, group), end = groups.first_chunk(chunks, group + 1);
  if (slot == 0) *d_range = {begin, end - begin};
  DeviceBlock part{};
  if (begin != end) {
    const bool has_chunk = slot < end - begin;
    part = chunks.d_blocks[has_chunk ? begin + slot : end - 1];
    part.position -= chunks.d_blocks[begin].position;
    if (!has_chunk) {
      part.position += part.block_bytes;
      part.block_bytes = 0;
    }
  }
  // Nothing is read there, but addresses are computed, which NULL is not for.
  if (part.block_bytes == 0) part.d_block = reinterpret_cast<const std::byte*>(d_slots);
  d_slots[slot] = part;
}

// ---- Frames ----

struct ChunkHeader {
  std::byte bytes[kZstdChunkHeaderBytes];  // of no content
};

struct ChunkOutputs {
  void* const* d_outputs;
  const std::size_t* d_capacities;  // may be NULL: `capacity`
  std::size_t capacity;
  std::size_t* d_output_bytes;
  hemstitch_status* d_statuses;  // at first, of the layout
};

__global__ void __launch_bounds__(kThreads)
    place_chunks(const DeviceBlocks slots, const ChunkRange* d_range, const ZstdUnitPlaces places,
                 const ZstdPlacing placing, const std::uint32_t* d_sizes, const ChunkHeader header,
                 const ChunkOutputs outputs) {
  const std::uint32_t slot = blockIdx.x * kWarps + threadIdx.x / 32;
  if (slot >= slots.block_count) return;
  const unsigned lane = threadIdx.x % 32;
  const std::uint32_t chunk = d_range->first + slot;
  const bool is_chunk = slot < d_range->count;
  const DeviceBlock part = slots.d_blocks[slot];
  std::byte* output = nullptr;  // of what is written
  if (is_chunk) {
    const hemstitch_status admitted = outputs.d_statuses[chunk];
    const std::size_t capacity =
        outputs.d_capacities == nullptr ? outputs.capacity : outputs.d_capacities[chunk];
    const std::size_t bytes =
        kZstdChunkHeaderBytes + (part.block_bytes == 0 ? kZstdBlockHeaderBytes : std::size_t{d_sizes[slot]});
    const bool fits = admitted == HEMSTITCH_OK && bytes <= capacity;
    if (fits) output = static_cast<std::byte*>(outputs.d_outputs[chunk]);
    __syncwarp();  // all have read the status
    if (lane == 0) {
      outputs.d_output_bytes[chunk] = fits ? bytes : 0;
      if (!fits && admitted == HEMSTITCH_OK) outputs.d_statuses[chunk] = HEMSTITCH_OUTPUT_TOO_SMALL;
      if (fits) {
#pragma unroll
        for (unsigned i = 0; i < kZstdChunkHeaderBytes; ++i)
          output[i] = i < kZstdChunkSizeAt
                          ? header.bytes[i]
                          : static_cast<std::byte>(part.block_bytes >> 8 * (i - kZstdChunkSizeAt));
        if (part.block_bytes == 0)
          for (unsigned i = 0; i < kZstdBlockHeaderBytes; ++i)
            output[kZstdChunkHeaderBytes + i] = i == 0 ? std::byte{1} : std::byte{0};
      }
    }
  }
  const std::uint32_t first = places.first(part.position, slot);
  const std::uint32_t end =
      slot + 1 < slots.block_count ? places.first(slots.d_blocks[slot + 1].position, slot + 1) : places.count;
  for (std::uint32_t place = first + lane; place < end; place += 32)
    placing.d_targets[place] = output != nullptr && placing.d_block_sizes[place] != 0
                                   ? output + kZstdChunkHeaderBytes + placing.d_begins[place]
                                   : nullptr;
}

// The lowest bit of a block's first byte.
__global__ void __launch_bounds__(kThreads)
    end_chunks(const DeviceBlocks slots, const ZstdUnitPlaces places, const ZstdPlacing placing) {
  const std::uint32_t slot = blockIdx.x * kThreads + threadIdx.x;
  if (slot >= slots.block_count) return;
  const DeviceBlock part = slots.d_blocks[slot];
  if (part.block_bytes == 0) return;
  const std::uint32_t last = places.first(part.position, slot) + (part.block_bytes - 1) / places.unit_bytes;
  auto* const target = reinterpret_cast<std::uint8_t*>(placing.d_targets[last]);
  if (target != nullptr) *target |= 1;
}

constexpr cuda::KernelLimits kLimits{.threads = kThreads, .registers = 40};
constexpr cuda::KernelBudget kOpenBudget("batch.open_group", "open_group", kLimits);
constexpr cuda::KernelBudget kPlaceBudget("batch.place_chunks", "place_chunks", kLimits);
constexpr cuda::KernelBudget kEndBudget("batch.end_chunks", "end_chunks", kLimits);
const cuda::KernelRegistration kOpenRegistration(kOpenBudget, open_group);
const cuda::KernelRegistration kPlaceRegistration(kPlaceBudget, place_chunks);
const cuda::KernelRegistration kEndRegistration(kEndBudget, end_chunks);

// ---- Memory ----

struct ChunkTemp {
  Carver carver;
  BatchLayout layout;
  ChunkGroups groups;
  std::uint64_t* d_first;
  DeviceBlock* d_slots;
  ChunkRange* d_range;
  DeviceBlocks slots;
  ZstdEncoder encoder;
  ZstdPlacing placing{};
  std::uint32_t* d_sizes;

  ChunkTemp(const hemstitch_blocks& blocks, const ZstdChunks& chunks, void* d_temp)
      : carver(d_temp),
        layout({.d_inputs = blocks.blocks,
                .d_input_bytes_64 = blocks.block_bytes,
                .d_history_bytes = blocks.history_bytes,
                .count = blocks.count,
                .max_input_bytes = static_cast<std::uint32_t>(blocks.max_block_bytes),
                .total_input_bytes = blocks.total_block_bytes},
               carver),
        groups(groups_of(blocks, chunks.bytes_at_once)),
        d_first(carver.take<std::uint64_t>(std::size_t{blocks.count} + 1)),
        d_slots(carver.take<DeviceBlock>(groups.slots)),
        d_range(carver.take<ChunkRange>(1)),
        slots{.d_blocks = d_slots,
              .block_count = groups.slots,
              .max_block_bytes = static_cast<std::uint32_t>(blocks.max_block_bytes),
              .total_block_bytes = groups.content_bytes},
        encoder(slots, chunks.level, carver) {
    placing.d_block_sizes = encoder.d_block_sizes();
    placing.d_begins = carver.take<std::uint32_t>(encoder.block_places().count);
    placing.d_rooms = carver.take<std::uint32_t>(groups.slots);
    placing.d_targets = carver.take<std::byte*>(encoder.block_places().count);
    d_sizes = carver.take<std::uint32_t>(groups.slots);
  }
};

}  // namespace

std::size_t zstd_compress_temp_bytes(const hemstitch_blocks& blocks, const ZstdChunks& chunks) {
  cuda::need_device();
  return blocks.count == 0 ? 0 : ChunkTemp(blocks, chunks, nullptr).carver.bytes();
}

void zstd_compress_async(const hemstitch_blocks& blocks, const ZstdChunks& chunks,
                         const BatchOutputs& outputs, BatchTemp temp, hemstitch_stream stream) {
  cuda::need_device();
  if (blocks.count == 0) return;
  const ChunkTemp memory(blocks, chunks, temp.d_temp);
  cuda::check_scratch("zstd_compress", memory.carver.bytes(), temp.d_temp, temp.bytes);
  memory.layout.lay_out(memory.d_first, {}, nullptr, outputs.d_statuses, stream);

  ChunkHeader header;
  std::ranges::copy(zstd_chunk_header(0), header.bytes);
  const ChunkOutputs written{outputs.d_outputs, outputs.d_capacities,
                             zstd_chunk_bound(blocks.max_block_bytes), outputs.d_output_bytes,
                             outputs.d_statuses};
  const std::uint32_t slots = memory.groups.slots;
  const auto a_thread_each = [&](const cuda::KernelBudget& budget) {
    return cuda::Launch{.kernel = budget, .grid = (slots + kThreads - 1) / kThreads, .stream = stream};
  };
  const ZstdEncoder& encoder = memory.encoder;
  for (std::uint32_t group = 0; group < memory.groups.count; ++group) {
    cuda::launch(a_thread_each(kOpenBudget), open_group, memory.layout.blocks(), memory.groups, group,
                 memory.d_slots, memory.d_range);
    encoder.find_and_parse(stream);
    cuda::DeviceSpan sizes{};
    sizes.d_sizes = memory.d_sizes;
    size_zstd_parts_cuda(memory.slots, encoder.block_places(), memory.placing, sizes, stream);
    cuda::launch({.kernel = kPlaceBudget, .grid = (slots + kWarps - 1) / kWarps, .stream = stream},
                 place_chunks, memory.slots, memory.d_range, encoder.block_places(), memory.placing,
                 memory.d_sizes, header, written);
    encoder.pack(memory.placing.d_targets, stream);
    cuda::launch(a_thread_each(kEndBudget), end_chunks, memory.slots, encoder.block_places(), memory.placing);
  }
}

}  // namespace hemstitch
