// Finds the states of FSE (RFC 8878, section 4.1) from the last symbol back, from a decoder's table.
//
// The cells of a symbol, in their order, are what its states 0, 1, 2, ... begin with: the state `number` of a symbol with `count` cells
// leads to the states of a range, and these ranges follow each other, so that each state of the table can come next. With
// value = state + 2^log, the cell is value >> bits, less `count`, where `bits` is the one number for which that is below `count`.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "format/zstd/compress/entropy/zstd_bit_writer.hpp"
#include "format/zstd/restore/zstd_tables.hpp"

namespace hemstitch {

class ZstdStateWriter {
 public:
  explicit ZstdStateWriter(const ZstdTable& table) : log_(table.log) {
    for (std::size_t state = 0; state < table.cells.size(); ++state)
      states_[table.cells[state].symbol].push_back(static_cast<std::uint16_t>(state));
  }
  bool has(unsigned symbol) const { return !states_[symbol].empty(); }
  // The last symbol of a stream, which comes first here, has the lowest of its states. From there more bits follow than from any other
  // of them, and at least one unless the symbol is the only one.
  void begin(unsigned symbol) { state_ = states_[symbol].front(); }
  // Goes back to the state of `symbol` from which the current one follows. Writes the bits between them.
  void go_back(unsigned symbol, ZstdBitWriter& bits) {
    const std::vector<std::uint16_t>& states = states_[symbol];
    const auto count = static_cast<std::uint32_t>(states.size());
    const std::uint32_t value = state_ + (1U << log_);
    unsigned between = log_ + 1 - static_cast<unsigned>(std::bit_width(count));
    if (value >> between < count) --between;
    bits.put(value & ((1U << between) - 1), between);
    state_ = states[(value >> between) - count];
  }
  void end(ZstdBitWriter& bits) const { bits.put(state_, log_); }

 private:
  unsigned log_;
  std::array<std::vector<std::uint16_t>, 256> states_;
  std::uint32_t state_ = 0;
};

}  // namespace hemstitch
