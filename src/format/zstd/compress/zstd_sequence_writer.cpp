#include "format/zstd/compress/zstd_sequence_writer.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace hemstitch {
namespace {

// Bits that are read from the end: what is written last is read first.
class BackwardBitWriter {
 public:
  explicit BackwardBitWriter(std::vector<std::byte>& to) : to_(to) {}

  // At most 32.
  void put(std::uint32_t value, unsigned count) {
    word_ |= std::uint64_t{value} << bits_;
    bits_ += count;
    for (; bits_ >= 8; bits_ -= 8, word_ >>= 8) to_.push_back(static_cast<std::byte>(word_));
  }
  void end() {
    put(1, 1);
    if (bits_ > 0) to_.push_back(static_cast<std::byte>(word_));
  }

 private:
  std::vector<std::byte>& to_;
  std::uint64_t word_ = 0;
  unsigned bits_ = 0;
};

template <std::size_t count>
unsigned code_of(const std::array<ZstdCode, count>& codes, std::uint32_t value) {
  const auto above =
      std::upper_bound(codes.begin(), codes.end(), value,
                       [](std::uint32_t number, const ZstdCode& code) { return number < code.base; });
  return static_cast<unsigned>(above - codes.begin()) - 1;
}

// Finds states from the last one back.
class StateWriter {
 public:
  explicit StateWriter(const ZstdTable& table) : table_(table) {
    for (std::size_t state = 0; state < table.cells.size(); ++state)
      states_[table.cells[state].symbol].push_back(static_cast<std::uint16_t>(state));
  }
  bool has(unsigned symbol) const { return !states_[symbol].empty(); }
  void begin(unsigned symbol) { state_ = states_[symbol].front(); }
  // Goes back to the state of `symbol` from which the current one follows. Writes the bits between them.
  void go_back(unsigned symbol, BackwardBitWriter& bits) {
    for (const std::uint16_t before : states_[symbol]) {
      const ZstdCell cell = table_.cells[before];
      if (state_ < cell.base || state_ - cell.base >= std::size_t{1} << cell.bits) continue;
      bits.put(static_cast<std::uint32_t>(state_ - cell.base), cell.bits);
      state_ = before;
      return;
    }
  }
  void end(BackwardBitWriter& bits) const { bits.put(static_cast<std::uint32_t>(state_), table_.log); }

 private:
  const ZstdTable& table_;
  std::array<std::vector<std::uint16_t>, 64> states_;
  std::size_t state_ = 0;
};

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

  BackwardBitWriter bits(section);
  StateWriter literals(*tables[0]), offsets(*tables[1]), matches(*tables[2]);
  for (std::size_t i = sequences.size(); i-- > 0;) {
    const ZstdSequence& sequence = sequences[i];
    const unsigned literal = code_of(kZstdLiteralCodes, sequence.literals),
                   match = code_of(kZstdMatchCodes, sequence.match),
                   offset = static_cast<unsigned>(std::bit_width(sequence.offset_value)) - 1;
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
  bits.end();
  return section;
}

}  // namespace hemstitch
