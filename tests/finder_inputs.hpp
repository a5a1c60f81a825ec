// Small inputs that finders get wrong when they get something wrong: ends of data, ends of groups, runs,
// periods, histories, and text with many matches of many lengths.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "match/finder.hpp"

namespace hemstitch::test {

struct NamedInput {
  std::string name;
  std::vector<std::byte> data;
  std::size_t history_bytes = 0;

  FinderInput finder_input() const { return {data, history_bytes}; }
};

inline std::vector<std::byte> period_bytes(std::size_t size, std::size_t period, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i)
    bytes[i] = i < period ? static_cast<std::byte>(random()) : bytes[i - period];
  return bytes;
}

inline std::vector<std::byte> random_bytes(std::size_t size, unsigned symbol_count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() % symbol_count);
  return bytes;
}

// Pieces of what came before, at all distances and of all lengths, between a few new bytes.
inline std::vector<std::byte> copied_bytes(std::size_t size, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> bytes = random_bytes(std::min<std::size_t>(size, 16), 256, seed);
  while (bytes.size() < size) {
    const std::size_t reach = std::size_t{1} << (random() % 17);
    const std::size_t offset = 1 + random() % std::min(bytes.size(), reach);
    for (std::size_t length = 2 + random() % (random() % 8 == 0 ? 400 : 24); length > 0; --length)
      bytes.push_back(bytes[bytes.size() - offset]);
    bytes.push_back(static_cast<std::byte>(random() % 4));
  }
  bytes.resize(size);
  return bytes;
}

// About `size` bytes each.
inline std::vector<NamedInput> finder_inputs(std::size_t size) {
  std::vector<NamedInput> inputs;
  inputs.push_back({"empty", {}, 0});
  for (const std::size_t small : {1, 2, 3, 4, 5, 6, 63, 64, 65, 129})
    inputs.push_back({"copies of " + std::to_string(small), copied_bytes(small, 7), 0});
  inputs.push_back({"all equal", std::vector<std::byte>(size, std::byte{0x41}), 0});
  for (const std::size_t period : {2, 3, 7, 8, 9, 11, 64, 255, 1000, 4096, 65535})
    inputs.push_back({"period " + std::to_string(period), period_bytes(size, period, 1), 0});
  inputs.push_back({"random", random_bytes(size, 256, 2), 0});
  inputs.push_back({"two symbols", random_bytes(size / 2, 2, 3), 0});
  inputs.push_back({"four symbols", random_bytes(size, 4, 4), 0});
  inputs.push_back({"copies", copied_bytes(size, 5), 0});
  inputs.push_back({"copies, odd size", copied_bytes(size - 13, 6), 0});
  for (const std::size_t history : {std::size_t{1}, std::size_t{64}, size / 3, size - 1, size})
    inputs.push_back({"copies, history " + std::to_string(history), copied_bytes(size, 8), history});
  // Runs that end at a group's edge and go on behind a single other byte.
  std::vector<std::byte> runs(size, std::byte{0});
  for (std::size_t i = 63; i < size; i += 64 + i % 5) runs[i] = std::byte{1};
  inputs.push_back({"broken runs", runs, 0});
  std::vector<std::byte> long_runs(size, std::byte{0});
  for (std::size_t i = 100; i < size; i += 90 + i % 301) long_runs[i] = static_cast<std::byte>(i);
  inputs.push_back({"long broken runs", long_runs, 17});
  return inputs;
}

}  // namespace hemstitch::test
