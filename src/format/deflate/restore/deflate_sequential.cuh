// Restoring a DEFLATE stream token by token, by one thread: the plain way, which alone decides what is damage and what does not fit.
// It follows the reference (deflate_restore_reference.cpp) item by item, since the order of the checks decides which status a
// stream with several faults gets.
#pragma once

#include "format/deflate/block/deflate_codes.hpp"
#include "format/deflate/block/deflate_symbols.hpp"
#include "format/deflate/restore/deflate_stream.cuh"

namespace hemstitch::cuda {

// A canonical code as counts and sorted symbols, in shared memory.
struct SequentialCode {
  std::uint16_t counts[kDeflateMaxCodeBits + 1];
  std::uint16_t symbols[kDeflateFixedLitlenCount];
  unsigned longest_bits;

  __device__ void set(const std::uint8_t* sh_lengths, unsigned symbol_count) {
    for (unsigned bits = 0; bits <= kDeflateMaxCodeBits; ++bits) counts[bits] = 0;
    for (unsigned symbol = 0; symbol < symbol_count; ++symbol) ++counts[sh_lengths[symbol]];
    counts[0] = 0;
    longest_bits = kDeflateMaxCodeBits;
    while (longest_bits > 0 && counts[longest_bits] == 0) --longest_bits;
    unsigned place = 0;
    for (unsigned bits = 1; bits <= longest_bits; ++bits)
      for (unsigned symbol = 0; symbol < symbol_count; ++symbol)
        if (sh_lengths[symbol] == bits) symbols[place++] = static_cast<std::uint16_t>(symbol);
  }

  // Whether the code is complete, or is a single code of one bit, or empty.
  __device__ bool is_sound() const {
    unsigned codes = 0, filled = 0;
    for (unsigned bits = 1; bits <= kDeflateMaxCodeBits; ++bits) {
      codes += counts[bits];
      filled += std::uint32_t{counts[bits]} << (kDeflateMaxCodeBits - bits);
    }
    return codes == 0 || (codes == 1 && counts[1] == 1) || filled == 1u << kDeflateMaxCodeBits;
  }
};

struct SequentialMemory {
  SequentialCode litlen, distance;
  std::uint8_t lengths[kDeflateFixedLitlenCount + kDeflateFixedDistanceCount];
};

enum class DeflateVerdict { kGoesOn, kDone, kCorrupt, kTooSmall };

class SequentialDecoder {
 public:
  __device__ SequentialDecoder(const DeflateStream& stream, SequentialMemory& memory)
      : stream_(stream), sh_(memory), bit_(stream.begin_bit) {}

  __device__ DeflateVerdict restore() {
    DeflateVerdict verdict = DeflateVerdict::kGoesOn;
    while (verdict == DeflateVerdict::kGoesOn) verdict = restore_block();
    return verdict;
  }
  __device__ std::uint64_t written() const { return written_; }

 private:
  static constexpr std::uint32_t kNoSymbol = ~0u;

  // `count` is at most 32. Bits beyond the stream are 0; taking one sets ends_.
  __device__ std::uint32_t take(unsigned count) {
    const std::uint32_t value = count == 0 ? 0 : stream_.bits(bit_) & (~0u >> (32 - count));
    bit_ += count;
    if (bit_ > stream_.end_bit) ends_ = true;
    return value;
  }

  __device__ std::uint32_t decode(const SequentialCode& code) {
    std::uint32_t value = 0, first = 0, index = 0;
    for (unsigned bits = 1;; ++bits) {
      value |= take(1);
      const std::uint32_t count = code.counts[bits];
      if (value - first < count) return code.symbols[index + value - first];
      if (bits >= code.longest_bits) return kNoSymbol;
      index += count;
      first = (first + count) << 1;
      value <<= 1;
    }
  }

  __device__ DeflateVerdict restore_block() {
    const bool last = take(1) != 0;
    const auto type = static_cast<DeflateBlockType>(take(2));
    if (ends_ || type == DeflateBlockType::kReserved) return DeflateVerdict::kCorrupt;
    DeflateVerdict verdict;
    if (type == DeflateBlockType::kStored) {
      verdict = restore_stored();
    } else {
      if (type == DeflateBlockType::kFixed)
        set_fixed_codes();
      else if (!read_dynamic_codes() || ends_)
        return DeflateVerdict::kCorrupt;
      verdict = restore_tokens();
    }
    if (verdict != DeflateVerdict::kDone || !last)
      return verdict == DeflateVerdict::kDone ? DeflateVerdict::kGoesOn : verdict;
    // A block of a frame is a whole stream, with nothing after it.
    return (bit_ + 7) / 8 == stream_.end_bit / 8 ? DeflateVerdict::kDone : DeflateVerdict::kCorrupt;
  }

  __device__ DeflateVerdict restore_stored() {
    bit_ = (bit_ + 7) / 8 * 8;
    const std::uint32_t bytes = take(16), inverted = take(16);
    if (ends_ || (bytes ^ inverted) != 0xFFFF) return DeflateVerdict::kCorrupt;
    for (std::uint32_t i = 0; i < bytes; ++i) {
      if (written_ == stream_.capacity) return DeflateVerdict::kTooSmall;
      const std::uint32_t byte = take(8);
      if (ends_) return DeflateVerdict::kCorrupt;
      put(byte);
    }
    return DeflateVerdict::kDone;
  }

  __device__ DeflateVerdict restore_tokens() {
    while (true) {
      const std::uint32_t symbol = decode(sh_.litlen);
      if (ends_ || symbol == kNoSymbol) return DeflateVerdict::kCorrupt;
      if (symbol == kDeflateEndOfBlock) return DeflateVerdict::kDone;
      if (symbol < kDeflateEndOfBlock) {
        if (written_ == stream_.capacity) return DeflateVerdict::kTooSmall;
        put(symbol);
        continue;
      }
      if (symbol >= kDeflateLitlenCount) return DeflateVerdict::kCorrupt;
      std::uint32_t length = deflate_length_base(symbol) + take(deflate_length_extra_bits(symbol));
      const std::uint32_t distance_symbol = decode(sh_.distance);
      if (ends_ || distance_symbol == kNoSymbol || distance_symbol >= kDeflateDistanceCount)
        return DeflateVerdict::kCorrupt;
      const std::uint32_t distance =
          deflate_distance_base(distance_symbol) + take(deflate_distance_extra_bits(distance_symbol));
      if (ends_) return DeflateVerdict::kCorrupt;
      if (written_ == stream_.capacity) return DeflateVerdict::kTooSmall;
      if (distance > written_ + stream_.history_bytes) return DeflateVerdict::kCorrupt;
      for (; length > 0; --length) {
        if (written_ == stream_.capacity) return DeflateVerdict::kTooSmall;
        put(stream_.d_output == nullptr
                ? 0
                : stream_
                      .d_output[static_cast<std::int64_t>(written_) - static_cast<std::int64_t>(distance)]);
      }
    }
  }

  __device__ void put(std::uint32_t byte) {
    if (stream_.d_output != nullptr) stream_.d_output[written_] = static_cast<std::uint8_t>(byte);
    ++written_;
  }

  __device__ void set_fixed_codes() {
    for (unsigned symbol = 0; symbol < kDeflateFixedLitlenCount; ++symbol)
      sh_.lengths[symbol] = static_cast<std::uint8_t>(deflate_fixed_litlen_bits(symbol));
    sh_.litlen.set(sh_.lengths, kDeflateFixedLitlenCount);
    for (unsigned symbol = 0; symbol < kDeflateFixedDistanceCount; ++symbol)
      sh_.lengths[symbol] = kDeflateFixedDistanceBits;
    sh_.distance.set(sh_.lengths, kDeflateFixedDistanceCount);
  }

  __device__ bool read_dynamic_codes() {
    const unsigned litlen_count = kDeflateFirstLengthSymbol + take(5);
    const unsigned distance_count = 1 + take(5);
    const unsigned precode_count = 4 + take(4);
    if (litlen_count > kDeflateLitlenCount || distance_count > kDeflateDistanceCount) return false;
    for (unsigned i = 0; i < kDeflatePrecodeCount; ++i)
      sh_.lengths[deflate_precode_symbol(i)] =
          i < precode_count ? static_cast<std::uint8_t>(take(3)) : std::uint8_t{0};
    SequentialCode& precode = sh_.litlen;
    precode.set(sh_.lengths, kDeflatePrecodeCount);
    // The code must be complete. If no symbol has a code, zlib reads only lengths of 0 and then misses the end of the block.
    unsigned filled = 0;
    for (unsigned bits = 1; bits <= kDeflateMaxPrecodeBits; ++bits)
      filled += std::uint32_t{precode.counts[bits]} << (kDeflateMaxPrecodeBits - bits);
    if (filled != 1u << kDeflateMaxPrecodeBits) return false;

    const unsigned count = litlen_count + distance_count;
    for (unsigned at = 0; at < count;) {
      const std::uint32_t symbol = decode(precode);
      if (ends_ || symbol == kNoSymbol) return false;
      if (symbol < kDeflateRepeatLast) {
        sh_.lengths[at++] = static_cast<std::uint8_t>(symbol);
        continue;
      }
      if (symbol == kDeflateRepeatLast && at == 0) return false;
      const std::uint8_t repeated = symbol == kDeflateRepeatLast ? sh_.lengths[at - 1] : std::uint8_t{0};
      unsigned times = (symbol == kDeflateRepeatZeroLong ? 11 : 3) + take(deflate_item_extra_bits(symbol));
      if (times > count - at) return false;
      for (; times > 0; --times) sh_.lengths[at++] = repeated;
    }
    if (sh_.lengths[kDeflateEndOfBlock] == 0) return false;
    sh_.litlen.set(sh_.lengths, litlen_count);
    sh_.distance.set(sh_.lengths + litlen_count, distance_count);
    return sh_.litlen.is_sound() && sh_.distance.is_sound();
  }

  const DeflateStream& stream_;
  SequentialMemory& sh_;
  std::uint64_t bit_;
  std::uint64_t written_ = 0;
  bool ends_ = false;
};

}  // namespace hemstitch::cuda
