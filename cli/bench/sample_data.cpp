#include "cli/bench/sample_data.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>

namespace hemstitch::cli {
namespace {

constexpr std::size_t kSampleBytes = 16 << 20;
constexpr std::size_t kSectionBytes = 1 << 20;  // words and records alternate
constexpr std::uint32_t kWordCount = 8192;
constexpr std::uint32_t kRecordCount = 64;  // how many kinds of records there are

// Uses only the raw output of the engine, since distributions differ between standard libraries.
class Random {
 public:
  std::uint32_t operator()() { return static_cast<std::uint32_t>(engine_()); }

 private:
  std::mt19937 engine_;  // its default seed is part of the standard
};

std::vector<std::string> make_words(Random& random) {
  std::vector<std::string> words(kWordCount);
  for (std::string& word : words) {
    word.resize(2 + random() % 9);
    for (char& letter : word) letter = static_cast<char>('a' + (random() % 26) * (random() % 26) / 25);
    word += ' ';
  }
  return words;
}

void append_words(std::string& data, std::size_t end, const std::vector<std::string>& words, Random& random) {
  while (data.size() < end) {
    // A product of three random numbers prefers the first words about as much as natural text does.
    const std::uint64_t product = std::uint64_t{random() % kWordCount} * (random() % kWordCount) / kWordCount;
    data += words[product * (random() % kWordCount) / kWordCount];
  }
}

void append_records(std::string& data, std::size_t end, Random& random) {
  std::uint32_t counter = random();
  while (data.size() < end) {
    const std::uint32_t fields[] = {counter++, random() % kRecordCount, random() & 0xFFFFFu, 0};
    data.append(reinterpret_cast<const char*>(fields), sizeof fields);
  }
}

}  // namespace

std::vector<std::byte> make_sample_data() {
  Random random;
  const std::vector<std::string> words = make_words(random);
  std::string data;
  for (std::size_t end = kSectionBytes; end <= kSampleBytes; end += kSectionBytes) {
    if (end / kSectionBytes % 2 == 1)
      append_words(data, end, words, random);
    else
      append_records(data, end, random);
  }
  data.resize(kSampleBytes);
  std::vector<std::byte> bytes(data.size());
  std::memcpy(bytes.data(), data.data(), data.size());
  return bytes;
}

}  // namespace hemstitch::cli
