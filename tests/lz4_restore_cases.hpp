// LZ4 blocks to restore, sound and damaged: for CUDA and emulated CUDA.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "core/page.hpp"
#include "lz4_blocks.hpp"
#include "restore_chunk.hpp"

namespace hemstitch::testing {

// A block whose matches reach into a history of so many bytes: with all of it, without its first byte, and without any.
inline std::vector<Chunk> lz4_chunks_with_history(std::size_t history_bytes, std::size_t raw_bytes,
                                                  std::uint32_t seed) {
  const Bytes all = wordy_bytes(history_bytes + raw_bytes, seed);
  const Bytes history(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(history_bytes));
  const Bytes block = block_by_liblz4(std::span(all).subspan(history_bytes), 6, history);
  return {{block, raw_bytes, history, "sound"},
          {block, raw_bytes, Bytes(history.begin() + 1, history.end()), "history one short"},
          {block, raw_bytes, {}, "no history"}};
}

// Short sequences up to `lead` bytes of the block, a long one there, and one that reaches 65535 bytes back.
inline Bytes lz4_block_with_long_sequence(std::size_t lead, std::size_t literals, std::size_t length) {
  Lz4BlockWriter writer;
  writer.sequence(random_bytes(100), 1 + lead % 7, 4);
  for (std::uint32_t i = 0; writer.size() < lead; ++i)
    writer.sequence(random_bytes(i % 3, i), 1 + i % 60, 4 + i % 9);
  writer.sequence(random_bytes(literals), 1 + literals % 100, length);
  writer.sequence(random_bytes(3), 65535, 5).sequence({}, 1, 4);
  return writer.sequence(random_bytes(5), 0, 0).take();
}

// A number of literals or of a match that goes on for `chain` bytes, with or without an end.
inline Bytes lz4_block_of_a_chain(unsigned token, std::size_t chain, bool ends) {
  Bytes block = {static_cast<std::byte>(token)};
  if (token == 0x1F) block.insert(block.end(), {std::byte{'a'}, std::byte{1}, std::byte{0}});
  if (token == 0x0F) block.insert(block.end(), {std::byte{1}, std::byte{0}});
  block.insert(block.end(), chain, std::byte{255});
  if (ends) block.insert(block.end(), {std::byte{7}, std::byte{0}});
  return block;
}

// liblz4's blocks of all shapes, up to a page.
inline std::vector<Chunk> sound_lz4_pages() {
  std::vector<Chunk> sound;
  for (const std::size_t raw_bytes : {40u, 130u, 400u, 1100u, 4096u})
    for (const Shape& shape : shapes_of(raw_bytes))
      sound.push_back({block_by_liblz4(shape.bytes, 9), shape.bytes.size()});
  return sound;
}

// The chunk with this number among damaged ones: a tenth are random bytes, others a sound one with some bytes changed, cut
// or with a byte more or less of room. Small ones are chosen more often than large ones.
inline Chunk damaged_lz4_page(const std::vector<Chunk>& sound, std::size_t number, std::mt19937& random) {
  if (number % 10 == 0) {
    const std::size_t bytes = random() % 200;
    const auto seed = static_cast<std::uint32_t>(random());
    return {random_bytes(bytes, seed, number % 20 == 0 ? 256 : 40), random() % 300};
  }
  Chunk one = sound[std::min(random() % sound.size(), random() % sound.size())];
  for (auto changes = random() % 4; changes > 0; --changes)
    one.block[random() % one.block.size()] =
        static_cast<std::byte>(random() % 2 == 0 ? random() % 256 : random() % 20);
  if (random() % 8 == 0) one.block.resize(random() % (one.block.size() + 1));
  one.capacity = std::min(kPageBytes, one.capacity + random() % 3 - 1);
  return one;
}

}  // namespace hemstitch::testing
