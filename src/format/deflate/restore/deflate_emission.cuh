// From tokens to bytes: 32 tokens at a time, one a lane, and then their bytes, one a lane.
//
// A prefix sum says where each token's bytes go. For each 32 bytes of output, a word has a bit for each byte at which a token
// begins; the number of bits up to a byte is the number of its token. That token's lane passes on the literal or the distance.
// Sources before the tile are loaded. Those in an earlier stripe of the tile come from the lane that has them. Those in the byte's
// own stripe are found by pointer doubling, in five steps. 32 tokens describe at most 8,256 bytes.
#pragma once

#include "format/deflate/restore/deflate_window.cuh"

namespace hemstitch::cuda {

// What a token describes: a literal, or kDeflateMatch and its distance.
struct DeflateTokenBytes {
  std::uint32_t info = 0;
  std::uint32_t bytes = 0;  // 0: there is no token
};
inline constexpr std::uint32_t kDeflateMatch = 1u << 31;

// Reads the token at `bit` of the window. There must be one.
template <class Window>
__device__ inline DeflateTokenBytes read_token(const Window& window, const DeflateTables& tables,
                                               unsigned bit) {
  using namespace deflate_entry;
  const std::uint32_t v = window.bits(bit);
  const std::uint32_t entry = deflate_entry_of<kLitlenTableBits>(tables.litlen, v);
  const unsigned bits = entry & kBitsMask;
  const std::uint32_t symbol = entry >> kSymbolAt & 0xFF;
  if ((entry & kKindMask) == kLiteral) return {symbol, 1};
  const std::uint32_t length_symbol = kDeflateFirstLengthSymbol + symbol;
  const unsigned length_extra_bits = deflate_length_extra_bits(length_symbol);
  const std::uint32_t length = deflate_length_base(length_symbol) +
                               (v >> (bits - length_extra_bits) & ((1u << length_extra_bits) - 1));
  const std::uint32_t w = window.bits(bit + bits);
  const std::uint32_t distance_entry = deflate_entry_of<kDistanceTableBits>(tables.distance, w);
  const std::uint32_t distance_symbol = distance_entry >> kSymbolAt & 31;
  const unsigned extra_bits = deflate_distance_extra_bits(distance_symbol);
  const std::uint32_t distance =
      deflate_distance_base(distance_symbol) +
      (w >> ((distance_entry & kBitsMask) - extra_bits) & ((1u << extra_bits) - 1));
  return {kDeflateMatch | distance, length};
}

// Where this lane's token begins in the output, and how many bytes the tokens of all lanes describe.
struct DeflatePlace {
  std::uint32_t begin, total;
};

// Where bytes go. Places are counted from the first byte of the 32 tokens; places below 0 are before it.
struct DeflateByteOutput {
  std::uint8_t* d_output;

  __device__ std::uint32_t load(std::int32_t at) const { return d_output[at]; }
  __device__ void store(std::uint32_t at, std::uint32_t value) const {
    d_output[at] = static_cast<std::uint8_t>(value);
  }
};

// Writes what the tokens describe. All sources exist: in the output before, or in the history. An output has load() and store(),
// like DeflateByteOutput; it may keep more than a byte for each byte (stream/deflate_entries.cu).
template <class Output>
__device__ inline void write_tokens(const DeflateTokenBytes& token, const DeflatePlace& place,
                                    const Output& output, unsigned lane) {
  constexpr unsigned kStripes = kDeflateTileStripes;
  if (__ballot_sync(kAllLanes, (token.info & kDeflateMatch) != 0) == 0) {
    if (token.bytes != 0) output.store(lane, token.info);
    __syncwarp();
    return;
  }
  const std::uint32_t up_to_lane = kAllLanes >> (31 - lane);
  unsigned tokens_before = 0;
  for (std::uint32_t tile = 0; tile < place.total; tile += 32 * kStripes) {
    std::uint32_t values[kStripes];
    std::int32_t sources[kStripes];  // from the tile's first byte on; below 0: none in the tile
#pragma unroll
    for (unsigned s = 0; s < kStripes; ++s) {
      const std::uint32_t stripe = tile + 32 * s;
      const std::uint32_t at = place.begin - stripe;
      const std::uint32_t starts = bits_over_warp(token.bytes != 0 && at < 32 ? 1u << at : 0);
      const unsigned owner = tokens_before + static_cast<unsigned>(__popc(starts & up_to_lane)) - 1;
      tokens_before += static_cast<unsigned>(__popc(starts));
      const std::uint32_t info = __shfl_sync(kAllLanes, token.info, static_cast<int>(owner));
      const std::uint32_t byte = stripe + lane;
      values[s] = info;
      sources[s] = -1;
      if ((info & kDeflateMatch) != 0 && byte < place.total) {
        const auto source = static_cast<std::int32_t>(byte - (info & ~kDeflateMatch));
        sources[s] = source - static_cast<std::int32_t>(tile);
        if (sources[s] < 0) values[s] = output.load(source);
      }
    }
#pragma unroll
    for (unsigned s = 0; s < kStripes; ++s) {
      const std::int32_t begin = 32 * static_cast<std::int32_t>(s);
#pragma unroll
      for (unsigned earlier = 0; earlier < s; ++earlier) {
        const std::uint32_t value = __shfl_sync(kAllLanes, values[earlier], sources[s] & 31);
        if (sources[s] >= 0 && sources[s] / 32 == static_cast<std::int32_t>(earlier)) values[s] = value;
      }
      const bool in_stripe = sources[s] >= begin;
      if (__any_sync(kAllLanes, in_stripe)) {
        std::int32_t root = in_stripe ? sources[s] - begin : static_cast<std::int32_t>(lane);
#pragma unroll
        for (unsigned i = 0; i < 5; ++i) root = __shfl_sync(kAllLanes, root, root);
        values[s] = __shfl_sync(kAllLanes, values[s], root);
      }
      const std::uint32_t byte = tile + 32 * s + lane;
      if (byte < place.total) output.store(byte, values[s]);
    }
    __syncwarp();
  }
}

}  // namespace hemstitch::cuda
