// Inputs that algorithms trip over, made the same on every machine; and the folder of real files, where there
// is one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "match/common/finder.hpp"

namespace hemstitch::testing {

using Bytes = std::vector<std::byte>;

struct Shape {
  std::string name;
  Bytes bytes;
};

// What a finder is given: a block, and what stands before it.
struct FinderCase {
  std::string name;
  Bytes data;  // history, then the block
  std::size_t history_bytes = 0;

  FinderInput input() const { return {data, history_bytes}; }
};

// Uniform bytes below `alphabet`. std::mt19937 is defined by the standard; distributions are not, so none is
// used.
inline Bytes random_bytes(std::size_t count, std::uint32_t seed = 1, std::uint32_t alphabet = 256) {
  std::mt19937 random(seed);
  Bytes bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>((random() >> 8) % alphabet);
  return bytes;
}

// Random bytes repeated over and over; a period of 1 is a run.
inline Bytes periodic_bytes(std::size_t count, std::size_t period) {
  const Bytes pattern = random_bytes(period, static_cast<std::uint32_t>(period));
  Bytes bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = pattern[i % period];
  return bytes;
}

// Words of a small vocabulary with spaces between them: repeats of all lengths and distances, as in text.
inline Bytes wordy_bytes(std::size_t count, std::uint32_t seed = 1) {
  std::mt19937 random(seed);
  std::vector<std::string> vocabulary(300);
  for (std::string& word : vocabulary)
    for (std::size_t letters = 1 + random() % 9; letters > 0; --letters)
      word += static_cast<char>('a' + random() % 26);
  Bytes bytes;
  while (bytes.size() < count) {
    // The product of two draws makes some words much more frequent than others.
    for (const char c : vocabulary[(random() % 300) * (random() % 300) / 300])
      bytes.push_back(static_cast<std::byte>(c));
    bytes.push_back(std::byte{' '});
  }
  bytes.resize(count);
  return bytes;
}

// Runs of random lengths, among them lengths around those where encodings of lengths change.
inline Bytes runs_bytes(std::size_t count, std::uint32_t seed) {
  constexpr std::size_t kLengths[] = {1,  3,   4,   5,   14,  15,  16,  18,  19,
                                      20, 254, 255, 256, 269, 270, 273, 274, 275};
  std::mt19937 random(seed);
  Bytes bytes;
  while (bytes.size() < count) {
    const std::size_t length = kLengths[random() % std::size(kLengths)];
    bytes.insert(bytes.end(), length, static_cast<std::byte>(random() % 5));
  }
  bytes.resize(count);
  return bytes;
}

// Pieces of what came before, at all distances and of all lengths, between a few new bytes.
inline Bytes copied_bytes(std::size_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  Bytes bytes = random_bytes(std::min<std::size_t>(count, 16), seed);
  while (bytes.size() < count) {
    const std::size_t reach = std::size_t{1} << (random() % 17);
    const std::size_t offset = 1 + random() % std::min(bytes.size(), reach);
    for (std::size_t length = 2 + random() % (random() % 8 == 0 ? 400 : 24); length > 0; --length)
      bytes.push_back(bytes[bytes.size() - offset]);
    bytes.push_back(static_cast<std::byte>(random() % 4));
  }
  bytes.resize(count);
  return bytes;
}

inline Bytes equal_bytes(std::size_t count) { return Bytes(count, std::byte{'a'}); }

// Pieces of words, noise, runs and repeats, so that compressed and stored blocks alternate.
inline Bytes mixed_bytes(std::size_t count, std::uint32_t seed = 1) {
  std::mt19937 random(seed);
  Bytes bytes;
  while (bytes.size() < count) {
    const std::size_t piece_bytes = 1 + random() % 100000;
    const auto kind = random() % 5;
    const auto piece_seed = static_cast<std::uint32_t>(random());
    const Bytes piece = kind == 0   ? random_bytes(piece_bytes, piece_seed)
                        : kind == 1 ? equal_bytes(piece_bytes)
                        : kind == 2 ? periodic_bytes(piece_bytes, 1 + piece_seed % 70000)
                                    : wordy_bytes(piece_bytes, piece_seed);
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

// One of every kind, `count` bytes each.
inline std::vector<Shape> shapes_of(std::size_t count) {
  std::vector<Shape> shapes = {{"random", random_bytes(count, 1)},
                               {"two letters", random_bytes(count, 2, 2)},
                               {"words", wordy_bytes(count, 3)},
                               {"runs", runs_bytes(count, 4)}};
  for (const std::size_t period : {1, 2, 3, 4, 5, 7, 31, 32, 33, 255, 1024, 4097, 32768, 65535, 65536})
    if (period == 1 || 2 * period <= count)
      shapes.push_back({"period " + std::to_string(period), periodic_bytes(count, period)});
  for (Shape& shape : shapes) shape.name += ", " + std::to_string(count) + " bytes";
  return shapes;
}

// Block sizes at which formats, segments and tables change.
inline constexpr std::size_t kBoundarySizes[] = {0,    1,    3,    4,    5,    11,    12,    13,
                                                 14,   31,   32,   33,   1023, 1024,  1025,  1279,
                                                 1280, 1281, 4095, 4096, 4097, 65535, 65536, 65537};

// Every kind of input at every boundary size up to `most_bytes`.
inline std::vector<Shape> boundary_shapes(std::size_t most_bytes) {
  std::vector<Shape> all;
  for (const std::size_t count : kBoundarySizes) {
    if (count > most_bytes) continue;
    for (Shape& shape : shapes_of(count)) all.push_back(std::move(shape));
  }
  return all;
}

// Inputs that finders get wrong when they get something wrong, of about `count` bytes each: ends of data, ends of groups,
// runs, periods, histories, and many matches of many lengths.
inline std::vector<FinderCase> finder_cases(std::size_t count) {
  std::vector<FinderCase> cases;
  cases.push_back({"empty", {}, 0});
  for (const std::size_t small : {1, 2, 3, 4, 5, 6, 63, 64, 65, 129})
    cases.push_back({"copies of " + std::to_string(small), copied_bytes(small, 7), 0});
  cases.push_back({"all equal", equal_bytes(count), 0});
  for (const std::size_t period : {2, 3, 7, 8, 9, 11, 64, 255, 1000, 4096, 65535})
    cases.push_back({"period " + std::to_string(period), periodic_bytes(count, period), 0});
  cases.push_back({"random", random_bytes(count, 2), 0});
  cases.push_back({"two symbols", random_bytes(count / 2, 3, 2), 0});
  cases.push_back({"four symbols", random_bytes(count, 4, 4), 0});
  cases.push_back({"copies", copied_bytes(count, 5), 0});
  cases.push_back({"copies, odd size", copied_bytes(count - 13, 6), 0});
  for (const std::size_t history : {std::size_t{1}, std::size_t{64}, count / 3, count - 1, count})
    cases.push_back({"copies, history " + std::to_string(history), copied_bytes(count, 8), history});
  // Runs that end at a group's edge and go on behind a single other byte.
  Bytes runs(count, std::byte{0});
  for (std::size_t i = 63; i < count; i += 64 + i % 5) runs[i] = std::byte{1};
  cases.push_back({"broken runs", runs, 0});
  Bytes long_runs(count, std::byte{0});
  for (std::size_t i = 100; i < count; i += 90 + i % 301) long_runs[i] = static_cast<std::byte>(i);
  cases.push_back({"long broken runs", long_runs, 17});
  return cases;
}

// Blocks on both sides of where hash_chain tells few values from many (match/hash_chain/hash_width.hpp), and whose matches show which side
// it took: four letters, with a fifth one in more and more of the block, or behind more and more zeros.
inline std::vector<FinderCase> few_values_cases() {
  constexpr std::size_t kBytes = 9000;
  std::vector<FinderCase> cases;
  for (std::size_t fifth = 1340; fifth < 1480; fifth += 4)
    cases.push_back({"a fifth letter in " + std::to_string(fifth),
                     random_bytes(fifth, 3, 5) + random_bytes(kBytes - fifth, 1, 4), 0});
  for (std::size_t zeros = 700; zeros < 860; zeros += 5)
    cases.push_back({"letters behind zeros, " + std::to_string(zeros),
                     Bytes(zeros, std::byte{0}) + random_bytes(kBytes - zeros, 1, 4), 0});
  return cases;
}

// The folder of real files that HEMSTITCH_CORPORA names, or nothing.
inline std::optional<std::filesystem::path> corpora() {
  const char* folder = std::getenv("HEMSTITCH_CORPORA");
  if (folder == nullptr || *folder == '\0') return std::nullopt;
  return folder;
}

// The first `most_bytes` bytes of a file.
inline Bytes read_file(const std::filesystem::path& path, std::size_t most_bytes = SIZE_MAX) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  Bytes bytes(std::min<std::size_t>(most_bytes, std::filesystem::file_size(path)));
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

}  // namespace hemstitch::testing
