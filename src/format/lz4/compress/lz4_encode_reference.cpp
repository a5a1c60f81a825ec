#include <algorithm>
#include <cassert>

#include "format/lz4/block/lz4_token.hpp"
#include "format/lz4/compress/lz4_encode.hpp"

namespace hemstitch {
namespace {

// Writes into room that the caller has checked.
class Writer {
 public:
  explicit Writer(std::byte* output) : next_(output) {}

  void byte(std::uint32_t value) { *next_++ = static_cast<std::byte>(value); }
  void copy(std::span<const std::byte> bytes) { next_ = std::copy(bytes.begin(), bytes.end(), next_); }
  // Writes the rest of `value` that does not fit into the token's nibble.
  void extension(std::uint32_t value) {
    if (value < kLz4NibbleMax) return;
    std::uint32_t rest = value - kLz4NibbleMax;
    for (; rest >= 255; rest -= 255) byte(255);
    byte(rest);
  }

 private:
  std::byte* next_;
};

void write_sequence(Writer& writer, std::span<const std::byte> literals, const Sequence& sequence) {
  const std::uint32_t length_code =
      sequence.match_length == 0 ? 0 : sequence.match_length - kLz4MinMatchBytes;
  writer.byte(std::min(sequence.literal_count, kLz4NibbleMax) << 4 | std::min(length_code, kLz4NibbleMax));
  writer.extension(sequence.literal_count);
  writer.copy(literals);
  if (sequence.match_length == 0) return;
  writer.byte(sequence.offset & 0xFFu);
  writer.byte(sequence.offset >> 8);
  writer.extension(length_code);
}

}  // namespace

EncodedBlock encode_lz4_block(std::span<const std::byte> block, std::span<const Sequence> sequences,
                              std::span<std::byte> output) {
  Writer writer(output.data());
  std::size_t written_bytes = 0, position = 0;
  for (std::size_t index = 0; index < sequences.size(); ++index) {
    Sequence joined = sequences[index];
    while (joined.match_length != 0 && sequences[index + 1].literal_count == 0 &&
           sequences[index + 1].offset == joined.offset)
      joined.match_length += sequences[++index].match_length;

    const std::uint64_t sequence_bytes = lz4_sequence_bytes(joined.literal_count, joined.match_length);
    if (sequence_bytes > output.size() - written_bytes) return {Status::kOutputTooSmall, 0};
    write_sequence(writer, block.subspan(position, joined.literal_count), joined);
    written_bytes += sequence_bytes;
    position += std::size_t{joined.literal_count} + joined.match_length;
  }
  assert(position == block.size());
  return {Status::kOk, written_bytes};
}

}  // namespace hemstitch
