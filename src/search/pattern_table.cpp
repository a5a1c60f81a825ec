#include "search/pattern_table.hpp"

#include "search/search_words.hpp"

namespace hemstitch {
namespace {

constexpr std::uint32_t kPairCount = 65536;
constexpr std::uint32_t kRowWords = 2;
// Lets a kernel compose a word at any byte of a pattern from two words.
constexpr std::uint32_t kSpareWords = 2;

std::uint32_t byte_of(std::string_view text, std::size_t at) { return static_cast<std::uint8_t>(text[at]); }

}  // namespace

PatternTable::PatternTable(const PatternSet& set) {
  const std::vector<std::string>& patterns = set.patterns();
  const auto count = static_cast<std::uint32_t>(patterns.size());
  places.pattern_count = count;
  places.most_bytes = static_cast<std::uint32_t>(patterns.front().size());
  places.ignore_case = set.ignore_case();

  words.resize(std::size_t{count} * kRowWords);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::string& pattern = patterns[i];
    const std::size_t begin = words.size();
    const std::size_t row = std::size_t{i} * kRowWords;
    words[row] = static_cast<std::uint32_t>(begin);
    words[row + 1] = static_cast<std::uint32_t>(pattern.size());
    words.resize(begin + (pattern.size() + 3) / 4 + kSpareWords);
    for (std::size_t at = 0; at < pattern.size(); ++at)
      words[begin + at / 4] |= byte_of(pattern, at) << (8 * (at % 4));
  }
  if (count == 1) {
    places.first_word = words[words[0]];
    places.first_mask = first_bytes_mask(places.most_bytes);
    return;
  }

  // Patterns by their first two bytes, otherwise in order.
  std::vector<std::vector<std::uint32_t>> under_pair(kPairCount);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::string& pattern = patterns[i];
    const std::uint32_t first = byte_of(pattern, 0);
    if (pattern.size() > 1)
      under_pair[first | byte_of(pattern, 1) << 8].push_back(i);
    else
      for (std::uint32_t second = 0; second < 256; ++second) under_pair[first | second << 8].push_back(i);
  }
  places.filter_at = static_cast<std::uint32_t>(words.size());
  words.resize(words.size() + kPairFilterWords);
  for (std::uint32_t pair = 0; pair < kPairCount; ++pair)
    if (!under_pair[pair].empty()) words[places.filter_at + pair / 32] |= 1u << (pair % 32);
  places.first_at = static_cast<std::uint32_t>(words.size());
  std::uint32_t listed = 0;
  for (const std::vector<std::uint32_t>& list : under_pair) {
    words.push_back(listed);
    listed += static_cast<std::uint32_t>(list.size());
  }
  words.push_back(listed);
  places.lists_at = static_cast<std::uint32_t>(words.size());
  for (const std::vector<std::uint32_t>& list : under_pair)
    words.insert(words.end(), list.begin(), list.end());
}

}  // namespace hemstitch
