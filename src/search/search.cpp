#include "search/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/between_pieces.hpp"
#include "core/status.hpp"
#include "search/find_bytes.hpp"
#include "search/pattern_fold.hpp"

namespace hemstitch {
namespace {

constexpr std::size_t kPairs = 65536;
// A shift has 16 bits. Longer shifts are rare, and a shorter one is never wrong.
constexpr std::size_t kMostShift = 65535;
constexpr std::size_t kFindPieceBytes = std::size_t{1} << 20;

// Whether the text begins with the pattern: 0; otherwise -1 if the text is before the pattern in the order of
// their bytes, and 1 if it is behind it.
int compared(std::string_view text, std::string_view pattern, bool ignore_case) {
  const std::size_t bytes = std::min(text.size(), pattern.size());
  int order = 0;
  if (ignore_case) {
    for (std::size_t i = 0; i < bytes && order == 0; ++i)
      order = folded(static_cast<std::uint8_t>(text[i])) - static_cast<std::uint8_t>(pattern[i]);
  } else {
    order = std::memcmp(text.data(), pattern.data(), bytes);
  }
  return order == 0 && text.size() < pattern.size() ? -1 : order;
}

}  // namespace

PatternSet::PatternSet(std::vector<std::string> patterns, bool ignore_case)
    : ignore_case_(ignore_case), patterns_(std::move(patterns)) {
  if (patterns_.empty()) throw Error(Status::kInvalidOption, "search: give at least one pattern");
  for (std::string& pattern : patterns_) {
    if (pattern.empty() || pattern.size() > kMaxPatternBytes)
      throw Error(Status::kInvalidOption, fmt::format("search: a pattern of {} bytes; it has 1 to {}",
                                                      pattern.size(), kMaxPatternBytes));
    if (ignore_case_)
      for (char& c : pattern) c = static_cast<char>(folded(static_cast<std::uint8_t>(c)));
  }
  std::sort(patterns_.begin(), patterns_.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() > b.size() : a < b;
  });
  patterns_.erase(std::unique(patterns_.begin(), patterns_.end()), patterns_.end());
  least_bytes_ = patterns_.back().size();
  if (patterns_.size() == 1 && !ignore_case_) return;  // find_bytes() needs no tables

  const std::uint64_t last = least_bytes_ > 1 ? least_bytes_ - 2 : 0;
  shifts_.assign(kPairs, static_cast<std::uint16_t>(std::min(last + 1, std::uint64_t{kMostShift})));
  first_of_pair_.assign(kPairs + 1, 0);
  for (const std::string& pattern : patterns_) {
    for (std::uint64_t j = 0; j <= last; ++j) {
      std::uint16_t& shift = shifts_[pair_at(pattern, j)];
      shift = static_cast<std::uint16_t>(std::min(std::uint64_t{shift}, last - j));
    }
    ++first_of_pair_[pair_at(pattern, last) + 1];
  }
  for (std::size_t pair = 0; pair < kPairs; ++pair) first_of_pair_[pair + 1] += first_of_pair_[pair];
  sort_by_pair(last);
}

void PatternSet::sort_by_pair(std::uint64_t last) {
  by_pair_.resize(patterns_.size());
  std::vector<std::uint32_t> next_of_pair(first_of_pair_.begin(), first_of_pair_.end() - 1);
  for (const std::string& pattern : patterns_)
    by_pair_[next_of_pair[pair_at(pattern, last)]++] = {pattern, kNone};
  for (std::size_t pair = 0; pair < kPairs; ++pair) {
    const std::uint32_t first = first_of_pair_[pair], end = first_of_pair_[pair + 1];
    std::sort(by_pair_.begin() + first, by_pair_.begin() + end,
              [](const Sorted& a, const Sorted& b) { return a.pattern < b.pattern; });
    for (std::uint32_t i = first + 1; i < end; ++i) {
      std::uint32_t prefix = i - 1;
      while (prefix != kNone && !by_pair_[i].pattern.starts_with(by_pair_[prefix].pattern))
        prefix = by_pair_[prefix].prefix;
      by_pair_[i].prefix = prefix;
    }
  }
}

std::uint32_t PatternSet::pair_at(std::string_view text, std::uint64_t position) const {
  const auto byte = [&](std::uint64_t at) {
    const auto value = static_cast<std::uint8_t>(text[at]);
    return static_cast<std::uint32_t>(ignore_case_ ? folded(value) : value);
  };
  return least_bytes_ == 1 ? byte(position) : byte(position) << 8 | byte(position + 1);
}

// The length of the longest pattern of at most `most` bytes at `position`, where these two bytes are; 0 if
// there is none.
std::uint32_t PatternSet::longest_at(std::string_view text, std::uint64_t position, std::uint32_t pair,
                                     std::uint32_t most) const {
  std::uint32_t low = first_of_pair_[pair], high = first_of_pair_[pair + 1];
  std::uint32_t last = kNone;  // of those that are not behind the text
  bool stands = false;         // whether that one is there
  while (low != high) {
    const std::uint32_t middle = low + (high - low) / 2;
    const int order = compared(text.substr(position), by_pair_[middle].pattern, ignore_case_);
    if (order < 0) {
      high = middle;
    } else {
      last = middle;
      stands = order == 0;
      low = middle + 1;
    }
  }
  while (last != kNone && (!stands || by_pair_[last].pattern.size() > most)) {
    last = by_pair_[last].prefix;
    // One that begins another which is not longer than `most`, or is there, may be there itself.
    stands = stands ||
             (last != kNone && compared(text.substr(position), by_pair_[last].pattern, ignore_case_) == 0);
  }
  return last == kNone ? 0 : static_cast<std::uint32_t>(by_pair_[last].pattern.size());
}

std::uint32_t PatternSet::size_at(std::string_view text, std::uint64_t position, std::uint32_t most) const {
  if (most < least_bytes_ || text.size() < least_bytes_ || position > text.size() - least_bytes_) return 0;
  if (shifts_.empty()) {
    const std::string& pattern = patterns_.front();
    return pattern.size() <= most && text.substr(position).starts_with(pattern)
               ? static_cast<std::uint32_t>(pattern.size())
               : 0;
  }
  return longest_at(text, position, pair_at(text, position + (least_bytes_ > 1 ? least_bytes_ - 2 : 0)),
                    most);
}

std::optional<SearchMatch> PatternSet::next(std::string_view text, std::uint64_t from) const {
  if (text.size() < least_bytes_ || from > text.size() - least_bytes_) return std::nullopt;
  if (shifts_.empty()) {
    const std::string& pattern = patterns_.front();
    const std::size_t found = find_bytes(text.substr(from), pattern);
    if (found == std::string_view::npos) return std::nullopt;
    return SearchMatch{from + found, static_cast<std::uint32_t>(pattern.size())};
  }
  const std::uint64_t last = least_bytes_ > 1 ? least_bytes_ - 2 : 0;
  for (std::uint64_t position = from; position <= text.size() - least_bytes_;) {
    const std::uint32_t pair = pair_at(text, position + last);
    if (const std::uint16_t shift = shifts_[pair]; shift != 0) {
      position += shift;
      continue;
    }
    if (const std::uint32_t bytes = longest_at(text, position, pair, kMaxPatternBytes))
      return SearchMatch{position, bytes};
    ++position;
  }
  return std::nullopt;
}

std::vector<SearchMatch> find_in_texts(std::string_view texts, std::span<const std::uint64_t> offsets,
                                       const PatternSet& patterns) {
  const std::size_t most_beyond = patterns.patterns().front().size() - 1;
  std::vector<SearchMatch> matches;
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
    const std::string_view text = texts.substr(offsets[i], offsets[i + 1] - offsets[i]);
    for (std::size_t begin = 0; begin < text.size(); begin += kFindPieceBytes) {
      look_between_pieces();
      // Matches that begin in the piece end within this window.
      const std::size_t end = std::min(begin + kFindPieceBytes, text.size());
      const std::string_view window = text.substr(0, std::min(end + most_beyond, text.size()));
      for (auto match = patterns.next(window, begin); match && match->position < end;
           match = patterns.next(window, match->position + 1))
        matches.push_back({offsets[i] + match->position, match->bytes});
    }
  }
  return matches;
}

}  // namespace hemstitch
