#include <cub/block/block_scan.cuh>
#include <cub/device/device_radix_sort.cuh>

#include "gpu/cuda/cuda_error.hpp"
#include "insertion/insertion.hpp"
#include "match/common/cuda/device_text.cuh"
#include "match/common/hash_word.hpp"

namespace hemstitch::bench {
namespace {

constexpr std::uint32_t kThreads = 256;
constexpr std::uint32_t kBuckets = 256;  // of the tile's sort: the low 8 bits of the hash
constexpr std::uint32_t kMaxMatchLength = 258;
constexpr std::size_t kAlignment = 256;  // bytes, of the parts of the scratch
static_assert(kBuckets == kThreads);

std::uint32_t hashed_positions(const ChainInput& chains) {
  return chains.bytes < kHashedBytes ? 0 : chains.bytes - static_cast<std::uint32_t>(kHashedBytes) + 1;
}

std::uint32_t grid_of(std::uint32_t items, std::uint32_t items_a_group) {
  return static_cast<std::uint32_t>((std::uint64_t{items} + items_a_group - 1) / items_a_group);
}

__device__ cuda::DeviceText text_of(const ChainInput& chains) {
  return cuda::DeviceText(DeviceBlock{chains.d_data, chains.bytes, 0, 0});
}

template <Caching kCaching>
__device__ std::uint32_t byte_at(const std::byte* place) {
  const auto* const byte = reinterpret_cast<const unsigned char*>(place);
  if constexpr (kCaching == Caching::kHinted)
    return __ldg(byte);
  else
    return *byte;
}

template <Caching kCaching>
__device__ void exchange(const ChainInput& chains, std::uint32_t hash, std::uint32_t position) {
  const std::uint32_t before = atomicExch(&chains.d_heads[hash], position);
  if constexpr (kCaching == Caching::kHinted)
    __stcg(&chains.d_links[position], before);
  else
    chains.d_links[position] = before;
}

template <Caching kCaching>
__global__ void __launch_bounds__(kThreads) direct_kernel(ChainInput chains, std::uint32_t positions) {
  const std::uint32_t position = blockIdx.x * kThreads + threadIdx.x;
  if (position >= positions) return;
  std::uint32_t word = 0;
  for (std::uint32_t i = 0; i < kHashedBytes; ++i)
    word |= byte_at<kCaching>(chains.d_data + position + i) << (8 * i);
  exchange<kCaching>(chains, hash_word(word, chains.hash_bits), position);
}

// A thread block a tile. Shared bytes: the tile and 3 more, and for each position its hash and its place in the tile, as
// sorted: 7 bytes a position and 1 KB of buckets. Barriers: four.
template <std::uint32_t kTileBytes, Caching kCaching>
__global__ void __launch_bounds__(kThreads) tiled_kernel(ChainInput chains, std::uint32_t positions) {
  using Scan = cub::BlockScan<std::uint32_t, kThreads>;
  __shared__ unsigned char sh_tile[kTileBytes + kHashedBytes];
  __shared__ std::uint32_t sh_hashes[kTileBytes];
  __shared__ std::uint16_t sh_places[kTileBytes];
  __shared__ std::uint32_t sh_buckets[kBuckets];
  __shared__ typename Scan::TempStorage sh_scan;

  const std::uint32_t begin = blockIdx.x * kTileBytes;
  const std::uint32_t count = min(kTileBytes, positions - begin);
  for (std::uint32_t i = threadIdx.x; i < count + kHashedBytes - 1; i += kThreads)
    sh_tile[i] = static_cast<unsigned char>(byte_at<kCaching>(chains.d_data + begin + i));
  sh_buckets[threadIdx.x] = 0;
  __syncthreads();

  constexpr std::uint32_t kEach = kTileBytes / kThreads;
  std::uint32_t hashes[kEach] = {};
#pragma unroll
  for (std::uint32_t k = 0; k < kEach; ++k) {
    const std::uint32_t i = threadIdx.x + k * kThreads;
    if (i < count) {
      std::uint32_t word = 0;
      for (std::uint32_t b = 0; b < kHashedBytes; ++b) word |= std::uint32_t{sh_tile[i + b]} << (8 * b);
      hashes[k] = hash_word(word, chains.hash_bits);
      atomicAdd(&sh_buckets[hashes[k] % kBuckets], 1);
    }
  }
  __syncthreads();
  std::uint32_t bucket_begin = sh_buckets[threadIdx.x];
  Scan(sh_scan).ExclusiveSum(bucket_begin, bucket_begin);
  sh_buckets[threadIdx.x] = bucket_begin;
  __syncthreads();
#pragma unroll
  for (std::uint32_t k = 0; k < kEach; ++k) {
    const std::uint32_t i = threadIdx.x + k * kThreads;
    if (i < count) {
      const std::uint32_t place = atomicAdd(&sh_buckets[hashes[k] % kBuckets], 1);
      sh_hashes[place] = hashes[k];
      sh_places[place] = static_cast<std::uint16_t>(i);
    }
  }
  __syncthreads();
  for (std::uint32_t i = threadIdx.x; i < count; i += kThreads)
    exchange<kCaching>(chains, sh_hashes[i], begin + sh_places[i]);
}

__global__ void __launch_bounds__(kThreads) hash_kernel(ChainInput chains, std::uint32_t positions,
                                                        std::uint32_t* d_hashes, std::uint32_t* d_positions) {
  const std::uint32_t position = blockIdx.x * kThreads + threadIdx.x;
  if (position >= positions) return;
  const cuda::DeviceText text = text_of(chains);
  d_hashes[position] = hash_word(text.word(text.block() + position), chains.hash_bits);
  d_positions[position] = position;
}

__global__ void __launch_bounds__(kThreads)
    link_kernel(ChainInput chains, std::uint32_t positions, const std::uint32_t* d_hashes,
                const std::uint32_t* d_positions) {
  const std::uint32_t place = blockIdx.x * kThreads + threadIdx.x;
  if (place >= positions) return;
  const bool has_link = place > 0 && d_hashes[place - 1] == d_hashes[place];
  chains.d_links[d_positions[place]] = has_link ? d_positions[place - 1] : kNoLink;
}

__global__ void __launch_bounds__(kThreads) judge_kernel(ChainInput chains, std::uint32_t positions,
                                                         const std::uint32_t* d_exact, LinkOrder* d_order) {
  const std::uint32_t position = blockIdx.x * kThreads + threadIdx.x;
  const bool hashed = position < positions;
  const std::uint32_t link = hashed ? chains.d_links[position] : kNoLink;
  const bool has_link = link != kNoLink;
  const int links = __syncthreads_count(has_link);
  const int forward = __syncthreads_count(has_link && link > position);
  const int not_exact = __syncthreads_count(hashed && link != d_exact[position]);
  if (threadIdx.x != 0) return;
  const auto add = [](std::uint64_t& sum, int count) {
    atomicAdd(reinterpret_cast<unsigned long long*>(&sum), static_cast<unsigned long long>(count));
  };
  add(d_order->links, links);
  add(d_order->forward, forward);
  add(d_order->not_exact, not_exact);
}

__global__ void __launch_bounds__(kThreads)
    walk_kernel(ChainInput chains, std::uint32_t positions, std::uint32_t depth, std::uint32_t window,
                MatchRecord* d_records) {
  const std::uint32_t index = blockIdx.x * kThreads + threadIdx.x;
  if (index >= chains.bytes) return;
  Match best;
  if (index < positions) {
    const cuda::DeviceText text = text_of(chains);
    const std::uint32_t position = text.block() + index;
    const std::uint32_t limit = min(kMaxMatchLength, chains.bytes - index);
    const std::uint32_t word = text.word(position);
    std::uint32_t candidate = chains.d_links[index];
    for (std::uint32_t step = 0; step < depth && candidate != kNoLink; ++step) {
      const std::uint32_t offset = index - candidate;  // wraps around for a later position
      if (offset - 1 < window && text.word(position - offset) == word) {
        const std::uint32_t needed = best.length + (offset < best.offset ? 0 : 1);  // bytes, to be better
        if (needed <= limit && text.same_byte(position, offset, max(needed, 1u) - 1)) {
          const Match match{offset, text.common_length(position, position - offset, kHashedBytes, limit)};
          if (better_match(match, best)) best = match;
        }
      }
      candidate = chains.d_links[candidate];
    }
  }
  d_records[index] = pack_match(best.offset, best.length);
}

void clear_heads(const ChainInput& chains, cudaStream_t stream) {
  cuda::check(cudaMemsetAsync(chains.d_heads, 0xFF, sizeof(std::uint32_t) << chains.hash_bits, stream),
              "cudaMemsetAsync");
}

template <std::uint32_t kTileBytes>
void launch_tiled(const ChainInput& chains, Caching caching, cudaStream_t stream) {
  const std::uint32_t positions = hashed_positions(chains);
  const auto kernel = caching == Caching::kHinted ? tiled_kernel<kTileBytes, Caching::kHinted>
                                                  : tiled_kernel<kTileBytes, Caching::kDefault>;
  kernel<<<grid_of(positions, kTileBytes), kThreads, 0, stream>>>(chains, positions);
  cuda::check_launch("insertion.tiled");
}

template <std::uint32_t kTileBytes>
int occupancy() {
  int count = 0;
  cuda::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                  &count, tiled_kernel<kTileBytes, Caching::kDefault>, kThreads, 0),
              "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  return count;
}

// Keys and values, each twice, and the sort's own.
struct SortScratch {
  std::size_t array_bytes;
  std::size_t sort_bytes = 0;

  explicit SortScratch(std::uint32_t positions)
      : array_bytes((positions * sizeof(std::uint32_t) + kAlignment - 1) / kAlignment * kAlignment) {
    sort(nullptr, sort_bytes, positions, 32, nullptr, nullptr, nullptr);
  }
  static void sort(void* d_sort, std::size_t& bytes, std::uint32_t positions, unsigned hash_bits,
                   cub::DoubleBuffer<std::uint32_t>* hashes, cub::DoubleBuffer<std::uint32_t>* places,
                   cudaStream_t stream) {
    cub::DoubleBuffer<std::uint32_t> none_hashes, none_places;
    cuda::check(cub::DeviceRadixSort::SortPairs(d_sort, bytes, hashes != nullptr ? *hashes : none_hashes,
                                                places != nullptr ? *places : none_places, positions, 0,
                                                static_cast<int>(hash_bits), stream),
                "cub::DeviceRadixSort::SortPairs");
  }
};

}  // namespace

void insert_directly(const ChainInput& chains, Caching caching, cudaStream_t stream) {
  clear_heads(chains, stream);
  const std::uint32_t positions = hashed_positions(chains);
  if (positions == 0) return;
  const auto kernel =
      caching == Caching::kHinted ? direct_kernel<Caching::kHinted> : direct_kernel<Caching::kDefault>;
  kernel<<<grid_of(positions, kThreads), kThreads, 0, stream>>>(chains, positions);
  cuda::check_launch("insertion.direct");
}

void insert_in_tiles(const ChainInput& chains, std::uint32_t tile_bytes, Caching caching,
                     cudaStream_t stream) {
  clear_heads(chains, stream);
  if (hashed_positions(chains) == 0) return;
  switch (tile_bytes) {
    case 1024:
      return launch_tiled<1024>(chains, caching, stream);
    case 2048:
      return launch_tiled<2048>(chains, caching, stream);
    case 4096:
      return launch_tiled<4096>(chains, caching, stream);
    default:
      return launch_tiled<6144>(chains, caching, stream);
  }
}

int tiles_a_multiprocessor(std::uint32_t tile_bytes) {
  switch (tile_bytes) {
    case 1024:
      return occupancy<1024>();
    case 2048:
      return occupancy<2048>();
    case 4096:
      return occupancy<4096>();
    default:
      return occupancy<6144>();
  }
}

std::size_t exact_links_scratch_bytes(const ChainInput& chains) {
  const SortScratch scratch(hashed_positions(chains));
  return 4 * scratch.array_bytes + scratch.sort_bytes;
}

void exact_links(const ChainInput& chains, void* d_scratch, std::size_t scratch_bytes, cudaStream_t stream) {
  const std::uint32_t positions = hashed_positions(chains);
  if (positions == 0) return;
  const SortScratch scratch(positions);
  auto* const d_bytes = static_cast<std::byte*>(d_scratch);
  const auto array = [&](std::size_t i) {
    return reinterpret_cast<std::uint32_t*>(d_bytes + i * scratch.array_bytes);
  };
  hash_kernel<<<grid_of(positions, kThreads), kThreads, 0, stream>>>(chains, positions, array(0), array(2));
  cuda::check_launch("insertion.hash");
  cub::DoubleBuffer<std::uint32_t> hashes(array(0), array(1)), places(array(2), array(3));
  std::size_t sort_bytes = scratch_bytes - 4 * scratch.array_bytes;
  SortScratch::sort(d_bytes + 4 * scratch.array_bytes, sort_bytes, positions, chains.hash_bits, &hashes,
                    &places, stream);
  link_kernel<<<grid_of(positions, kThreads), kThreads, 0, stream>>>(chains, positions, hashes.Current(),
                                                                     places.Current());
  cuda::check_launch("insertion.link");
}

void judge_links(const ChainInput& chains, const std::uint32_t* d_exact, LinkOrder* d_order,
                 cudaStream_t stream) {
  const std::uint32_t positions = hashed_positions(chains);
  if (positions == 0) return;
  judge_kernel<<<grid_of(positions, kThreads), kThreads, 0, stream>>>(chains, positions, d_exact, d_order);
  cuda::check_launch("insertion.judge");
}

void walk_chains(const ChainInput& chains, std::uint32_t depth, std::uint32_t window, MatchRecord* d_records,
                 cudaStream_t stream) {
  if (chains.bytes == 0) return;
  walk_kernel<<<grid_of(chains.bytes, kThreads), kThreads, 0, stream>>>(chains, hashed_positions(chains),
                                                                        depth, window, d_records);
  cuda::check_launch("insertion.walk");
}

}  // namespace hemstitch::bench
