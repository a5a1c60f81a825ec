#include "format/deflate/stream/deflate_piece.hpp"

#include <algorithm>
#include <cstring>

#include "format/deflate/frame/deflate_head.hpp"
#include "format/deflate/restore/deflate_header.hpp"
#include "format/deflate/restore/deflate_tokens.hpp"
#include "format/deflate/stream/deflate_finder.hpp"
#include "format/deflate/stream/deflate_markers.hpp"

namespace hemstitch {
namespace {

// After so many symbols, it checks whether the rest can be bytes.
constexpr std::ptrdiff_t kSymbolsAtOnce = 32768;
// After so many bytes of content, it checks whether the piece was cancelled.
constexpr std::ptrdiff_t kBytesAtOnce = 262144;
// It asks for so much memory at once.
constexpr std::size_t kWrittenAtOnce = 262144;

}  // namespace

// memory: [a window of markers][symbols ...][window][bytes ...][bytes of the next part ...]
struct DeflatePieceDecoder::Output {
  Output(std::span<std::byte> memory, DeflatePieceGuide& piece_guide)
      : guide(piece_guide),
        memory_begin(memory.data()),
        memory_end(memory.data() + memory.size()),
        symbols_begin(reinterpret_cast<std::uint16_t*>(memory.data())),
        symbols_at(symbols_begin + kDeflateWindowBytes) {}

  // For how many more elements there is memory.
  template <class Element>
  std::ptrdiff_t left(const Element* at) const {
    return (memory_end - reinterpret_cast<const std::byte*>(at)) /
           static_cast<std::ptrdiff_t>(sizeof(Element));
  }
  // Whether so many more may be written.
  template <class Element>
  bool has_room(const Element* at, std::size_t count) {
    if (count > static_cast<std::size_t>(left(at))) return false;
    const std::size_t end = place(at) + count * sizeof(Element);
    if (end <= writable_bytes) return true;
    const std::size_t wanted =
        std::min((end + kWrittenAtOnce - 1) / kWrittenAtOnce * kWrittenAtOnce, place(memory_end));
    if (!guide.may_write(wanted)) return false;
    writable_bytes = wanted;
    return true;
  }
  bool in_bytes() const { return bytes_begin != nullptr; }
  // Continues with bytes once the window has no more markers.
  void leave_symbols() {
    const std::span<const std::uint16_t> window(symbols_at - kDeflateWindowBytes, kDeflateWindowBytes);
    auto* const behind = reinterpret_cast<std::byte*>(symbols_at);
    if (!all_bytes(window) || !has_room(behind, kDeflateWindowBytes)) return;
    bytes_begin = behind;
    resolve_markers(window.data(), window.size(), {}, bytes_begin);
    bytes_at = bytes_begin + kDeflateWindowBytes;
  }
  // Nothing precedes a new stream.
  void begin_stream() {
    bytes_begin = bytes_at = in_bytes() ? bytes_at : reinterpret_cast<std::byte*>(symbols_at);
  }
  std::size_t place(const void* at) const {
    return static_cast<std::size_t>(static_cast<const std::byte*>(at) - memory_begin);
  }

  DeflatePieceGuide& guide;
  std::byte* memory_begin;
  std::byte* memory_end;
  std::size_t writable_bytes = 0;
  std::uint16_t* symbols_begin;
  std::uint16_t* symbols_at;
  std::byte* bytes_begin = nullptr;  // matches may repeat the bytes from here on
  std::byte* bytes_at = nullptr;
};

std::vector<DeflatePart> DeflatePieceDecoder::restore(std::span<const std::byte> input,
                                                      std::uint64_t begin_bits, bool members,
                                                      std::span<std::byte> memory, DeflatePieceGuide& guide) {
  std::vector<DeflatePart> parts;
  Output output(memory, guide);
  if (!output.has_room(output.symbols_begin, kDeflateWindowBytes)) return parts;
  write_markers({output.symbols_begin, kDeflateWindowBytes});
  std::uint64_t position_bits = begin_bits;
  DeflatePart part{.begin_bits = begin_bits, .symbols_at = output.place(output.symbols_at)};
  bool in_part = false;  // whether the part has a block
  for (;;) {
    bool final = false;
    if (restore_block(input, position_bits, output, final, guide) != Stop::kNone) break;
    if (part.begins_stream) {
      part.byte_count = output.place(output.bytes_at) - part.bytes_at;
    } else {
      part.symbol_count = (output.place(output.symbols_at) - part.symbols_at) / sizeof(std::uint16_t);
      if (output.in_bytes()) {
        part.bytes_at = output.place(output.bytes_begin) + kDeflateWindowBytes;
        part.byte_count = output.place(output.bytes_at) - part.bytes_at;
      }
    }
    part.end_bits = position_bits;
    part.final = final;
    in_part = true;
    if (!final) {
      if (guide.ends_at(position_bits)) break;
      continue;
    }
    const std::uint64_t trailer = (position_bits + 7) / 8;
    if (!members || trailer + kGzipTrailerBytes >= input.size()) break;
    const auto behind = input.subspan(static_cast<std::size_t>(trailer + kGzipTrailerBytes));
    const DeflateHead head = read_gzip_head(behind.data(), behind.size());
    if (head.status != Status::kOk) break;
    parts.push_back(part);
    in_part = false;
    position_bits = (trailer + kGzipTrailerBytes + head.bytes) * 8;
    output.begin_stream();
    part = {.begin_bits = position_bits, .begins_stream = true, .bytes_at = output.place(output.bytes_at)};
    if (guide.ends_at(position_bits)) break;
  }
  if (in_part) parts.push_back(part);
  return parts;
}

DeflatePieceDecoder::Stop DeflatePieceDecoder::restore_block(std::span<const std::byte> input,
                                                             std::uint64_t& position_bits, Output& output,
                                                             bool& final, DeflatePieceGuide& guide) {
  if (guide.is_cancelled()) return Stop::kCancelled;
  DeflateBits bits(input, position_bits);
  try {
    const DeflateBlockHeader header = read_deflate_block_header(bits);
    final = header.final;
    position_bits = bits.position_bits();
    if (header.type != DeflateBlockType::kStored) {
      build_deflate_table(litlen_, header.litlen_lengths());
      build_deflate_table(distance_, header.distance_lengths());
      return restore_tokens(input, position_bits, output, guide);
    }
    const auto at = static_cast<std::size_t>(position_bits / 8);
    const std::size_t count = header.stored_bytes;
    if (input.size() - at < count) return Stop::kBad;
    const auto from = input.subspan(at, count);
    if (output.in_bytes()) {
      if (!output.has_room(output.bytes_at, count)) return Stop::kBad;
      output.bytes_at = std::copy(from.begin(), from.end(), output.bytes_at);
    } else {
      if (!output.has_room(output.symbols_at, count)) return Stop::kBad;
      output.symbols_at = std::transform(from.begin(), from.end(), output.symbols_at,
                                         [](std::byte byte) { return static_cast<std::uint16_t>(byte); });
      output.leave_symbols();
    }
    position_bits += count * std::uint64_t{8};
    return Stop::kNone;
  } catch (const DeflateInputEnds&) {
    return Stop::kBad;
  } catch (const DeflateDamage&) {
    return Stop::kBad;
  }
}

DeflatePieceDecoder::Stop DeflatePieceDecoder::restore_tokens(std::span<const std::byte> input,
                                                              std::uint64_t& position_bits, Output& output,
                                                              DeflatePieceGuide& guide) {
  // Tokens are decoded only until the end of the input is near, so some bytes after it count as input. Tokens
  // that reach into those bytes are refused.
  constexpr std::size_t kTakenBehindBytes =
      sizeof(std::uint64_t) + static_cast<std::size_t>(kDeflateNearInputBytes);
  static_assert(kDeflateReadBehindBytes >= kTakenBehindBytes);
  const std::span<const std::byte> readable(input.data(), input.size() + kTakenBehindBytes);
  // Restores a part: 32 K symbols, or so many bytes. Returns whether the block continues.
  const auto some = [&]<class Element>(Element* begin, Element*& at, std::ptrdiff_t most, bool& bad) {
    const std::ptrdiff_t room = std::min(output.left(at), most + kDeflateNearOutput);
    if (!output.has_room(at, static_cast<std::size_t>(room))) {
      bad = true;
      return false;
    }
    DeflateTokensRun<Element> run{readable, position_bits, begin, at, at + room};
    const DeflateTokensEnd stop = restore_deflate_tokens(litlen_, distance_, run);
    const bool goes_on = stop == DeflateTokensEnd::kNearEnds && run.at - at >= most;
    bad = (stop != DeflateTokensEnd::kBlockEnd && !goes_on) ||
          run.position_bits > input.size() * std::uint64_t{8};
    position_bits = run.position_bits;
    at = run.at;
    return goes_on;
  };
  for (bool goes_on = true, bad = false; goes_on;) {
    if (output.in_bytes()) {
      goes_on = some(output.bytes_begin, output.bytes_at, kBytesAtOnce, bad);
    } else {
      goes_on = some(output.symbols_begin, output.symbols_at, kSymbolsAtOnce, bad);
      if (!bad) output.leave_symbols();
    }
    if (bad) return Stop::kBad;
    if (goes_on && guide.is_cancelled()) return Stop::kCancelled;
  }
  return Stop::kNone;
}

std::vector<std::byte> deflate_window_behind(const DeflatePart& part, std::span<const std::byte> memory,
                                             std::span<const std::byte> window) {
  if (part.begins_stream) {
    const std::size_t count = std::min<std::size_t>(part.byte_count, kDeflateWindowBytes);
    const auto last = memory.subspan(part.bytes_at + part.byte_count - count, count);
    return {last.begin(), last.end()};
  }
  // The 32 KB before the part's bytes are the content that precedes them.
  if (part.byte_count != 0) {
    const auto last =
        memory.subspan(part.bytes_at + part.byte_count - kDeflateWindowBytes, kDeflateWindowBytes);
    return {last.begin(), last.end()};
  }
  const std::size_t known = std::min<std::size_t>(window.size() + part.symbol_count, kDeflateWindowBytes);
  std::vector<std::byte> behind(known);
  const auto* const end =
      reinterpret_cast<const std::uint16_t*>(memory.data() + part.symbols_at) + part.symbol_count;
  resolve_markers(end - known, known, window, behind.data());
  return behind;
}

}  // namespace hemstitch
