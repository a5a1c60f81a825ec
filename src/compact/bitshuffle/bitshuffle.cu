// bitshuffle and bitunshuffle in tiles of 8 KB through shared memory.
//
// Passes. bitshuffle.count_tiles says how many tiles each buffer has, a scan (scan_cuda.hpp) which are whose, and
// bitshuffle.move_tiles gives every thread block an equal run of them: work is divided by bytes, however they are cut into buffers
// and blocks.
//
// A tile is a part of one block, or some whole blocks; its elements are one run of global memory. A group is 8 elements: one byte
// of each plane. In shared memory a tile lies as planes: row p has its bytes of plane p. The distance of rows is that of planes
// in global memory, modulo 16, so words of 16 bytes are copied as they are. Whole blocks lie as they do in global memory.
//
// Mapping. Byte k of a group's elements is a square of 8 by 8 bits. A thread has four squares, 32 bytes: it transposes each in two
// registers (Hacker's Delight, transpose8), after which their bytes belong to 8 planes, and puts these in the rows. Lanes have
// neighbouring groups, so the 32 bytes that they put in a row at once are neighbours. Elements of 1, 2 and 4 bytes are
// loaded 32 bytes at once. Of elements of 8 and 16 bytes a thread has 4 bytes of each of 8, which it takes from shared memory,
// where a group is followed by 16 bytes of nothing so that lanes use different banks. Of other elements, and at any other
// alignment, the bytes of squares are taken one by one from shared memory. Words that reach out of a tile are read and stored by
// single bytes, so nothing outside a buffer is touched.
//
// Shared memory: 8 KB and 120 bytes for each byte of an element as planes, and up to 10 KB as elements. Synchronisation: up to three
// __syncthreads a tile. Complexity: the bytes once each way. CPU twin: bitshuffle_reference.cpp.
#include "compact/bitshuffle/bitshuffle.hpp"
#include "compact/bitshuffle/bitshuffle_cuda.hpp"
#include "compact/bitshuffle/bitshuffle_tuning.hpp"
#include "compact/pieces/piece_words.hpp"
#include "compact/scan/scan_cuda.hpp"
#include "gpu/cuda/cuda_error.hpp"
#include "gpu/cuda/launch.hpp"
#include "gpu/cuda/scratch.hpp"
#include "gpu/cuda/warp.cuh"

namespace hemstitch::cuda {
namespace {

enum class Direction { kShuffle, kUnshuffle };

// 0: only the launch knows the size.
constexpr std::uint32_t kAnyElementBytes = 0;

constexpr std::uint32_t kGroupElements = kBitshuffleElements;
constexpr std::uint32_t kPlanesOfByte = 8;
static_assert(kGroupElements == 8 && kPlanesOfByte == 8, "squares of 64 bits");

// Groups of a tile: of the largest elements four.
__host__ __device__ constexpr std::uint32_t tile_groups(std::uint32_t element_bytes) {
  return kBitshuffleTileBytes / (kGroupElements * element_bytes) / 4 * 4;
}
static_assert(tile_groups(kMostElementBytes) == 4);

// Rows may be 15 bytes further apart than they are long, and begin 15 bytes late.
constexpr std::uint32_t rows_bytes(std::uint32_t element_bytes) {
  const std::uint32_t size = element_bytes == kAnyElementBytes ? kMostElementBytes : element_bytes;
  return kBitshuffleTileBytes + kPlanesOfByte * size * (kPieceWordBytes - 1) + kPieceWordBytes;
}

// A thread's share of a tile: four squares.
constexpr std::uint32_t kSquares = 4;
constexpr std::uint32_t kUnitBytes = kSquares * kGroupElements;
constexpr bool is_staged(std::uint32_t element_bytes) { return element_bytes > kSquares; }
// What follows a group of staged elements.
constexpr std::uint32_t kPadBytes = kPieceWordBytes;
constexpr std::uint32_t elements_bytes(std::uint32_t element_bytes) {
  const bool is_padded = is_staged(element_bytes);
  return kBitshuffleTileBytes + (is_padded ? tile_groups(element_bytes) : 1) * kPadBytes;
}
static_assert(rows_bytes(kAnyElementBytes) + elements_bytes(kAnyElementBytes) <= 48 * 1024,
              "static shared memory");

// How a buffer is cut. Groups that fill no block are one more block, a shorter one.
struct Cut {
  std::uint64_t block_groups;
  std::uint64_t whole_blocks;
  std::uint64_t last_groups;
  std::uint32_t tile_groups;
  std::uint32_t tile_blocks;  // whole blocks of a tile; 0: a block has several tiles
  std::uint32_t block_tiles;  // of a whole block, where it has several
  std::uint32_t whole_tiles;  // of all whole blocks

  __device__ Cut(std::uint64_t bytes, std::uint32_t element_bytes, std::uint64_t block_bytes) {
    const std::uint32_t group_bytes = kGroupElements * element_bytes;
    const std::uint64_t groups = bytes / group_bytes;
    block_groups = block_bytes == 0 ? max(groups, std::uint64_t{1}) : block_bytes / group_bytes;
    whole_blocks = groups / block_groups;
    last_groups = groups - whole_blocks * block_groups;
    tile_groups = cuda::tile_groups(element_bytes);
    tile_blocks = block_groups <= tile_groups ? tile_groups / static_cast<std::uint32_t>(block_groups) : 0;
    block_tiles = tile_blocks != 0 ? 0 : tiles_of(block_groups);
    whole_tiles = tile_blocks != 0
                      ? static_cast<std::uint32_t>((whole_blocks + tile_blocks - 1) / tile_blocks)
                      : static_cast<std::uint32_t>(whole_blocks) * block_tiles;
  }
  __device__ std::uint32_t tiles_of(std::uint64_t groups) const {
    return static_cast<std::uint32_t>((groups + tile_groups - 1) / tile_groups);
  }
  __device__ std::uint32_t tiles() const { return whole_tiles + tiles_of(last_groups); }
};

struct TileList {
  const std::uint64_t* d_first_tiles;  // of each buffer; the last is the total
  BitshuffleBatch batch;
};

__global__ void __launch_bounds__(kBitshuffleThreads)
    count_tiles(const BitshuffleBatch batch, std::uint32_t* d_tile_counts) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kBitshuffleThreads + threadIdx.x;
  if (i >= batch.count) return;
  // A buffer without a group may have bytes to copy.
  const std::uint32_t tiles = Cut(batch.d_sizes[i], batch.element_bytes, batch.block_bytes).tiles();
  d_tile_counts[i] = tiles != 0 ? tiles : static_cast<std::uint32_t>(batch.d_sizes[i] != 0);
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

// Rows of bytes in global memory, and where they are in shared memory: each at the same place of 16 there.
struct Rows {
  std::uintptr_t begin;
  std::uint64_t step;         // from a row to the next in global memory
  std::uint32_t shared_step;  // and in shared memory
  std::uint32_t count;
  std::uint32_t bytes;  // of a row

  __device__ std::uint32_t shared_begin() const {
    return static_cast<std::uint32_t>(begin) % kPieceWordBytes;
  }
};

// Calls visit(address of an aligned word, a bit for each of its bytes that is a row's, the word's number in shared memory) for
// the words of all rows, which all threads share.
template <class Visit>
__device__ void for_each_word(const Rows& rows, const Visit& visit) {
  if (rows.bytes == 0) return;
  const bool is_aligned = (rows.begin | (rows.count > 1 ? rows.step : 0)) % kPieceWordBytes == 0;
  // A row's words, to a power of two.
  const std::uint32_t words = (rows.bytes + (is_aligned ? 15 : 30)) / kPieceWordBytes;
  const auto shift = static_cast<unsigned>(32 - __clz(words - 1));
  for (std::uint32_t i = threadIdx.x; i < rows.count << shift; i += kBitshuffleThreads) {
    const std::uint32_t row = i >> shift, word = i - (row << shift);
    const std::uintptr_t begin = rows.begin + row * rows.step, end = begin + rows.bytes;
    const std::uintptr_t address = begin / kPieceWordBytes * kPieceWordBytes + word * kPieceWordBytes;
    if (address >= end) continue;
    const std::uint32_t from = address >= begin ? 0 : static_cast<std::uint32_t>(begin - address);
    const std::uint32_t to =
        end - address >= kPieceWordBytes ? kPieceWordBytes : static_cast<std::uint32_t>(end - address);
    visit(address, ((1u << to) - 1) & (kWholeWordMask << from),
          (rows.shared_begin() + row * rows.shared_step) / kPieceWordBytes + word);
  }
}

// Bytes of a word alone: the others may be those of the next row.
__device__ void load_rows(const Rows& rows, PieceWord* sh_words) {
  for_each_word(rows, [&](std::uintptr_t address, std::uint32_t mask, std::uint32_t word) {
    if (mask == kWholeWordMask) {
      sh_words[word] = load_source(reinterpret_cast<const PieceWord*>(address));
      return;
    }
    auto* const sh_bytes = reinterpret_cast<std::uint8_t*>(sh_words + word);
    for (unsigned i = 0; i < kPieceWordBytes; ++i)
      if (mask >> i & 1) sh_bytes[i] = load_source(reinterpret_cast<const std::uint8_t*>(address + i));
  });
}

__device__ void store_rows(const Rows& rows, const PieceWord* sh_words) {
  for_each_word(rows, [&](std::uintptr_t address, std::uint32_t mask, std::uint32_t word) {
    store_word(reinterpret_cast<std::byte*>(address), {sh_words[word], mask});
  });
}

struct Tile {
  std::uintptr_t elements;    // the first one
  std::uintptr_t planes;      // the first group's byte of plane 0
  std::uint64_t plane_bytes;  // from a plane to the next
  std::uint32_t groups;
  std::uint32_t block_groups;  // of each of its blocks; at least `groups` if it is in one
  std::uint32_t element_bytes;
  std::uint32_t row_step;  // from a row to the next in shared memory

  // Tile number `number` of a buffer.
  __device__ Tile(const Cut& cut, std::uint32_t number, std::uintptr_t elements_begin,
                  std::uintptr_t planes_begin, std::uint32_t size)
      : element_bytes(size) {
    const std::uint32_t group_bytes = kGroupElements * size;
    std::uint64_t block = 0;
    std::uint32_t first = 0;  // group in the block
    if (number >= cut.whole_tiles) {
      block = cut.whole_blocks;
      first = (number - cut.whole_tiles) * cut.tile_groups;
      plane_bytes = cut.last_groups;
    } else {
      plane_bytes = cut.block_groups;
      if (cut.tile_blocks != 0) {
        block = std::uint64_t{number} * cut.tile_blocks;
      } else {
        block = number / cut.block_tiles;
        first = (number - static_cast<std::uint32_t>(block) * cut.block_tiles) * cut.tile_groups;
      }
    }
    const bool has_blocks = number < cut.whole_tiles && cut.tile_blocks != 0;
    groups = has_blocks
                 ? static_cast<std::uint32_t>(min(cut.whole_blocks - block, std::uint64_t{cut.tile_blocks}) *
                                              plane_bytes)
                 : static_cast<std::uint32_t>(min(plane_bytes - first, std::uint64_t{cut.tile_groups}));
    block_groups = has_blocks ? static_cast<std::uint32_t>(plane_bytes) : groups;
    row_step = is_whole() ? block_groups
                          : groups + (static_cast<std::uint32_t>(plane_bytes) - groups) % kPieceWordBytes;
    const std::uint64_t block_at = block * cut.block_groups * group_bytes;
    elements = elements_begin + block_at + std::uint64_t{first} * group_bytes;
    planes = planes_begin + block_at + first;
  }

  // Whether it has all groups of its blocks, so that planes are one run as well.
  __device__ bool is_whole() const { return block_groups == plane_bytes; }
  __device__ std::uint32_t bytes() const { return groups * kGroupElements * element_bytes; }
  __device__ Rows element_rows() const { return {elements, 0, 0, 1, bytes()}; }
  __device__ Rows plane_rows() const {
    return is_whole() ? Rows{planes, 0, 0, 1, bytes()}
                      : Rows{planes, plane_bytes, row_step, kPlanesOfByte * element_bytes, groups};
  }
  // Where a group's byte of the first plane of byte k is in shared memory. Those of the next ones follow at distances of row_step.
  __device__ std::uint32_t place(std::uint32_t group, std::uint32_t k) const {
    const std::uint32_t block = groups > block_groups ? group / block_groups : 0;
    return static_cast<std::uint32_t>(planes) % kPieceWordBytes +
           block * (kPlanesOfByte * element_bytes - 1) * block_groups + group + k * kPlanesOfByte * row_step;
  }
};

// 8 bytes of 8 bits.
struct Square {
  std::uint32_t low;
  std::uint32_t high;

  __device__ void transpose() {
    low = swapped(low);
    high = swapped(high);
    const std::uint32_t differing = (low ^ (high << 4)) & 0xF0F0F0F0u;
    low ^= differing;
    high ^= differing >> 4;
  }

 private:
  __device__ static std::uint32_t swapped(std::uint32_t rows) {
    const std::uint32_t single = (rows ^ (rows >> 7)) & 0x00AA00AAu;
    rows ^= single ^ (single << 7);
    const std::uint32_t pairs = (rows ^ (rows >> 14)) & 0x0000CCCCu;
    return rows ^ pairs ^ (pairs << 14);
  }
};

// Bytes `first`, `first + step`, ... of memory as a square, and back.
__device__ Square load_square(const std::uint8_t* first, std::uint32_t step) {
  Square square{0, 0};
#pragma unroll
  for (unsigned i = 0; i < 4; ++i) {
    square.low |= std::uint32_t{first[i * step]} << (8 * i);
    square.high |= std::uint32_t{first[(i + 4) * step]} << (8 * i);
  }
  return square;
}
__device__ void store_square(std::uint8_t* first, std::uint32_t step, const Square& square) {
#pragma unroll
  for (unsigned i = 0; i < 4; ++i) {
    first[i * step] = static_cast<std::uint8_t>(square.low >> (8 * i));
    first[(i + 4) * step] = static_cast<std::uint8_t>(square.high >> (8 * i));
  }
}

// Transposes a square of bytes whose rows are four words.
__device__ void turn(std::uint32_t& row_0, std::uint32_t& row_1, std::uint32_t& row_2, std::uint32_t& row_3) {
  const std::uint32_t low_01 = __byte_perm(row_0, row_1, 0x5140), high_01 = __byte_perm(row_0, row_1, 0x7362);
  const std::uint32_t low_23 = __byte_perm(row_2, row_3, 0x5140), high_23 = __byte_perm(row_2, row_3, 0x7362);
  row_0 = __byte_perm(low_01, low_23, 0x5410);
  row_1 = __byte_perm(low_01, low_23, 0x7632);
  row_2 = __byte_perm(high_01, high_23, 0x5410);
  row_3 = __byte_perm(high_01, high_23, 0x7632);
}

// A thread's four squares, as they are in elements of a size that the compiler knows.
template <std::uint32_t kElementBytes>
struct Unit {
  // Groups of a unit, or units of a group.
  static constexpr std::uint32_t kGroups = kElementBytes < kSquares ? kSquares / kElementBytes : 1;
  static constexpr std::uint32_t kPerGroup = kElementBytes > kSquares ? kElementBytes / kSquares : 1;
  static constexpr std::uint32_t kWords = kUnitBytes / 4;

  // Words as elements have them: 32 bytes of elements, or 4 bytes of 8 elements.
  std::uint32_t words[kWords];

  // Where square j is among the tile's groups and in the element.
  __device__ static std::uint32_t group_of(std::uint32_t unit, std::uint32_t j) {
    return kElementBytes < kSquares ? unit * kGroups + j / kElementBytes : unit / kPerGroup;
  }
  __device__ static std::uint32_t byte_of(std::uint32_t unit, std::uint32_t j) {
    return kElementBytes < kSquares ? j % kElementBytes : unit % kPerGroup * kSquares + j;
  }

  // Afterwards words 2j and 2j + 1 are square j.
  __device__ void to_squares() {
    if constexpr (kElementBytes == 2) {
#pragma unroll
      for (unsigned i = 0; i < kWords; i += 4) {
        const std::uint32_t even_low = __byte_perm(words[i], words[i + 1], 0x6420),
                            odd_low = __byte_perm(words[i], words[i + 1], 0x7531);
        const std::uint32_t even_high = __byte_perm(words[i + 2], words[i + 3], 0x6420),
                            odd_high = __byte_perm(words[i + 2], words[i + 3], 0x7531);
        words[i] = even_low, words[i + 1] = even_high, words[i + 2] = odd_low, words[i + 3] = odd_high;
      }
    } else if constexpr (kElementBytes >= 4) {
      turn(words[0], words[1], words[2], words[3]);
      turn(words[4], words[5], words[6], words[7]);
      const std::uint32_t low_1 = words[1], low_2 = words[2], low_3 = words[3];
      const std::uint32_t high_0 = words[4], high_1 = words[5], high_2 = words[6];
      words[1] = high_0, words[2] = low_1, words[3] = high_1;
      words[4] = low_2, words[5] = high_2, words[6] = low_3;
    }
  }
  // The way back.
  __device__ void from_squares() {
    if constexpr (kElementBytes == 2) {
#pragma unroll
      for (unsigned i = 0; i < kWords; i += 4) {
        const std::uint32_t even_low = words[i], even_high = words[i + 1], odd_low = words[i + 2],
                            odd_high = words[i + 3];
        words[i] = __byte_perm(even_low, odd_low, 0x5140);
        words[i + 1] = __byte_perm(even_low, odd_low, 0x7362);
        words[i + 2] = __byte_perm(even_high, odd_high, 0x5140);
        words[i + 3] = __byte_perm(even_high, odd_high, 0x7362);
      }
    } else if constexpr (kElementBytes >= 4) {
      const std::uint32_t high_0 = words[1], low_1 = words[2], high_1 = words[3];
      const std::uint32_t low_2 = words[4], high_2 = words[5], low_3 = words[6];
      words[1] = low_1, words[2] = low_2, words[3] = low_3;
      words[4] = high_0, words[5] = high_1, words[6] = high_2;
      turn(words[0], words[1], words[2], words[3]);
      turn(words[4], words[5], words[6], words[7]);
    }
  }

  __device__ void squares_to_rows(const Tile& tile, std::uint32_t unit, std::uint8_t* sh_rows) const {
#pragma unroll
    for (unsigned j = 0; j < kSquares; ++j) {
      Square square{words[2 * j], words[2 * j + 1]};
      square.transpose();
      store_square(sh_rows + tile.place(group_of(unit, j), byte_of(unit, j)), tile.row_step, square);
    }
  }
  __device__ void rows_to_squares(const Tile& tile, std::uint32_t unit, const std::uint8_t* sh_rows) {
#pragma unroll
    for (unsigned j = 0; j < kSquares; ++j) {
      Square square = load_square(sh_rows + tile.place(group_of(unit, j), byte_of(unit, j)), tile.row_step);
      square.transpose();
      words[2 * j] = square.low;
      words[2 * j + 1] = square.high;
    }
  }

  // Elements of up to 4 bytes: from and to global memory.
  __device__ void load(const Tile& tile, std::uint32_t unit) {
    const auto* const from = reinterpret_cast<const PieceWord*>(tile.elements) + unit * 2;
#pragma unroll
    for (unsigned i = 0; i < 2; ++i) {
      const PieceWord word = load_source(from + i);
#pragma unroll
      for (unsigned part = 0; part < 4; ++part) words[4 * i + part] = word.part[part];
    }
  }
  __device__ void store(const Tile& tile, std::uint32_t unit) const {
    auto* const to = reinterpret_cast<std::byte*>(tile.elements) + unit * kUnitBytes;
#pragma unroll
    for (unsigned i = 0; i < 2; ++i)
      store_target(to + i * kPieceWordBytes,
                   PieceWord{{words[4 * i], words[4 * i + 1], words[4 * i + 2], words[4 * i + 3]}});
  }

  // Larger ones: from and to shared memory, where groups have a pad behind them.
  __device__ static std::uint32_t staged_word(std::uint32_t word) {
    constexpr std::uint32_t kGroupBytes = kGroupElements * kElementBytes;
    return word + word / (kGroupBytes / kPieceWordBytes) * (kPadBytes / kPieceWordBytes);
  }
  __device__ static std::uint32_t staged_part(std::uint32_t unit, unsigned element) {
    constexpr std::uint32_t kGroupBytes = kGroupElements * kElementBytes;
    return unit / kPerGroup * ((kGroupBytes + kPadBytes) / 4) + element * (kElementBytes / 4) +
           unit % kPerGroup;
  }
  __device__ void load_staged(std::uint32_t unit, const std::uint32_t* sh_parts) {
#pragma unroll
    for (unsigned i = 0; i < kWords; ++i) words[i] = sh_parts[staged_part(unit, i)];
  }
  __device__ void store_staged(std::uint32_t unit, std::uint32_t* sh_parts) const {
#pragma unroll
    for (unsigned i = 0; i < kWords; ++i) sh_parts[staged_part(unit, i)] = words[i];
  }
};

// Whether a tile is moved by units. Otherwise it is by single squares.
template <std::uint32_t kElementBytes>
__device__ bool has_units(const Tile& tile) {
  return tile.elements % kPieceWordBytes == 0 && tile.groups % Unit<kElementBytes>::kGroups == 0;
}

template <std::uint32_t kElementBytes, Direction kDirection>
__device__ void move_units(const Tile& tile, PieceWord* sh_rows, PieceWord* sh_elements) {
  constexpr bool kForth = kDirection == Direction::kShuffle;
  using Of = Unit<kElementBytes>;
  const std::uint32_t words = tile.bytes() / kPieceWordBytes, units = tile.bytes() / kUnitBytes;
  auto* const sh_bytes = reinterpret_cast<std::uint8_t*>(sh_rows);
  auto* const sh_parts = reinterpret_cast<std::uint32_t*>(sh_elements);
  if constexpr (kForth && is_staged(kElementBytes)) {
#pragma unroll
    for (std::uint32_t i = 0; i < kBitshuffleTileBytes / kPieceWordBytes; i += kBitshuffleThreads)
      if (i + threadIdx.x < words)
        sh_elements[Of::staged_word(i + threadIdx.x)] =
            load_source(reinterpret_cast<const PieceWord*>(tile.elements) + i + threadIdx.x);
    __syncthreads();
  }
  static_assert(kBitshuffleTileBytes == kBitshuffleThreads * kUnitBytes, "a unit a thread");
  if (const std::uint32_t number = threadIdx.x; number < units) {
    Of unit;
    if constexpr (kForth) {
      if constexpr (is_staged(kElementBytes))
        unit.load_staged(number, sh_parts);
      else
        unit.load(tile, number);
      unit.to_squares();
      unit.squares_to_rows(tile, number, sh_bytes);
    } else {
      unit.rows_to_squares(tile, number, sh_bytes);
      unit.from_squares();
      if constexpr (is_staged(kElementBytes))
        unit.store_staged(number, sh_parts);
      else
        unit.store(tile, number);
    }
  }
  if constexpr (!kForth && is_staged(kElementBytes)) {
    __syncthreads();
#pragma unroll
    for (std::uint32_t i = 0; i < kBitshuffleTileBytes / kPieceWordBytes; i += kBitshuffleThreads)
      if (i + threadIdx.x < words)
        store_target(
            reinterpret_cast<std::byte*>(tile.elements) + std::size_t{i + threadIdx.x} * kPieceWordBytes,
            sh_elements[Of::staged_word(i + threadIdx.x)]);
  }
}

template <Direction kDirection>
__device__ void move_squares(const Tile& tile, PieceWord* sh_rows, PieceWord* sh_elements) {
  constexpr bool kForth = kDirection == Direction::kShuffle;
  const Rows elements = tile.element_rows();
  auto* const sh_bytes = reinterpret_cast<std::uint8_t*>(sh_rows);
  auto* const sh_element_bytes = reinterpret_cast<std::uint8_t*>(sh_elements) + elements.shared_begin();
  const std::uint32_t size = tile.element_bytes;
  if constexpr (kForth) {
    load_rows(elements, sh_elements);
    __syncthreads();
  }
  for (std::uint32_t i = threadIdx.x; i < tile.groups * size; i += kBitshuffleThreads) {
    const std::uint32_t group = i / size, k = i - group * size;
    std::uint8_t* const row = sh_bytes + tile.place(group, k);
    std::uint8_t* const element = sh_element_bytes + group * kGroupElements * size + k;
    Square square = kForth ? load_square(element, size) : load_square(row, tile.row_step);
    square.transpose();
    if constexpr (kForth)
      store_square(row, tile.row_step, square);
    else
      store_square(element, size, square);
  }
  if constexpr (!kForth) {
    __syncthreads();
    store_rows(elements, sh_elements);
  }
}

template <std::uint32_t kElementBytes, Direction kDirection>
__global__ void __launch_bounds__(kBitshuffleThreads, kElementBytes == kAnyElementBytes ? 4 : 8)
    move_tiles(const TileList list) {
  __shared__ PieceWord sh_rows[rows_bytes(kElementBytes) / kPieceWordBytes];
  __shared__ PieceWord sh_elements[elements_bytes(kElementBytes) / kPieceWordBytes];
  constexpr bool kForth = kDirection == Direction::kShuffle;
  const std::uint32_t element_bytes =
      kElementBytes == kAnyElementBytes ? list.batch.element_bytes : kElementBytes;
  const std::uint64_t total = list.d_first_tiles[list.batch.count];
  const std::uint64_t share = (total + gridDim.x - 1) / gridDim.x;
  const std::uint64_t first = blockIdx.x * share, end = min(first + share, total);

  for (std::uint64_t next = first; next < end;) {
    const std::uint64_t buffer = buffer_of(list, next);
    const std::uint64_t buffer_first = list.d_first_tiles[buffer],
                        buffer_end = list.d_first_tiles[buffer + 1];
    const std::byte* const source = list.batch.d_sources[buffer];
    std::byte* const target = list.batch.d_targets[buffer];
    const std::uint64_t bytes = list.batch.d_sizes[buffer];
    const auto from = reinterpret_cast<std::uintptr_t>(source), to = reinterpret_cast<std::uintptr_t>(target);
    const Cut cut(bytes, element_bytes, list.batch.block_bytes);
    for (; next < min(end, buffer_end); ++next) {
      const Tile tile(cut, static_cast<std::uint32_t>(next - buffer_first), kForth ? from : to,
                      kForth ? to : from, element_bytes);
      if constexpr (!kForth) {
        load_rows(tile.plane_rows(), sh_rows);
        __syncthreads();
      }
      bool is_done = false;
      if constexpr (kElementBytes != kAnyElementBytes) {
        is_done = has_units<kElementBytes>(tile);
        if (is_done) move_units<kElementBytes, kDirection>(tile, sh_rows, sh_elements);
      }
      if (!is_done) move_squares<kDirection>(tile, sh_rows, sh_elements);
      if constexpr (kForth) {
        __syncthreads();
        store_rows(tile.plane_rows(), sh_rows);
      }
      __syncthreads();  // before shared memory is written anew
    }
    if (next == buffer_end) {
      const std::uint64_t left = bytes % (kGroupElements * element_bytes);
      for (std::uint64_t i = bytes - left + threadIdx.x; i < bytes; i += kBitshuffleThreads)
        target[i] = source[i];
    }
  }
}

constexpr KernelBudget kCountTilesBudget("bitshuffle.count_tiles", "count_tiles",
                                         {.threads = kBitshuffleThreads, .registers = 40, .shared_bytes = 0});
const KernelRegistration kCountTilesRegistration(kCountTilesBudget, count_tiles);
constexpr KernelBudget kMoveTilesBudget("bitshuffle.move_tiles", "move_tiles",
                                        {.threads = kBitshuffleThreads,
                                         .registers = 48,
                                         .shared_bytes = rows_bytes(kAnyElementBytes) +
                                                         elements_bytes(kAnyElementBytes)});
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
    case 1:
      return move_tiles<1, kDirection>;
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

// Several times those that the device holds, so that the last ones are short. The host does not know how many bytes there are; thread
// blocks without a tile end at once.
unsigned thread_blocks() {
  int device = 0, multiprocessors = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
        "cudaDeviceGetAttribute");
  return static_cast<unsigned>(multiprocessors) * kBitshuffleBlocks;
}

template <Direction kDirection>
void move_bits(const char* function, const BitshuffleBatch& batch, void* d_scratch, std::size_t scratch_bytes,
               cudaStream_t stream) {
  check_bitshuffle_blocks(batch.element_bytes, batch.block_bytes);
  check_scratch(function, bitshuffle_cuda_scratch_bytes(batch.count), d_scratch, scratch_bytes);
  if (batch.count == 0) return;
  const Scratch scratch = carve(batch.count, d_scratch);
  launch({.kernel = kCountTilesBudget,
          .grid = static_cast<unsigned>((batch.count + kBitshuffleThreads - 1) / kBitshuffleThreads),
          .stream = stream},
         count_tiles, batch, scratch.d_tile_counts);
  scan_sizes_cuda(scratch.d_tile_counts, batch.count, scratch.d_first_tiles, scratch.d_scan,
                  scratch.scan_bytes, stream);
  launch({.kernel = kMoveTilesBudget, .grid = thread_blocks(), .stream = stream},
         kernel_for<kDirection>(batch.element_bytes), TileList{scratch.d_first_tiles, batch});
}

}  // namespace

std::size_t bitshuffle_cuda_scratch_bytes(std::uint64_t count) { return carve(count, nullptr).bytes; }

void bitshuffle_cuda(const BitshuffleBatch& batch, void* d_scratch, std::size_t scratch_bytes,
                     cudaStream_t stream) {
  move_bits<Direction::kShuffle>("bitshuffle", batch, d_scratch, scratch_bytes, stream);
}

void bitunshuffle_cuda(const BitshuffleBatch& batch, void* d_scratch, std::size_t scratch_bytes,
                       cudaStream_t stream) {
  move_bits<Direction::kUnshuffle>("bitunshuffle", batch, d_scratch, scratch_bytes, stream);
}

}  // namespace hemstitch::cuda
