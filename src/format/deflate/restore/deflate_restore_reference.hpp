// Restoring DEFLATE (RFC 1951), to be read: the definition of what is valid, of what it restores to, and of where it ends. It is slow;
// backend `reference` restores by it, and every other decoder is held against it, as it is against zlib's inflate.
//
// DEFLATE is blocks up to one that says that it is the last. A block is stored bytes, or tokens: literals, and matches, which repeat bytes up
// to 32 KB before. Whatever piece of the stream is at hand, the decoder takes it item by item: a block's header, a token. An item that the
// piece ends in is begun again when more has come; so nothing is kept of it but its bits.
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
  std::string_view detail = {};  // of kCorruptBlock: what is wrong
  std::size_t input_bytes = 0;   // taken, with the byte in which the stream ends
  unsigned last_byte_bits = 8;   // of that one
  std::size_t output_bytes = 0;  // also of what stands before damage
};

// A whole stream. Bytes behind its end are not looked at. `history`: what matches may reach back to, before the content.
DeflateRestored deflate_restore_reference(std::span<const std::byte> input,
                                          std::span<const std::byte> history, std::span<std::byte> output);

// Of a block's data, which is a whole stream and nothing behind it.
constexpr Status deflate_block_status(const DeflateRestored& restored, std::size_t data_bytes) {
  return restored.status == Status::kOk && restored.input_bytes == data_bytes ? Status::kOk
                                                                              : Status::kCorruptBlock;
}

// Piece by piece.
class DeflateReferenceDecoder : public StreamDecoder {
 public:
  explicit DeflateReferenceDecoder(std::span<const std::byte> history);

  StreamStep restore(std::span<const std::byte> input, std::span<std::byte> output) override;

  // After restore(), which did not end and met no damage: it stopped since there is no room.
  bool needs_room() const { return needs_room_; }
  // Of the last byte that was taken, of a stream that has ended.
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

  std::vector<std::byte> window_;   // the last bytes of the content, and what stands before it
  std::vector<std::byte> pending_;  // bytes whose items are not restored
  unsigned pending_bits_ = 0;       // of the first one, that are
  bool needs_room_ = false;
  unsigned last_byte_bits_ = 8;

  Part part_ = Part::kBlockHeader;
  bool final_ = false;
  std::uint32_t stored_left_ = 0;
  DeflateCode litlen_, distance_;
  std::uint32_t match_left_ = 0, match_distance_ = 0;
};

}  // namespace hemstitch
