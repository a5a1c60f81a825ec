#include "format/deflate/restore/deflate_restore_reference.hpp"

#include <algorithm>

namespace hemstitch {
namespace {

// Thrown when the output is full.
struct NoRoom {};

std::span<const std::byte> last_bytes(std::span<const std::byte> bytes, std::size_t count) {
  return bytes.last(std::min(bytes.size(), count));
}

}  // namespace

// The room for a piece of content, with the content before it.
class DeflateReferenceDecoder::Output {
 public:
  Output(std::span<const std::byte> before, std::span<std::byte> room) : before_(before), room_(room) {}

  void require_room() const {
    if (bytes_ == room_.size()) throw NoRoom{};
  }
  void put(std::byte byte) {
    require_room();
    room_[bytes_++] = byte;
  }
  bool reaches(std::size_t distance) const { return distance <= bytes_ + before_.size(); }
  std::byte at(std::size_t distance) const {
    return distance <= bytes_ ? room_[bytes_ - distance] : before_[before_.size() + bytes_ - distance];
  }
  std::size_t bytes() const { return bytes_; }

 private:
  std::span<const std::byte> before_;
  std::span<std::byte> room_;
  std::size_t bytes_ = 0;
};

DeflateReferenceDecoder::DeflateReferenceDecoder(std::span<const std::byte> history) {
  const auto reached = last_bytes(history, kDeflateWindowBytes);
  window_.assign(reached.begin(), reached.end());
}

StreamStep DeflateReferenceDecoder::restore(std::span<const std::byte> input, std::span<std::byte> room) {
  StreamStep step;
  const std::size_t kept_bytes = pending_.size();
  pending_.insert(pending_.end(), input.begin(), input.end());
  DeflateBits bits(pending_, pending_bits_);
  Output output(window_, room);
  needs_room_ = false;
  bool input_ends = false;
  while (part_ != Part::kEnd) {
    const DeflateBits before = bits;
    try {
      restore_item(bits, output);
    } catch (const DeflateInputEnds&) {
      bits = before;
      input_ends = true;
      break;
    } catch (const NoRoom&) {
      bits = before;
      needs_room_ = true;
      break;
    } catch (const DeflateDamage& damage) {
      bits = before;
      step.status = Status::kCorruptBlock;
      step.detail = damage.what;
      break;
    }
  }

  // An unfinished item needs all bytes that there are; else bytes that were not used are left to the caller.
  const std::uint64_t position = bits.position_bits();
  const std::size_t used_bytes =
      input_ends ? pending_.size() : std::max<std::size_t>(kept_bytes, (position + 7) / 8);
  step.input_bytes = used_bytes - kept_bytes;
  step.output_bytes = output.bytes();
  step.ended = part_ == Part::kEnd;
  last_byte_bits_ = position % 8 == 0 ? 8 : static_cast<unsigned>(position % 8);
  pending_.resize(used_bytes);
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(position / 8));
  pending_bits_ = static_cast<unsigned>(position % 8);

  const auto content = room.first(step.output_bytes);
  window_.insert(window_.end(), content.begin(), content.end());
  if (window_.size() > kDeflateWindowBytes)
    window_.erase(window_.begin(), window_.end() - static_cast<std::ptrdiff_t>(kDeflateWindowBytes));
  return step;
}

void DeflateReferenceDecoder::restore_item(DeflateBits& bits, Output& output) {
  if (match_left_ != 0) return restore_match(output);
  switch (part_) {
    case Part::kBlockHeader:
      return begin_block(bits);
    case Part::kStored:
      return restore_stored(bits, output);
    case Part::kTokens:
      return restore_token(bits, output);
    case Part::kEnd:
      return;
  }
}

void DeflateReferenceDecoder::begin_block(DeflateBits& bits) {
  const DeflateBlockHeader header = read_deflate_block_header(bits);
  final_ = header.final;
  if (header.type == DeflateBlockType::kStored) {
    part_ = Part::kStored;
    stored_left_ = header.stored_bytes;
    return;
  }
  litlen_.set(header.litlen_lengths());
  distance_.set(header.distance_lengths());
  part_ = Part::kTokens;
}

void DeflateReferenceDecoder::end_block(DeflateBits&) { part_ = final_ ? Part::kEnd : Part::kBlockHeader; }

void DeflateReferenceDecoder::restore_stored(DeflateBits& bits, Output& output) {
  if (stored_left_ == 0) return end_block(bits);
  output.require_room();
  output.put(static_cast<std::byte>(bits.take(8)));
  --stored_left_;
}

void DeflateReferenceDecoder::restore_token(DeflateBits& bits, Output& output) {
  const std::uint32_t symbol = litlen_.decode(bits, kNoLitlenCode);
  if (symbol < kDeflateEndOfBlock) return output.put(static_cast<std::byte>(symbol));
  if (symbol == kDeflateEndOfBlock) return end_block(bits);
  if (symbol >= kDeflateLitlenCount) throw DeflateDamage{kNoLitlenCode};
  const std::uint32_t length = deflate_length_base(symbol) + bits.take(deflate_length_extra_bits(symbol));
  const std::uint32_t distance_symbol = distance_.decode(bits, kNoDistanceCode);
  if (distance_symbol >= kDeflateDistanceCount) throw DeflateDamage{kNoDistanceCode};
  const std::uint32_t distance =
      deflate_distance_base(distance_symbol) + bits.take(deflate_distance_extra_bits(distance_symbol));
  output.require_room();
  if (!output.reaches(distance)) throw DeflateDamage{kDistanceTooFar};
  match_left_ = length;
  match_distance_ = distance;
}

void DeflateReferenceDecoder::restore_match(Output& output) {
  output.put(output.at(match_distance_));
  --match_left_;
}

DeflateRestored deflate_restore_reference(std::span<const std::byte> input,
                                          std::span<const std::byte> history, std::span<std::byte> output) {
  DeflateReferenceDecoder decoder(history);
  const StreamStep step = decoder.restore(input, output);
  DeflateRestored restored{.status = step.status,
                           .detail = step.detail,
                           .input_bytes = step.input_bytes,
                           .last_byte_bits = decoder.last_byte_bits(),
                           .output_bytes = step.output_bytes};
  if (step.status == Status::kOk && !step.ended)
    restored.status = decoder.needs_room() ? Status::kOutputTooSmall : Status::kTruncated;
  return restored;
}

}  // namespace hemstitch
