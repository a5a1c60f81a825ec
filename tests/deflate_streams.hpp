// Streams of DEFLATE to restore: made by zlib, made bit by bit, and what zlib's inflate says of any of them.
#pragma once

#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/status.hpp"
#include "shapes.hpp"

namespace hemstitch::testing {

// kOk, kTruncated or kCorruptBlock; what it says of the last; what stands before an error is restored, too.
struct ZlibVerdict {
  Status status = Status::kTruncated;
  std::string message = {};
  std::size_t input_bytes = 0;
  Bytes content = {};
};

// `window_bits`: as inflateInit2() takes them; raw DEFLATE is -15. At most 100,000 bytes are restored.
inline ZlibVerdict zlib_verdict(std::span<const std::byte> data, std::span<const std::byte> history = {},
                                int window_bits = -MAX_WBITS) {
  ZlibVerdict verdict;
  verdict.content.resize(100'000);
  z_stream stream{};
  inflateInit2(&stream, window_bits);
  if (!history.empty())
    inflateSetDictionary(&stream, reinterpret_cast<const Bytef*>(history.data()),
                         static_cast<uInt>(history.size()));
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(data.data()));
  stream.avail_in = static_cast<uInt>(data.size());
  stream.next_out = reinterpret_cast<Bytef*>(verdict.content.data());
  stream.avail_out = static_cast<uInt>(verdict.content.size());
  const int result = inflate(&stream, Z_SYNC_FLUSH);
  if (result == Z_STREAM_END) verdict.status = Status::kOk;
  if (result == Z_DATA_ERROR) verdict.status = Status::kCorruptBlock;
  if (stream.msg != nullptr) verdict.message = stream.msg;
  verdict.input_bytes = stream.total_in;
  verdict.content.resize(stream.total_out);
  inflateEnd(&stream);
  return verdict;
}

// `window_bits` as above; `mem_level` 1 makes many small blocks.
inline Bytes zlib_stream(std::span<const std::byte> content, int level = 6, int strategy = Z_DEFAULT_STRATEGY,
                         int mem_level = 8, int window_bits = -MAX_WBITS,
                         std::span<const std::byte> history = {}) {
  z_stream stream{};
  deflateInit2(&stream, level, Z_DEFLATED, window_bits, mem_level, strategy);
  if (!history.empty())
    deflateSetDictionary(&stream, reinterpret_cast<const Bytef*>(history.data()),
                         static_cast<uInt>(history.size()));
  Bytes data(deflateBound(&stream, static_cast<uLong>(content.size())) + 64);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(data.data());
  stream.avail_out = static_cast<uInt>(data.size());
  deflate(&stream, Z_FINISH);
  data.resize(stream.total_out);
  deflateEnd(&stream);
  return data;
}

// Writes what RFC 1951 describes, and what it does not.
class DeflateBitWriter {
 public:
  DeflateBitWriter& bits(std::uint32_t value, unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      if (bit_ == 0) bytes_.push_back(std::byte{0});
      if ((value >> i & 1) != 0) bytes_.back() |= std::byte{1} << bit_;
      bit_ = (bit_ + 1) % 8;
    }
    return *this;
  }
  // A Huffman code: from its highest bit on.
  DeflateBitWriter& code(std::uint32_t value, unsigned count) {
    for (unsigned i = count; i-- > 0;) bits(value >> i & 1, 1);
    return *this;
  }
  DeflateBitWriter& align() {
    bit_ = 0;
    return *this;
  }
  DeflateBitWriter& block(bool final, unsigned type) { return bits(final ? 1 : 0, 1).bits(type, 2); }
  // With a code of code lengths in which each of the lengths in `used` (a power of two of them) has equally many bits, and no repeats.
  DeflateBitWriter& dynamic(bool final, const std::vector<std::uint8_t>& litlens,
                            const std::vector<std::uint8_t>& distances) {
    block(final, 2).bits(static_cast<std::uint32_t>(litlens.size() - 257), 5);
    bits(static_cast<std::uint32_t>(distances.size() - 1), 5).bits(15, 4);
    // Lengths 0 to 15 have 4 bits each.
    constexpr int kOrder[] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    for (const int length : kOrder) bits(length < 16 ? 4 : 0, 3);
    for (const std::uint8_t length : litlens) code(length, 4);
    for (const std::uint8_t length : distances) code(length, 4);
    return *this;
  }
  const Bytes& bytes() const { return bytes_; }

 private:
  Bytes bytes_;
  unsigned bit_ = 0;
};

}  // namespace hemstitch::testing
