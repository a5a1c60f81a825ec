// The two sections of a compressed block of Zstandard (RFC 8878, section 3.1.1.3): literals and sequences.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "format/zstd/block/zstd_symbols.hpp"
#include "format/zstd/restore/zstd_bits.hpp"
#include "format/zstd/restore/zstd_tables.hpp"

namespace hemstitch {

// The tables that were used last, which later blocks may use again.
struct ZstdKeptTables {
  std::optional<ZstdHuffman> literals;
  std::optional<ZstdTable> literal_codes, offset_codes, match_codes;
};

enum class ZstdLiteralsType : unsigned { kRaw, kRle, kCompressed, kTreeless };  // 3.1.1.3.1.1

// All functions here throw ZstdDamage.
struct ZstdLiteralsHeader {
  ZstdLiteralsType type = ZstdLiteralsType::kRaw;
  bool four_streams = false;
  std::size_t count = 0;         // of literals
  std::size_t header_bytes = 0;  // of the section, before its data
  std::size_t data_bytes = 0;

  std::size_t section_bytes() const { return header_bytes + data_bytes; }
};
// Checks that all of the section is in the block.
ZstdLiteralsHeader read_zstd_literals_header(std::span<const std::byte> block);
std::vector<std::byte> read_zstd_literals(std::span<const std::byte> block, const ZstdLiteralsHeader& header,
                                          ZstdKeptTables& kept);

struct ZstdSequencesHeader {
  std::size_t count = 0;
  std::size_t count_bytes = 0;  // that say so; the tables' modes follow, unless there are no sequences
};
// `section` is all of the block after its literals.
ZstdSequencesHeader read_zstd_sequences_header(std::span<const std::byte> section);
// Kinds of codes in the order of their descriptions.
inline constexpr std::array<const ZstdCodeKind*, 3> kZstdCodeKinds{&kZstdLiteralKind, &kZstdOffsetKind,
                                                                   &kZstdMatchKind};
// The table of a kind of code, which `section` describes at its start; takes that off.
void take_zstd_table(ZstdTableMode mode, const ZstdCodeKind& kind, std::span<const std::byte>& section,
                     std::optional<ZstdTable>& kept);

struct ZstdSequence {
  std::uint32_t literals = 0, match = 0;
  std::uint32_t offset_value = 0;  // see kZstdRepeatCount
};

// Reads the sequences of a block, one after the other.
class ZstdSequenceReader {
 public:
  // `section` is all of the block after its literals.
  ZstdSequenceReader(std::span<const std::byte> section, ZstdKeptTables& kept);

  std::size_t left() const { return left_; }
  ZstdSequence take();

  // How the tables of literal counts, offsets and match lengths are given, and what describes each.
  std::array<ZstdTableMode, 3> modes{};
  std::array<std::span<const std::byte>, 3> descriptions{};

 private:
  const ZstdKeptTables& tables_;
  std::size_t left_ = 0;
  std::optional<ZstdBackwardBits> bits_;
  std::size_t literal_state_ = 0, offset_state_ = 0, match_state_ = 0;
};

// The last three offsets of a frame (3.1.1.5).
class ZstdRepeats {
 public:
  ZstdRepeats() = default;
  explicit ZstdRepeats(const std::array<std::uint32_t, kZstdRepeatCount>& offsets) : offsets_(offsets) {}

  // The offset that a sequence stands for, which is then the last one; 0 if that is no offset.
  std::uint32_t take(const ZstdSequence& sequence) {
    const std::uint32_t offset = peek(sequence);
    for (unsigned i = std::min(place(sequence), kZstdRepeatCount - 1); i > 0; --i) {
      offsets_[i] = offsets_[i - 1];
      if (i == 1) offsets_[0] = offset;
    }
    return offset;
  }
  std::uint32_t peek(const ZstdSequence& sequence) const {
    const unsigned at = place(sequence);
    if (at < kZstdRepeatCount) return offsets_[at];
    // "Repeat 1 minus 1", or an offset of its own.
    return sequence.offset_value <= kZstdRepeatCount ? offsets_[0] - 1
                                                     : sequence.offset_value - kZstdRepeatCount;
  }
  const std::array<std::uint32_t, kZstdRepeatCount>& offsets() const { return offsets_; }
  // Three that no sequence has.
  static ZstdRepeats unknown() { return ZstdRepeats({0xF0000000, 0xE0000000, 0xD0000000}); }
  bool operator==(const ZstdRepeats&) const = default;

 private:
  // Where the offset stands; 3 or more: nowhere. Without literals, the offset that was used last is passed over.
  static unsigned place(const ZstdSequence& sequence) {
    return sequence.offset_value - 1 +
           (sequence.literals == 0 && sequence.offset_value <= kZstdRepeatCount ? 1 : 0);
  }

  std::array<std::uint32_t, kZstdRepeatCount> offsets_{1, 4, 8};
};

}  // namespace hemstitch
