#include "format/lz4/restore/lz4_restore_reference.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "format/lz4/block/lz4_token.hpp"

namespace hemstitch {
namespace {

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

  bool at_end() const { return rest_.empty(); }
  std::size_t rest_bytes() const { return rest_.size(); }

  // Takes the next byte; nothing at the end.
  std::optional<std::uint32_t> byte() {
    if (rest_.empty()) return std::nullopt;
    const auto value = static_cast<std::uint32_t>(rest_.front());
    rest_ = rest_.subspan(1);
    return value;
  }

  // Reads a number that began in a token's nibble. It cannot overflow, since it grows by at most 255 for each
  // byte of input.
  std::optional<std::size_t> number(std::uint32_t nibble) {
    std::size_t value = nibble;
    if (nibble < kLz4NibbleMax) return value;
    for (;;) {
      const auto addend = byte();
      if (!addend) return std::nullopt;
      value += *addend;
      if (*addend != 255) return value;
    }
  }

  std::span<const std::byte> take(std::size_t count) {
    const auto taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }

 private:
  std::span<const std::byte> rest_;
};

}  // namespace

DecodedBlock restore_lz4_block_reference(std::span<const std::byte> block, std::span<const std::byte> history,
                                         std::span<std::byte> output) {
  Reader reader(block);
  std::size_t written = 0;
  for (;;) {
    const auto token = reader.byte();
    if (!token) return {Status::kCorruptBlock, 0};

    const auto literal_count = reader.number(*token >> 4);
    if (!literal_count || *literal_count > reader.rest_bytes()) return {Status::kCorruptBlock, 0};
    if (*literal_count > output.size() - written) return {Status::kOutputTooSmall, 0};
    const auto literals = reader.take(*literal_count);
    std::copy(literals.begin(), literals.end(), output.begin() + static_cast<std::ptrdiff_t>(written));
    written += *literal_count;
    if (reader.at_end()) return {Status::kOk, written};

    const auto offset_low = reader.byte(), offset_high = reader.byte();
    if (!offset_low || !offset_high) return {Status::kCorruptBlock, 0};
    const std::size_t offset = *offset_low | *offset_high << 8;
    if (offset == 0 || offset > history.size() + written) return {Status::kCorruptBlock, 0};

    const auto length_code = reader.number(*token & 15);
    if (!length_code) return {Status::kCorruptBlock, 0};
    const std::size_t length = *length_code + kLz4MinMatchBytes;
    if (length > output.size() - written) return {Status::kOutputTooSmall, 0};
    // Copies byte by byte: a match may repeat bytes that it has just written.
    for (std::size_t end = written + length; written < end; ++written)
      output[written] =
          offset <= written ? output[written - offset] : history[history.size() - (offset - written)];
  }
}

}  // namespace hemstitch
