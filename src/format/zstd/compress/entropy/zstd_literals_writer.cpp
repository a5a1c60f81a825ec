#include "format/zstd/compress/entropy/zstd_literals_writer.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "format/zstd/compress/entropy/zstd_bit_writer.hpp"
#include "format/zstd/compress/entropy/zstd_huffman.hpp"
#include "format/zstd/restore/zstd_sections.hpp"

namespace hemstitch {
namespace {

using Bytes = std::vector<std::byte>;

void put(std::uint64_t value, std::size_t bytes, Bytes& to) {
  for (std::size_t i = 0; i < bytes; ++i) to.push_back(static_cast<std::byte>(value >> 8 * i));
}

// The header of a section that is not coded: 1 byte for up to 31 literals, 2 for up to 4095, or 3.
void put_plain_header(ZstdLiteralsType type, std::size_t count, Bytes& to) {
  const auto kind = static_cast<std::uint64_t>(type);
  if (count < 32) return put(kind | count << 3, 1, to);
  if (count < 4096) return put(kind | 1 << 2 | count << 4, 2, to);
  put(kind | 3 << 2 | count << 4, 3, to);
}

// The header of a coded section: both sizes have 10, 14 or 18 bits.
void put_coded_header(std::size_t count, std::size_t data_bytes, Bytes& to) {
  const unsigned format = count < kZstdLeastFourStreams ? 0 : count < 1 << 10 ? 1 : count < 1 << 14 ? 2 : 3;
  const unsigned width = format < 2 ? 10 : format == 2 ? 14 : 18;
  put(static_cast<std::uint64_t>(ZstdLiteralsType::kCompressed) | format << 2 | std::uint64_t{count} << 4 |
          std::uint64_t{data_bytes} << (4 + width),
      (4 + 2 * width + 7) / 8, to);
}

void put_stream(std::span<const std::byte> literals, const ZstdHuffmanCode& code, Bytes& to) {
  ZstdBitWriter bits(to);
  for (std::size_t i = literals.size(); i-- > 0;) {
    const auto byte = static_cast<std::size_t>(literals[i]);
    bits.put(code.codes[byte], code.lengths[byte]);
  }
  bits.end_backward();
}

// Description and streams.
std::optional<Bytes> coded_literals(std::span<const std::byte> literals, const ZstdByteCounts& counts) {
  const ZstdHuffmanCode code = make_zstd_huffman(counts);
  Bytes data = describe_zstd_huffman(code);
  if (data.empty()) return std::nullopt;
  if (literals.size() < kZstdLeastFourStreams) {
    put_stream(literals, code, data);
    return data;
  }
  const std::size_t each = (literals.size() + 3) / 4;
  Bytes streams;
  for (std::size_t begin = 0; begin < literals.size(); begin += each) {
    const std::size_t before = streams.size();
    put_stream(literals.subspan(begin, std::min(each, literals.size() - begin)), code, streams);
    if (begin + each < literals.size()) put(streams.size() - before, 2, data);  // not of the last one
  }
  data.insert(data.end(), streams.begin(), streams.end());
  return data;
}

}  // namespace

Bytes write_zstd_literals(std::span<const std::byte> literals) {
  Bytes plain;
  put_plain_header(ZstdLiteralsType::kRaw, literals.size(), plain);
  plain.insert(plain.end(), literals.begin(), literals.end());
  if (literals.size() < 2) return plain;

  ZstdByteCounts counts{};
  for (const std::byte literal : literals) ++counts[static_cast<std::size_t>(literal)];
  Bytes other;
  if (counts[static_cast<std::size_t>(literals[0])] == literals.size()) {
    put_plain_header(ZstdLiteralsType::kRle, literals.size(), other);
    other.push_back(literals[0]);
  } else {
    const std::optional<Bytes> data = coded_literals(literals, counts);
    if (!data || data->size() >= literals.size()) return plain;
    put_coded_header(literals.size(), data->size(), other);
    other.insert(other.end(), data->begin(), data->end());
  }
  return other.size() < plain.size() ? other : plain;
}

}  // namespace hemstitch
