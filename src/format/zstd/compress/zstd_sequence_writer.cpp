#include "format/zstd/compress/zstd_sequence_writer.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "format/zstd/compress/entropy/zstd_state_writer.hpp"

namespace hemstitch {
namespace {

template <std::size_t count>
unsigned code_of(const std::array<ZstdCode, count>& codes, std::uint32_t value) {
  const auto above =
      std::upper_bound(codes.begin(), codes.end(), value,
                       [](std::uint32_t number, const ZstdCode& code) { return number < code.base; });
  return static_cast<unsigned>(above - codes.begin()) - 1;
}

void put_count(std::size_t count, std::vector<std::byte>& to) {
  constexpr std::size_t kTwoBytes = 128, kThreeBytes = 0x7F00;
  const auto put = [&](std::size_t byte) { to.push_back(static_cast<std::byte>(byte)); };
  if (count < kTwoBytes) return put(count);
  if (count < kThreeBytes) {
    put((count >> 8) + kTwoBytes);
    return put(count & 255);
  }
  put(255);
  put((count - kThreeBytes) & 255);
  put((count - kThreeBytes) >> 8);
}

}  // namespace

std::array<unsigned, 3> zstd_codes_of(const ZstdSequence& sequence) {
  return {code_of(kZstdLiteralCodes, sequence.literals),
          static_cast<unsigned>(std::bit_width(sequence.offset_value)) - 1,
          code_of(kZstdMatchCodes, sequence.match)};
}

std::optional<std::vector<std::byte>> write_zstd_sequences(
    std::span<const ZstdSequence> sequences, const std::array<ZstdTableMode, 3>& modes,
    const std::array<std::span<const std::byte>, 3>& descriptions,
    const std::array<const ZstdTable*, 3>& tables) {
  std::vector<std::byte> section;
  put_count(sequences.size(), section);
  if (sequences.empty()) return section;
  section.push_back(static_cast<std::byte>(static_cast<unsigned>(modes[0]) << 6 |
                                           static_cast<unsigned>(modes[1]) << 4 |
                                           static_cast<unsigned>(modes[2]) << 2));
  for (const auto& description : descriptions)
    section.insert(section.end(), description.begin(), description.end());

  ZstdBitWriter bits(section);
  ZstdStateWriter literals(*tables[0]), offsets(*tables[1]), matches(*tables[2]);
  for (std::size_t i = sequences.size(); i-- > 0;) {
    const ZstdSequence& sequence = sequences[i];
    const auto [literal, offset, match] = zstd_codes_of(sequence);
    if (!literals.has(literal) || !offsets.has(offset) || !matches.has(match)) return std::nullopt;
    if (i + 1 == sequences.size()) {
      literals.begin(literal);
      offsets.begin(offset);
      matches.begin(match);
    } else {
      offsets.go_back(offset, bits);
      matches.go_back(match, bits);
      literals.go_back(literal, bits);
    }
    bits.put(sequence.literals - kZstdLiteralCodes[literal].base, kZstdLiteralCodes[literal].bits);
    bits.put(sequence.match - kZstdMatchCodes[match].base, kZstdMatchCodes[match].bits);
    bits.put(sequence.offset_value - (1U << offset), offset);
  }
  matches.end(bits);
  offsets.end(bits);
  literals.end(bits);
  bits.end_backward();
  return section;
}

}  // namespace hemstitch
