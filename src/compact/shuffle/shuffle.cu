// shuffle and unshuffle in tiles of 16 KB through shared memory.
//
// Passes. shuffle.count_tiles says how many tiles each buffer has, a scan (scan_cuda.hpp) which are whose, and shuffle.move_tiles gives
// every thread block an equal run of them: work is divided by bytes, however they are cut into buffers.
//
// Mapping. A tile's bytes lie in two ways: as elements, one run of global memory, and as planes, a run for each. In shared memory they
// lie as planes: row p holds the tile's bytes of plane p, beginning at the same place of 16 as they do in global memory. So words
// of 16 bytes of planes are copied as they are. For elements, each thread splits aligned words of 16 bytes into bytes, or assembles
// them from bytes (of aligned elements of 8 and 16 bytes, four at a time). Neighbouring threads have neighbouring words there, so
// their bytes of one plane are close together: with elements of 4 bytes or more, no two threads use the same bank. Any alignment of buffers
// costs the same. Words that reach out of a tile are read and stored by single bytes, so nothing outside a buffer is touched.
//
// Shared memory: 16 KB and 16 bytes a plane. Synchronisation: __syncthreads twice a tile. Complexity: the bytes once each way.
// CPU twin: shuffle_cpu.cpp.
#include "compact/pieces/piece_words.hpp"
#include "compact/scan/scan_cuda.hpp"
#include "compact/shuffle/shuffle.hpp"
#include "compact/shuffle/shuffle_cuda.hpp"
#include "gpu/cuda/kernel_trace.hpp"
#include "gpu/cuda/launch.hpp"
#include "gpu/cuda/scratch.hpp"
#include "gpu/cuda/warp.cuh"

namespace hemstitch::cuda {
namespace {

enum class Direction { kShuffle, kUnshuffle };

// Elements of a size that the compiler knows are split without a division. 0: only the launch knows the size.
constexpr std::uint32_t kAnyElementBytes = 0;

// 16 bytes of a row are for its alignment.
constexpr std::uint32_t row_bytes(std::uint32_t element_bytes) {
  return shuffle_tile_elements(element_bytes) + kPieceWordBytes;
}
constexpr std::uint32_t kMostRowsBytes = kMostElementBytes * row_bytes(kMostElementBytes);
constexpr std::uint32_t rows_bytes(std::uint32_t element_bytes) {
  return element_bytes == kAnyElementBytes ? kMostRowsBytes : element_bytes * row_bytes(element_bytes);
}
// Words that a thread moves: of rows, and of elements at any alignment.
constexpr unsigned kWordsPerThread = kMostRowsBytes / kPieceWordBytes / kShuffleThreads;
static_assert(kWordsPerThread * kShuffleThreads * kPieceWordBytes == kMostRowsBytes);
static_assert(kShuffleTileBytes + kPieceWordBytes <= kMostRowsBytes);

struct TileList {
  const std::uint64_t* d_first_tiles;  // of each buffer; the last is the total
  ShuffleBatch batch;
};

__device__ std::uint32_t tile_count(std::uint64_t bytes, std::uint32_t element_bytes) {
  const std::uint64_t elements = bytes / element_bytes, each = shuffle_tile_elements(element_bytes);
  return elements == 0 ? static_cast<std::uint32_t>(bytes != 0)
                       : static_cast<std::uint32_t>((elements + each - 1) / each);
}

__global__ void __launch_bounds__(kShuffleThreads)
    count_tiles(const ShuffleBatch batch, std::uint32_t* d_tile_counts) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kShuffleThreads + threadIdx.x;
  if (i < batch.count) d_tile_counts[i] = tile_count(batch.d_sizes[i], batch.element_bytes);
}

// The buffer that a tile belongs to: the last one that begins at or before it.
__device__ std::uint64_t buffer_of(const TileList& list, std::uint64_t tile) {
  const unsigned lane = threadIdx.x % 32;
  std::uint64_t first = 0, beyond = list.batch.count;
  while (beyond - first > 1) {
    const std::uint64_t step = (beyond - first + 31) / 32;
    const std::uint64_t probe = first + lane * step;
    const bool before = probe < beyond && list.d_first_tiles[probe] <= tile;
    first += (__popc(__ballot_sync(kAllLanes, before)) - 1) * step;  // buffer `first` does: at least one lane
    beyond = min(beyond, first + step);
  }
  return first;
}

// Bytes [begin, end) of memory.
struct Run {
  std::uintptr_t begin;
  std::uintptr_t end;
  // The aligned word number `number` of it.
  __device__ std::uintptr_t word(std::uint32_t number) const {
    return begin / kPieceWordBytes * kPieceWordBytes + std::uintptr_t{number} * kPieceWordBytes;
  }
};

// A bit for each byte of the word at `address` that is the run's.
__device__ std::uint32_t mask_of(const Run& run, std::uintptr_t address) {
  if (address >= run.end) return 0;
  const std::uint32_t from = address >= run.begin ? 0 : static_cast<std::uint32_t>(run.begin - address);
  const std::uint32_t to =
      run.end - address >= kPieceWordBytes ? kPieceWordBytes : static_cast<std::uint32_t>(run.end - address);
  return ((1u << to) - 1) & (kWholeWordMask << from);
}

__device__ PieceWord load_masked(std::uintptr_t address, std::uint32_t mask) {
  if (mask == kWholeWordMask) return load_source(reinterpret_cast<const PieceWord*>(address));
  PieceWord word{};
  for (unsigned i = 0; i < kPieceWordBytes; ++i)
    if (mask >> i & 1)
      word.part[i / 4] |= std::uint32_t{load_source(reinterpret_cast<const std::uint8_t*>(address + i))}
                          << (i % 4 * 8);
  return word;
}

struct Tile {
  std::uintptr_t elements;    // the first one
  std::uintptr_t planes;      // the first one's byte in plane 0
  std::uint64_t plane_bytes;  // from a plane to the next
  std::uint32_t count;        // of elements
  std::uint32_t element_bytes;

  __device__ Run element_run() const { return {elements, elements + std::uintptr_t{count} * element_bytes}; }
  __device__ Run plane_run(std::uint32_t plane) const {
    const std::uintptr_t begin = planes + plane * plane_bytes;
    return {begin, begin + count};
  }
  // Where plane p's bytes begin in shared memory.
  __device__ std::uint32_t row(std::uint32_t plane) const {
    const std::uint32_t address =
        static_cast<std::uint32_t>(planes) + plane * static_cast<std::uint32_t>(plane_bytes);
    return plane * row_bytes(element_bytes) + address % kPieceWordBytes;
  }
};

// Calls visit(byte, its place in shared memory) for the 16 bytes of word `number` of the elements. The places of bytes that belong
// to no element mean nothing.
template <std::uint32_t kElementBytes, class Visit>
__device__ void visit_bytes(const Tile& tile, std::uint32_t number, const Visit& visit) {
  const auto lead = static_cast<std::int32_t>(tile.elements % kPieceWordBytes);
  if constexpr (kElementBytes != kAnyElementBytes) {
    // Bytes of one plane are an element apart, in the word and in the row.
    constexpr auto kSize = static_cast<std::int32_t>(kElementBytes);
    static_assert(16 % kSize == 0);
#pragma unroll
    for (std::int32_t first = 0; first < kSize; ++first) {
      const std::uint32_t plane = static_cast<std::uint32_t>(first - lead) % kElementBytes;
      // Rounds down, also below 0.
      const std::int32_t element =
          static_cast<std::int32_t>(number) * (16 / kSize) + (first - lead + 16) / kSize - 16 / kSize;
      const std::uint32_t place = tile.row(plane) + static_cast<std::uint32_t>(element);
#pragma unroll
      for (std::int32_t i = 0; i < 16 / kSize; ++i)
        visit(static_cast<unsigned>(first + i * kSize), place + static_cast<std::uint32_t>(i));
    }
  } else {
    const std::uint32_t from =
        number * kPieceWordBytes + 16 * tile.element_bytes - static_cast<std::uint32_t>(lead);
    std::uint32_t element = from / tile.element_bytes - 16, plane = from % tile.element_bytes;
#pragma unroll
    for (unsigned i = 0; i < kPieceWordBytes; ++i) {
      visit(i, tile.row(plane) + element);
      const bool last = ++plane == tile.element_bytes;
      plane = last ? 0 : plane;
      element += last;
    }
  }
}

// A thread moves four elements of 8 or 16 bytes side by side where no word is cut: 16 bytes of them are 4 bytes each of 4
// neighbouring planes. So a row is read or written 4 bytes at a time, with a quarter of the instructions that single bytes take.
constexpr std::uint32_t kGroupElements = 4;
constexpr bool can_be_grouped(std::uint32_t element_bytes) {
  return element_bytes == 8 || element_bytes == 16;
}
__device__ bool is_grouped(const Tile& tile) {
  return tile.elements % kPieceWordBytes == 0 && tile.planes % kGroupElements == 0 &&
         tile.plane_bytes % kGroupElements == 0 && tile.count % kGroupElements == 0;
}

// Transposes a square of bytes whose rows are four words.
__device__ void turn(std::uint32_t (&rows)[4]) {
  const std::uint32_t low_01 = __byte_perm(rows[0], rows[1], 0x5140),
                      high_01 = __byte_perm(rows[0], rows[1], 0x7362);
  const std::uint32_t low_23 = __byte_perm(rows[2], rows[3], 0x5140),
                      high_23 = __byte_perm(rows[2], rows[3], 0x7362);
  rows[0] = __byte_perm(low_01, low_23, 0x5410);
  rows[1] = __byte_perm(low_01, low_23, 0x7632);
  rows[2] = __byte_perm(high_01, high_23, 0x5410);
  rows[3] = __byte_perm(high_01, high_23, 0x7632);
}

// A thread's groups, and what a group consists of.
template <std::uint32_t kElementBytes>
struct Groups {
  static constexpr unsigned kWords = kElementBytes * kGroupElements / kPieceWordBytes;
  static constexpr unsigned kPerThread = kShuffleTileBytes / kElementBytes / kGroupElements / kShuffleThreads;
  static_assert(kPerThread * kShuffleThreads * kGroupElements * kElementBytes == kShuffleTileBytes);

  // Part `part` of element `element` of a group, 4 bytes each.
  __device__ static std::uint32_t& part_of(PieceWord (&words)[kWords], unsigned element, unsigned part) {
    const unsigned at = element * (kElementBytes / 4) + part;
    return words[at / 4].part[at % 4];
  }
};

template <std::uint32_t kElementBytes>
__device__ void groups_to_rows(const Tile& tile, std::uint8_t* sh_bytes) {
  using Of = Groups<kElementBytes>;
  // Not unrolled: other thread blocks have loads in flight meanwhile.
#pragma unroll 1
  for (unsigned i = 0; i < Of::kPerThread; ++i) {
    const std::uint32_t group = i * kShuffleThreads + threadIdx.x;
    if (group * kGroupElements >= tile.count) break;
    const auto* const from = reinterpret_cast<const PieceWord*>(tile.elements) + group * Of::kWords;
    PieceWord words[Of::kWords];
#pragma unroll
    for (unsigned w = 0; w < Of::kWords; ++w) words[w] = load_source(from + w);
#pragma unroll
    for (unsigned part = 0; part < kElementBytes / 4; ++part) {
      std::uint32_t square[4];
#pragma unroll
      for (unsigned e = 0; e < 4; ++e) square[e] = Of::part_of(words, e, part);
      turn(square);
#pragma unroll
      for (unsigned p = 0; p < 4; ++p)
        *reinterpret_cast<std::uint32_t*>(sh_bytes + tile.row(part * 4 + p) + group * kGroupElements) =
            square[p];
    }
  }
}

template <std::uint32_t kElementBytes>
__device__ void rows_to_groups(const Tile& tile, const std::uint8_t* sh_bytes) {
  using Of = Groups<kElementBytes>;
#pragma unroll 1
  for (unsigned i = 0; i < Of::kPerThread; ++i) {
    const std::uint32_t group = i * kShuffleThreads + threadIdx.x;
    if (group * kGroupElements >= tile.count) break;
    PieceWord words[Of::kWords];
#pragma unroll
    for (unsigned part = 0; part < kElementBytes / 4; ++part) {
      std::uint32_t square[4];
#pragma unroll
      for (unsigned p = 0; p < 4; ++p)
        square[p] = *reinterpret_cast<const std::uint32_t*>(sh_bytes + tile.row(part * 4 + p) +
                                                            group * kGroupElements);
      turn(square);
#pragma unroll
      for (unsigned e = 0; e < 4; ++e) Of::part_of(words, e, part) = square[e];
    }
    auto* const to = reinterpret_cast<std::byte*>(tile.elements) + group * Of::kWords * kPieceWordBytes;
#pragma unroll
    for (unsigned w = 0; w < Of::kWords; ++w)
      store_word(to + w * kPieceWordBytes, {words[w], kWholeWordMask});
  }
}

template <std::uint32_t kElementBytes>
__device__ void words_to_rows(const Tile& tile, std::uint8_t* sh_bytes) {
  const Run elements = tile.element_run();
  PieceWord words[kWordsPerThread];
#pragma unroll
  for (unsigned i = 0; i < kWordsPerThread; ++i) {
    const std::uintptr_t address = elements.word(i * kShuffleThreads + threadIdx.x);
    words[i] = load_masked(address, mask_of(elements, address));
  }
#pragma unroll
  for (unsigned i = 0; i < kWordsPerThread; ++i) {
    const std::uint32_t number = i * kShuffleThreads + threadIdx.x;
    const std::uint32_t mask = mask_of(elements, elements.word(number));
    if (mask == 0) continue;
    visit_bytes<kElementBytes>(tile, number, [&](unsigned byte, std::uint32_t place) {
      if (mask >> byte & 1)
        sh_bytes[place] = static_cast<std::uint8_t>(words[i].part[byte / 4] >> (byte % 4 * 8));
    });
  }
}

template <std::uint32_t kElementBytes>
__device__ void shuffle_tile(const Tile& tile, PieceWord* sh_rows) {
  auto* const sh_bytes = reinterpret_cast<std::uint8_t*>(sh_rows);
  bool is_done = false;
  if constexpr (can_be_grouped(kElementBytes)) {
    is_done = is_grouped(tile);
    if (is_done) groups_to_rows<kElementBytes>(tile, sh_bytes);
  }
  if (!is_done) words_to_rows<kElementBytes>(tile, sh_bytes);
  __syncthreads();
  const std::uint32_t words_per_row = row_bytes(tile.element_bytes) / kPieceWordBytes;
#pragma unroll
  for (unsigned i = 0; i < kWordsPerThread; ++i) {
    const std::uint32_t number = i * kShuffleThreads + threadIdx.x;
    if (number >= tile.element_bytes * words_per_row) break;
    const Run plane = tile.plane_run(number / words_per_row);
    const std::uintptr_t address = plane.word(number % words_per_row);
    const std::uint32_t mask = mask_of(plane, address);
    if (mask != 0) store_word(reinterpret_cast<std::byte*>(address), {sh_rows[number], mask});
  }
}

template <std::uint32_t kElementBytes>
__device__ void unshuffle_tile(const Tile& tile, PieceWord* sh_rows) {
  const auto* const sh_bytes = reinterpret_cast<const std::uint8_t*>(sh_rows);
  const std::uint32_t words_per_row = row_bytes(tile.element_bytes) / kPieceWordBytes;
  PieceWord words[kWordsPerThread];
#pragma unroll
  for (unsigned i = 0; i < kWordsPerThread; ++i) {
    const std::uint32_t number = i * kShuffleThreads + threadIdx.x;
    const Run plane = tile.plane_run(number / words_per_row);
    const std::uintptr_t address = plane.word(number % words_per_row);
    words[i] =
        load_masked(address, number < tile.element_bytes * words_per_row ? mask_of(plane, address) : 0);
  }
#pragma unroll
  for (unsigned i = 0; i < kWordsPerThread; ++i) {
    const std::uint32_t number = i * kShuffleThreads + threadIdx.x;
    if (number < tile.element_bytes * words_per_row) sh_rows[number] = words[i];
  }
  __syncthreads();
  if constexpr (can_be_grouped(kElementBytes)) {
    if (is_grouped(tile)) return rows_to_groups<kElementBytes>(tile, sh_bytes);
  }
  const Run elements = tile.element_run();
#pragma unroll
  for (unsigned i = 0; i < kWordsPerThread; ++i) {
    const std::uint32_t number = i * kShuffleThreads + threadIdx.x;
    const std::uintptr_t address = elements.word(number);
    MaskedWord made{{}, mask_of(elements, address)};
    if (made.mask == 0) break;
    visit_bytes<kElementBytes>(tile, number, [&](unsigned byte, std::uint32_t place) {
      if (made.mask >> byte & 1)
        made.bytes.part[byte / 4] |= std::uint32_t{sh_bytes[place]} << (byte % 4 * 8);
    });
    store_word(reinterpret_cast<std::byte*>(address), made);
  }
}

template <std::uint32_t kElementBytes, Direction kDirection>
__global__ void __launch_bounds__(kShuffleThreads, kElementBytes == kAnyElementBytes ? 3 : 4)
    move_tiles(const TileList list) {
  __shared__ PieceWord sh_rows[rows_bytes(kElementBytes) / kPieceWordBytes];
  const std::uint32_t element_bytes =
      kElementBytes == kAnyElementBytes ? list.batch.element_bytes : kElementBytes;
  const std::uint32_t most_elements = shuffle_tile_elements(element_bytes);
  const std::uint64_t total = list.d_first_tiles[list.batch.count];
  const std::uint64_t share = (total + gridDim.x - 1) / gridDim.x;
  const std::uint64_t first = blockIdx.x * share, end = min(first + share, total);

  std::uint64_t buffer = 0, buffer_first = 0, buffer_end = 0;
  for (std::uint64_t tile = first; tile < end; ++tile) {
    if (tile >= buffer_end) {
      buffer = buffer_of(list, tile);
      buffer_first = list.d_first_tiles[buffer];
      buffer_end = list.d_first_tiles[buffer + 1];
      if (threadIdx.x == 0) trace_mark(kTraceShuffleBuffer, static_cast<std::uint32_t>(buffer));
    }
    const std::byte* const source = list.batch.d_sources[buffer];
    std::byte* const target = list.batch.d_targets[buffer];
    const std::uint64_t bytes = list.batch.d_sizes[buffer], elements = bytes / element_bytes;
    const std::uint64_t first_element = (tile - buffer_first) * most_elements;
    const auto from = reinterpret_cast<std::uintptr_t>(source), to = reinterpret_cast<std::uintptr_t>(target);
    const bool forth = kDirection == Direction::kShuffle;
    const Tile work{(forth ? from : to) + first_element * element_bytes, (forth ? to : from) + first_element,
                    elements,
                    static_cast<std::uint32_t>(min(elements - first_element, std::uint64_t{most_elements})),
                    element_bytes};
    if constexpr (kDirection == Direction::kShuffle)
      shuffle_tile<kElementBytes>(work, sh_rows);
    else
      unshuffle_tile<kElementBytes>(work, sh_rows);
    if (tile + 1 == buffer_end && threadIdx.x < bytes - elements * element_bytes) {
      const std::uint64_t at = elements * element_bytes + threadIdx.x;
      target[at] = source[at];
    }
    __syncthreads();  // before the rows are written anew
  }
}

constexpr KernelBudget kCountTilesBudget("shuffle.count_tiles", "count_tiles",
                                         {.threads = kShuffleThreads, .registers = 32, .shared_bytes = 0});
const KernelRegistration kCountTilesRegistration(kCountTilesBudget, count_tiles);
constexpr KernelBudget kMoveTilesBudget("shuffle.move_tiles", "move_tiles",
                                        {.threads = kShuffleThreads,
                                         .registers = 80,
                                         .shared_bytes = kMostRowsBytes});
const KernelRegistration kMoveTilesRegistration(kMoveTilesBudget, move_tiles<4, Direction::kUnshuffle>);

struct Scratch {
  std::uint32_t* d_tile_counts;
  std::uint64_t* d_first_tiles;
  std::byte* d_scan;
  std::size_t scan_bytes;
  std::size_t bytes;
};
Scratch carve(std::uint64_t count, void* d_scratch) {
  Carver carver(d_scratch);
  Scratch scratch{};
  scratch.d_tile_counts = carver.take<std::uint32_t>(count);
  scratch.d_first_tiles = carver.take<std::uint64_t>(count + 1);
  scratch.scan_bytes = scan_sizes_cuda_scratch_bytes(count);
  scratch.d_scan = carver.take<std::byte>(scratch.scan_bytes);
  scratch.bytes = carver.bytes();
  return scratch;
}

template <Direction kDirection>
auto* kernel_for(std::uint32_t element_bytes) {
  switch (element_bytes) {
    case 2:
      return move_tiles<2, kDirection>;
    case 4:
      return move_tiles<4, kDirection>;
    case 8:
      return move_tiles<8, kDirection>;
    case 16:
      return move_tiles<16, kDirection>;
    default:
      return move_tiles<kAnyElementBytes, kDirection>;
  }
}

template <Direction kDirection>
void move_bytes(const char* function, const ShuffleBatch& batch, void* d_scratch, std::size_t scratch_bytes,
                cudaStream_t stream) {
  check_element_bytes(batch.element_bytes);
  check_scratch(function, shuffle_cuda_scratch_bytes(batch.count), d_scratch, scratch_bytes);
  if (batch.count == 0) return;
  const Scratch scratch = carve(batch.count, d_scratch);
  launch({.kernel = kCountTilesBudget,
          .grid = static_cast<unsigned>((batch.count + kShuffleThreads - 1) / kShuffleThreads),
          .stream = stream},
         count_tiles, batch, scratch.d_tile_counts);
  scan_sizes_cuda(scratch.d_tile_counts, batch.count, scratch.d_first_tiles, scratch.d_scan,
                  scratch.scan_bytes, stream);
  launch({.kernel = kMoveTilesBudget, .grid = kShuffleBlocks, .stream = stream},
         kernel_for<kDirection>(batch.element_bytes), TileList{scratch.d_first_tiles, batch});
}

}  // namespace

std::size_t shuffle_cuda_scratch_bytes(std::uint64_t count) { return carve(count, nullptr).bytes; }

void shuffle_cuda(const ShuffleBatch& batch, void* d_scratch, std::size_t scratch_bytes,
                  cudaStream_t stream) {
  move_bytes<Direction::kShuffle>("shuffle", batch, d_scratch, scratch_bytes, stream);
}

void unshuffle_cuda(const ShuffleBatch& batch, void* d_scratch, std::size_t scratch_bytes,
                    cudaStream_t stream) {
  move_bytes<Direction::kUnshuffle>("unshuffle", batch, d_scratch, scratch_bytes, stream);
}

}  // namespace hemstitch::cuda
