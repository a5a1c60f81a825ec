// Where chunks begin, and their bits.
//
// Sizes are known before a bit is written, so every chunk goes straight to its place. A stored block's size depends on the bit at which it
// begins, so places are found in order.
//
// Mapping, places: a thread a block of the batch. Packing: a thread block of kThreads a chunk, which takes tiles of kThreadTokens tokens a
// thread. A prefix sum of their bits says where each thread's begin; it puts them together in a register and adds full words to the
// tile by atomicOr, since two threads may share one. Stored content goes through the tile as well. Words of the tile are words of
// the output, so full ones are stored as words of 4 bytes. The first and the last one may hold bytes of other chunks, so they are
// stored byte by byte.
//
// Seams. A chunk begins and ends anywhere in a byte. Its bits of a byte that it shares with another chunk are left to join_seams().
// A chunk has at least 10 bits, so at most two share a byte.
//
// Shared memory: 8 KB. Synchronisation: four barriers a tile. Work: O(1) a token. CPU twin: deflate_encode_reference.cpp.
#include "format/deflate/compress/deflate_stages_cuda.hpp"
#include "gpu/cuda/kernel_trace.hpp"
#include "gpu/cuda/launch.hpp"
#include "gpu/cuda/warp.cuh"
#include "match/common/cuda/device_work.hpp"

namespace hemstitch::cuda {
namespace {

constexpr unsigned kThreads = 256, kWarps = kThreads / 32;
constexpr unsigned kThreadTokens = 4;
constexpr unsigned kTileTokens = kThreads * kThreadTokens;
// The most bits of a token: a length and a distance, each with its extra bits.
constexpr std::uint32_t kMostTokenBits = 15 + 5 + 15 + 13;
constexpr std::uint32_t kTileContentBytes = 4096;
// The rest of the tile before, a header, a tile of tokens, and one word more, to which only zeros are added.
constexpr std::uint32_t kTileWords = 1 + kDeflateHeadWords + kTileTokens * kMostTokenBits / 32 + 2;
static_assert(8 * kTileContentBytes + 128 <= 32 * kTileWords);

struct PackShared {
  std::uint32_t codes[kDeflateCountedSymbols];
  std::uint32_t words[kTileWords];
  std::uint32_t warp_bits[kWarps];
};

// Adds 32 bits or fewer to zeros of the tile. `value` has no higher ones.
__device__ __forceinline__ void put_bits(PackShared& sh, std::uint32_t at, std::uint32_t value) {
  const std::uint32_t shift = at % 32;
  atomicOr(&sh.words[at / 32], value << shift);
  if (shift != 0) atomicOr(&sh.words[at / 32 + 1], value >> (32 - shift));
}

// Where a chunk's bits go. All threads of the thread block hold the same values.
struct PackPlace {
  std::byte* words;    // the place of the tile's first word, aligned to 4 bytes
  std::uint32_t skip;  // bits of that word that are before the chunk's first
  std::uint32_t fill;  // bits of the tile, with those
  DeflateSeam* seam;
};

// Stores the bytes of a word whose bits from .. to - 1 belong to the chunk. Bytes of which it has only a part go to its seam. By
// one thread.
__device__ __forceinline__ void store_bytes(const PackPlace& place, std::byte* to, std::uint32_t word,
                                            std::uint32_t from_bit, std::uint32_t to_bit) {
  for (std::uint32_t byte = from_bit / 8; 8 * byte < to_bit; ++byte) {
    const auto value = static_cast<std::uint8_t>(word >> (8 * byte));
    if (8 * byte < from_bit)
      place.seam->first = value;
    else if (8 * byte + 8 > to_bit)
      place.seam->last = value;
    else
      to[byte] = static_cast<std::byte>(value);
  }
}

// Stores the words that are full, and begins the tile with the one that is not. By all threads; barriers before and behind.
__device__ __forceinline__ void store_full_words(PackShared& sh, PackPlace& place) {
  __syncthreads();
  const std::uint32_t full = place.fill / 32;
  for (std::uint32_t i = threadIdx.x; i < full; i += kThreads) {
    if (i == 0 && place.skip != 0)
      store_bytes(place, place.words, sh.words[0], place.skip, 32);
    else
      reinterpret_cast<std::uint32_t*>(place.words)[i] = sh.words[i];
  }
  const std::uint32_t rest = sh.words[full];
  __syncthreads();
  for (std::uint32_t i = threadIdx.x; i <= full; i += kThreads) sh.words[i] = i == 0 ? rest : 0;
  __syncthreads();
  place.words += 4 * full;
  place.fill -= 32 * full;
  if (full != 0) place.skip = 0;
}

// put_deflate_stored() of the content, of any size.
__device__ __forceinline__ void pack_stored(PackShared& sh, PackPlace& place, const std::byte* d_content,
                                            std::uint32_t content_bytes, bool is_last) {
  const auto* const content = reinterpret_cast<const unsigned char*>(d_content);
  std::uint32_t begin = 0;
  do {
    const std::uint32_t end = begin + min(content_bytes - begin, kDeflateMostStoredBytes);
    const std::uint32_t bytes = end - begin;
    const std::uint32_t sizes_at = (place.fill + 3 + 7) & ~7u;
    if (threadIdx.x == 0) {
      put_bits(sh, place.fill, is_last && end == content_bytes ? 1 : 0);
      put_bits(sh, sizes_at, bytes | (bytes ^ 0xFFFF) << 16);
    }
    place.fill = sizes_at + 32;
    for (; begin < end; begin += kTileContentBytes) {
      store_full_words(sh, place);
      const std::uint32_t tile_bytes = min(end - begin, kTileContentBytes);
      for (std::uint32_t i = 4 * threadIdx.x; i < tile_bytes; i += 4 * kThreads) {
        std::uint32_t word = 0;
        for (std::uint32_t byte = 0; byte < 4; ++byte)
          if (i + byte < tile_bytes) word |= std::uint32_t{__ldg(content + begin + i + byte)} << (8 * byte);
        put_bits(sh, place.fill + 8 * i, word);
      }
      place.fill += 8 * tile_bytes;
    }
    begin = end;
    store_full_words(sh, place);
  } while (begin < content_bytes);
}

// A block with codes: its head, its tokens and its end.
__device__ __forceinline__ void pack_tokens(PackShared& sh, PackPlace& place, const DeflatePart& part,
                                            const DeflateDeviceToken* d_tokens, bool is_last) {
  const unsigned thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  for (unsigned i = thread; i < kDeflateCountedSymbols; i += kThreads) sh.codes[i] = part.codes[i];
  const std::uint32_t head_bits = part.head_bits;
  for (unsigned i = thread; 32 * i < head_bits; i += kThreads)
    put_bits(sh, place.fill + 32 * i, part.head[i] | (i == 0 && is_last ? 1 : 0));
  place.fill += head_bits;
  __syncthreads();

  const std::uint32_t count = part.token_end - part.token_begin;  // and the end behind them
  const DeflateDeviceToken* const tokens = d_tokens + part.token_begin;
  for (std::uint32_t tile = 0; tile <= count; tile += kTileTokens) {
    if (thread == 0) trace_mark(kTracePackTile, part.token_begin + tile);
    // For each token: the literal, or the length with its extra bits, then the distance with its extra bits.
    std::uint32_t values[2 * kThreadTokens], sizes[2 * kThreadTokens], bits = 0;
    const std::uint32_t first = tile + thread * kThreadTokens;
#pragma unroll
    for (unsigned i = 0; i < kThreadTokens; ++i) {
      values[2 * i] = values[2 * i + 1] = sizes[2 * i] = sizes[2 * i + 1] = 0;
      if (first + i > count) continue;
      const DeflateDeviceToken token = first + i < count ? tokens[first + i] : kDeflateEndOfBlock;
      const std::uint32_t symbol = token & 0x1FF;
      const std::uint32_t code = sh.codes[symbol], code_bits = code >> 16 & 0xFF;
      values[2 * i] = (code & 0xFFFF) | (token >> 9 & 0x1F) << code_bits;
      sizes[2 * i] = code_bits + (code >> 24);
      if (symbol > kDeflateEndOfBlock) {
        const std::uint32_t distance = sh.codes[kDeflateFixedLitlenCount + (token >> 14 & 0x1F)];
        const std::uint32_t distance_bits = distance >> 16 & 0xFF;
        values[2 * i + 1] = (distance & 0xFFFF) | (token >> 19) << distance_bits;
        sizes[2 * i + 1] = distance_bits + (distance >> 24);
      }
      bits += sizes[2 * i] + sizes[2 * i + 1];
    }
    const std::uint32_t end = sum_up_to_lane(bits, lane);
    if (lane == 31) sh.warp_bits[warp] = end;
    __syncthreads();
    std::uint32_t at = place.fill + end - bits, tile_bits = 0;
#pragma unroll
    for (unsigned i = 0; i < kWarps; ++i) {
      if (i < warp) at += sh.warp_bits[i];
      tile_bits += sh.warp_bits[i];
    }
    std::uint32_t word = at / 32, held_bits = at % 32;
    std::uint64_t held = 0;
#pragma unroll
    for (unsigned i = 0; i < 2 * kThreadTokens; ++i) {
      held |= std::uint64_t{values[i]} << held_bits;
      held_bits += sizes[i];
      if (held_bits >= 32) {
        atomicOr(&sh.words[word++], static_cast<std::uint32_t>(held));
        held >>= 32;
        held_bits -= 32;
      }
    }
    if (static_cast<std::uint32_t>(held) != 0) atomicOr(&sh.words[word], static_cast<std::uint32_t>(held));
    place.fill += tile_bits;
    store_full_words(sh, place);
  }
}

// Writes what follows the content of a block of the frame.
__device__ __forceinline__ void pack_end(PackShared& sh, PackPlace& place, DeflateEnd end,
                                         std::uint32_t content_bytes) {
  if (end == DeflateEnd::kFlush) return pack_stored(sh, place, nullptr, 0, false);
  // A block of fixed codes that is the last one, and nothing but its end: seven zeros.
  if (content_bytes == 0) {
    if (threadIdx.x == 0)
      put_bits(sh, place.fill, 1 | static_cast<std::uint32_t>(DeflateBlockType::kFixed) << 1);
    place.fill += 3 + 7;
  }
  place.fill = (place.fill + 7) & ~7u;
}

// (Left to itself, the compiler spills registers for a fifth thread block on a multiprocessor.)
template <bool kSplits>
__global__ void __launch_bounds__(kThreads, 4)
    pack_chunks(const DeviceBlocks blocks, const DeviceChunks chunks, const DeflateDeviceToken* d_tokens,
                const DeviceParts parts, const DeflateEnd end, const DevicePlaces places,
                std::byte* const* d_targets) {
  __shared__ PackShared sh;
  const DeflateChunkOf of = chunks.d_of[blockIdx.x];
  if (of.block == DeflateChunkOf::kNoBlock) return;  // the whole thread block, as below
  std::byte* const target = d_targets[of.block];
  if (target == nullptr) return;
  const DeviceBlock chunk = chunks.blocks.d_blocks[blockIdx.x];
  const std::uint32_t block_bytes = blocks.d_blocks[of.block].block_bytes;
  const bool ends_block = of.begin + chunk.block_bytes == block_bytes;
  for (unsigned i = threadIdx.x; i < kTileWords; i += kThreads) sh.words[i] = 0;

  const std::uint32_t first_bit = places.d_first_bits[blockIdx.x];
  std::byte* const first_byte = target + first_bit / 8;
  const auto misaligned = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(first_byte) % 4);
  const std::uint32_t skip = 8 * misaligned + first_bit % 8;
  PackPlace place{first_byte - misaligned, skip, skip, places.d_seams + blockIdx.x};
  __syncthreads();

  const std::uint32_t part_count = parts.d_counts[blockIdx.x];
  for (std::uint32_t i = 0; i < part_count; ++i) {
    const DeflatePart& part = parts.d_parts[std::size_t{blockIdx.x} * (kSplits ? kDeflateChunkUnits : 1) + i];
    const bool is_last = end == DeflateEnd::kFinal && ends_block && i + 1 == part_count;
    if (part.type == static_cast<std::uint32_t>(DeflateBlockType::kStored))
      pack_stored(sh, place, chunk.d_block + part.content_begin, part.content_end - part.content_begin,
                  is_last);
    else
      pack_tokens(sh, place, part, d_tokens + chunk.position, is_last);
  }
  if (ends_block) pack_end(sh, place, end, block_bytes);
  store_full_words(sh, place);
  if (threadIdx.x == 0) store_bytes(place, place.words, sh.words[0], place.skip, place.fill);
}

constexpr unsigned kFewThreads = 128;

// A thread a block of the batch.
template <bool kSplits>
__global__ void __launch_bounds__(kFewThreads)
    place_chunks(const DeviceBlocks blocks, const DeviceChunks chunks, const DeviceParts parts,
                 const DeflateEnd end, const DevicePlaces places, std::uint32_t* d_sizes) {
  const std::uint32_t index = blockIdx.x * kFewThreads + threadIdx.x;
  if (index >= blocks.block_count) return;
  const DeviceBlock block = blocks.d_blocks[index];
  const std::uint32_t first = chunks.places.first(block.position, index);
  const std::uint32_t chunk_count = deflate_chunk_count(block.block_bytes);
  std::uint32_t bit = 0;
  for (std::uint32_t chunk = first; chunk < first + chunk_count; ++chunk) {
    places.d_first_bits[chunk] = bit;
    const std::uint32_t part_count = parts.d_counts[chunk];
    for (std::uint32_t i = 0; i < part_count; ++i) {
      const DeflatePart& part = parts.d_parts[std::size_t{chunk} * (kSplits ? kDeflateChunkUnits : 1) + i];
      const bool is_stored = part.type == static_cast<std::uint32_t>(DeflateBlockType::kStored);
      bit = is_stored ? deflate_stored_end(bit, part.content_end - part.content_begin) : bit + part.bits;
    }
  }
  d_sizes[index] = deflate_output_bytes(bit, end, block.block_bytes);
}

// A thread for each place of a chunk: writes the byte in which the chunk begins, if the chunk before it ends in the same byte.
__global__ void __launch_bounds__(kFewThreads)
    join_seams(const DeviceChunks chunks, const DevicePlaces places, std::byte* const* d_targets) {
  const std::uint32_t chunk = blockIdx.x * kFewThreads + threadIdx.x;
  if (chunk >= chunks.places.count) return;
  const DeflateChunkOf of = chunks.d_of[chunk];
  if (of.block == DeflateChunkOf::kNoBlock || d_targets[of.block] == nullptr) return;
  const std::uint32_t first_bit = places.d_first_bits[chunk];
  if (first_bit % 8 == 0) return;
  d_targets[of.block][first_bit / 8] =
      static_cast<std::byte>(places.d_seams[chunk].first | places.d_seams[chunk - 1].last);
}

constexpr KernelBudget kPackBudget("deflate.pack_chunks", "pack_chunks",
                                   {.threads = kThreads,
                                    .registers = 64,
                                    .shared_bytes = sizeof(PackShared)});
constexpr KernelBudget kPlaceBudget("deflate.place_chunks", "place_chunks",
                                    {.threads = kFewThreads, .registers = 48});
constexpr KernelBudget kJoinBudget("deflate.join_seams", "join_seams",
                                   {.threads = kFewThreads, .registers = 32});
const KernelRegistration kPackRegistration(kPackBudget, pack_chunks<false>);
const KernelRegistration kPackSplitRegistration(kPackBudget, pack_chunks<true>);
const KernelRegistration kPlaceRegistration(kPlaceBudget, place_chunks<false>);
const KernelRegistration kPlaceSplitRegistration(kPlaceBudget, place_chunks<true>);
const KernelRegistration kJoinRegistration(kJoinBudget, join_seams);

}  // namespace

void place_deflate_chunks_cuda(const DeviceBlocks& blocks, const DeviceChunks& chunks, bool splits,
                               const DeviceParts& parts, DeflateEnd end, const DevicePlaces& places,
                               std::uint32_t* d_sizes, cudaStream_t stream) {
  launch({.kernel = kPlaceBudget,
          .grid = (blocks.block_count + kFewThreads - 1) / kFewThreads,
          .stream = stream,
          .work = work_of(blocks)},
         splits ? place_chunks<true> : place_chunks<false>, blocks, chunks, parts, end, places, d_sizes);
}

void pack_deflate_chunks_cuda(const DeviceBlocks& blocks, const DeviceChunks& chunks, bool splits,
                              const DeviceTokens& tokens, const DeviceParts& parts, DeflateEnd end,
                              const DevicePlaces& places, std::byte* const* d_targets, cudaStream_t stream) {
  launch({.kernel = kPackBudget, .grid = chunks.places.count, .stream = stream, .work = work_of(blocks)},
         splits ? pack_chunks<true> : pack_chunks<false>, blocks, chunks, tokens.d_tokens, parts, end, places,
         d_targets);
  launch({.kernel = kJoinBudget,
          .grid = (chunks.places.count + kFewThreads - 1) / kFewThreads,
          .stream = stream,
          .work = work_of(blocks)},
         join_seams, chunks, places, d_targets);
}

}  // namespace hemstitch::cuda
