// Restores DEFLATE (RFC 1951) in a way that is easy to read: it defines what is valid, what it restores to,
// and where it ends. It is slow; backend `reference` uses it, every other decoder is compared with it, and it
// is compared with zlib's inflate.
//
// DEFLATE is a sequence of blocks; the last one is marked. A block is stored bytes, or tokens: literals, and
// matches, which repeat bytes from up to 32 KB before. Whatever piece of the stream comes, the decoder
// processes it item by item: a block's header, a token. An item that is cut off by the end of the piece is
// started again when more has come, so only its bits are kept.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "core/status.hpp"
#include "format/deflate/restore/deflate_header.hpp"
#include "format/stream_decoder.hpp"

namespace hemstitch {

struct DeflateRestored {
  Status status =
      Status::kOk;  // kTruncated, kCorruptBlock, or kOutputTooSmall: `output` is full, and more follows
  std::string_view detail = {};  // for kCorruptBlock: what is wrong
  std::size_t input_bytes = 0;   // taken, including the byte in which the stream ends
  unsigned last_byte_bits = 8;   // of that byte
  std::size_t output_bytes = 0;  // including what precedes damage
};

// Restores a whole stream. Ignores bytes after its end. `history`: what matches may refer to before the
// content.
DeflateRestored deflate_restore_reference(std::span<const std::byte> input,
                                          std::span<const std::byte> history, std::span<std::byte> output);

// The status of a block whose data must be a whole stream, with no bytes after it.
constexpr Status deflate_block_status(const DeflateRestored& restored, std::size_t data_bytes) {
  return restored.status == Status::kOk && restored.input_bytes == data_bytes ? Status::kOk
                                                                              : Status::kCorruptBlock;
}

// Piece by piece.
class DeflateReferenceDecoder : public StreamDecoder {
 public:
  explicit DeflateReferenceDecoder(std::span<const std::byte> history);

  StreamStep restore(std::span<const std::byte> input, std::span<std::byte> output) override;

  // After a restore() that met neither end nor damage: whether it stopped because there is no room.
  bool needs_room() const { return needs_room_; }
  // Of a stream that has ended: the number of bits taken of its last byte.
  unsigned last_byte_bits() const { return last_byte_bits_; }

 private:
  enum class Part { kBlockHeader, kStored, kTokens, kEnd };

  class Output;
  void restore_item(DeflateBits& bits, Output& output);
  void begin_block(DeflateBits& bits);
  void end_block(DeflateBits& bits);
  void restore_stored(DeflateBits& bits, Output& output);
  void restore_token(DeflateBits& bits, Output& output);
  void restore_match(Output& output);

  std::vector<std::byte> window_;   // the last bytes of the content, and what precedes it
  std::vector<std::byte> pending_;  // bytes whose items are not restored
  unsigned pending_bits_ = 0;       // of the first byte: bits that are restored
  bool needs_room_ = false;
  unsigned last_byte_bits_ = 8;

  Part part_ = Part::kBlockHeader;
  bool final_ = false;
  std::uint32_t stored_left_ = 0;
  DeflateCode litlen_, distance_;
  std::uint32_t match_left_ = 0, match_distance_ = 0;
};

}  // namespace hemstitch
