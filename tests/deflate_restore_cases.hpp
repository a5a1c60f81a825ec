// Streams to restore on devices, sound and damaged, and what the reference makes of them: for CUDA, emulated CUDA and WebGPU.
#pragma once

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "deflate_streams.hpp"
#include "format/deflate/restore/deflate_restore_reference.hpp"

namespace hemstitch::testing {

struct DeflateCase {
  std::string name;
  Bytes stream;
  std::size_t room = 0;
  Bytes history = {};
};

struct DeflateVerdict {
  Status status = Status::kInternal;
  Bytes content = {};  // if it is kOk
};

inline DeflateVerdict deflate_verdict(std::span<const std::byte> stream, std::span<const std::byte> history,
                                      std::size_t room) {
  DeflateVerdict verdict{Status::kOk, Bytes(room)};
  const DeflateRestored restored = deflate_restore_reference(stream, history, verdict.content);
  verdict.status = restored.status == Status::kOutputTooSmall ? restored.status
                                                              : deflate_block_status(restored, stream.size());
  verdict.content.resize(verdict.status == Status::kOk ? restored.output_bytes : 0);
  return verdict;
}

// zlib's streams of one content, at all of its ways to write.
inline std::vector<Bytes> zlib_streams(std::span<const std::byte> content) {
  std::vector<Bytes> streams;
  for (const int level : {0, 1, 6, 9}) streams.push_back(zlib_stream(content, level));
  for (const int strategy : {Z_FIXED, Z_HUFFMAN_ONLY, Z_RLE})
    streams.push_back(zlib_stream(content, 6, strategy));
  streams.push_back(zlib_stream(content, 6, Z_DEFAULT_STRATEGY, 1));  // many small blocks
  return streams;
}

// Streams whose matches reach to the first byte of a history of `history_bytes`, with all of it, without its
// first byte, and without any.
inline std::vector<DeflateCase> deflate_cases_with_history(std::size_t history_bytes,
                                                           std::size_t content_bytes) {
  const Bytes all = wordy_bytes(history_bytes + content_bytes);
  const auto history = std::span(all).first(history_bytes);
  const Bytes stream =
      zlib_stream(std::span(all).subspan(history_bytes), 9, Z_DEFAULT_STRATEGY, 8, -MAX_WBITS, history);
  const std::string name = "history of " + std::to_string(history_bytes);
  return {{name, stream, content_bytes, Bytes(history.begin(), history.end())},
          {name + ", one byte short", stream, content_bytes, Bytes(history.begin() + 1, history.end())},
          {name + ", without", stream, content_bytes}};
}

// A stream cut everywhere, with every `bit_step`-th bit flipped from `first_bit` on, and with a byte too
// many. `room_of` says how much room there is for the one with that bit.
template <typename RoomOf>
std::vector<DeflateCase> cut_and_flipped_deflate_cases(const Bytes& stream, std::size_t content_bytes,
                                                       std::size_t first_bit, std::size_t bit_step,
                                                       const RoomOf& room_of) {
  std::vector<DeflateCase> cases;
  for (std::size_t bytes = 0; bytes <= stream.size(); ++bytes)
    cases.push_back(
        {"cut", Bytes(stream.begin(), stream.begin() + static_cast<std::ptrdiff_t>(bytes)), 1000});
  for (std::size_t bit = first_bit; bit < 8 * stream.size(); bit += bit_step) {
    cases.push_back({"bit " + std::to_string(bit), stream, room_of(bit)});
    cases.back().stream[bit / 8] ^= std::byte{1} << bit % 8;
  }
  cases.push_back({"and a byte", stream, content_bytes});
  cases.back().stream.push_back(std::byte{0});
  return cases;
}

// Codes that no compressor writes, of which zlib accepts some.
inline std::vector<DeflateCase> unusual_deflate_codes() {
  std::vector<DeflateCase> cases;
  const auto add = [&](const DeflateBitWriter& writer, const std::string& name) {
    for (const std::size_t room : {0u, 1u, 2u, 3u, 14u, 17u, 100u})
      cases.push_back({name + ", room " + std::to_string(room), writer.bytes(), room});
  };
  std::vector<std::uint8_t> litlens(257, 0);
  litlens[256] = 1;
  add(DeflateBitWriter().dynamic(true, litlens, {0}).code(0, 1), "the end alone, of one bit");
  add(DeflateBitWriter().dynamic(true, litlens, {0}).code(1, 1), "what is no code beside the end");
  litlens['a'] = 1;
  add(DeflateBitWriter().dynamic(true, litlens, {0}).code(0, 1).code(0, 1).code(1, 1),
      "two codes of one bit");
  // Codes of 1 to 15 bits; the longest are those of the end and of length 3.
  std::vector<std::uint8_t> deep(258, 0);
  for (std::uint8_t i = 1; i <= 14; ++i) deep[i] = i;
  deep[256] = deep[257] = 15;
  DeflateBitWriter writer;
  writer.dynamic(true, deep, {1});
  for (unsigned i = 1; i <= 14; ++i) writer.code((1u << i) - 2, i);
  writer.code(0x7FFF, 15).code(0, 1).code(0x7FFE, 15);
  add(writer, "codes of 15 bits and a single distance");
  add(DeflateBitWriter().dynamic(true, deep, {1}).code(0, 1).code(0x7FFF, 15).code(1, 1).code(0x7FFE, 15),
      "the half of a single distance that is none");
  add(DeflateBitWriter().dynamic(true, deep, {0}).code(0, 1).code(0x7FFE, 15), "no distance at all");
  add(DeflateBitWriter().block(false, 1).code(0, 7).block(true, 0).align().bits(0, 16).bits(0xFFFF, 16),
      "blocks of nothing");
  add(DeflateBitWriter().block(true, 3), "the reserved type");
  add(DeflateBitWriter().block(true, 0).align().bits(2, 16).bits(0xFFFF, 16).bits(0, 16),
      "sizes that contradict");
  for (const unsigned symbol : {286u, 287u})
    add(DeflateBitWriter().block(true, 1).code(0b11000000 + symbol - 280, 8).code(0, 7),
        "fixed codes that are none");
  deep[20] = 3;
  add(DeflateBitWriter().dynamic(true, deep, {1}).code(0, 1), "an over-subscribed code");
  deep[20] = deep[3] = 0;
  add(DeflateBitWriter().dynamic(true, deep, {1}).code(0, 1), "an incomplete code");
  // More blocks than a turn of WebGPU's processes; as many as all turns process.
  DeflateBitWriter empty;
  for (int i = 0; i < 40; ++i) empty.block(false, 1).code(0, 7);
  cases.push_back({"empty blocks without an end", empty.bytes(), 10});
  empty.block(true, 1).code(0, 7);
  cases.push_back({"empty blocks", empty.bytes(), 10});
  return cases;
}

// Up to three flipped bits, in the header of the first block or anywhere; some streams are cut as well.
inline void mutate_deflate_stream(Bytes& stream, std::mt19937& random) {
  const std::size_t reach = random() % 2 == 0 ? std::min<std::size_t>(stream.size(), 60) : stream.size();
  for (auto changes = random() % 4; changes > 0; --changes)
    stream[random() % reach] ^= std::byte{1} << random() % 8;
  if (random() % 8 == 0) stream.resize(random() % (stream.size() + 1));
}

}  // namespace hemstitch::testing
