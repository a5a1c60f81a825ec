// Inputs that a test can make anywhere: the shapes that break compressors, and something like text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string_view>
#include <vector>

namespace hemstitch::testing {

using Bytes = std::vector<std::byte>;

inline Bytes random_bytes(std::size_t count, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  Bytes bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

inline Bytes equal_bytes(std::size_t count, int value = 'a') {
  return Bytes(count, static_cast<std::byte>(value));
}

// Random within a period, so that nothing matches at a shorter distance.
inline Bytes periodic_bytes(std::size_t count, std::size_t period, std::uint64_t seed = 1) {
  Bytes bytes = random_bytes(count, seed);
  for (std::size_t i = period; i < count; i++) bytes[i] = bytes[i - period];
  return bytes;
}

// Words of a small language with a skewed choice: compresses about like prose.
inline Bytes text_bytes(std::size_t count, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  std::vector<Bytes> words;
  for (int w = 0; w < 2000; w++) {
    Bytes word(2 + random() % 9);
    for (std::byte& letter : word)
      letter = static_cast<std::byte>("etaoinshrdlucmfwypvbgkjqxz"[random() % (1 + random() % 26)]);
    words.push_back(word);
  }
  Bytes bytes;
  while (bytes.size() < count) {
    const auto& word = words[random() % (1 + random() % words.size())];
    bytes.insert(bytes.end(), word.begin(), word.end());
    bytes.push_back(std::byte{' '});
  }
  bytes.resize(count);
  return bytes;
}

// Runs of text, noise, zeros and repeats, so that compressed and stored blocks alternate.
inline Bytes mixed_bytes(std::size_t count, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  Bytes bytes;
  while (bytes.size() < count) {
    const std::size_t run = 1 + random() % 100000;
    const std::uint64_t run_seed = random();
    const Bytes piece = random() % 4 == 0   ? random_bytes(run, run_seed)
                        : random() % 3 == 0 ? equal_bytes(run, static_cast<int>(run_seed % 256))
                        : random() % 2 == 0 ? periodic_bytes(run, 1 + run_seed % 70000, run_seed)
                                            : text_bytes(run, run_seed);
    bytes.insert(bytes.end(), piece.begin(), piece.end());
  }
  bytes.resize(count);
  return bytes;
}

inline Bytes bytes_of(std::string_view text) {
  Bytes bytes;
  for (const char c : text) bytes.push_back(static_cast<std::byte>(c));
  return bytes;
}

inline Bytes operator+(Bytes left, const Bytes& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

}  // namespace hemstitch::testing
