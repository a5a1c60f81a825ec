#include "search/search.hpp"

#include <fmt/format.h>

#include <algorithm>

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

const std::uint8_t* bytes_of(std::string_view text) {
  return reinterpret_cast<const std::uint8_t*>(text.data());
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
  std::vector<std::uint32_t> next_of_pair(first_of_pair_.begin(), first_of_pair_.end() - 1);
  by_pair_.resize(patterns_.size());
  // In the order of patterns_, so that the first one that matches is the longest.
  for (std::uint32_t i = 0; i < patterns_.size(); ++i)
    by_pair_[next_of_pair[pair_at(patterns_[i], last)]++] = i;
}

std::uint32_t PatternSet::pair_at(std::string_view text, std::uint64_t position) const {
  const auto byte = [&](std::uint64_t at) {
    const auto value = static_cast<std::uint8_t>(text[at]);
    return static_cast<std::uint32_t>(ignore_case_ ? folded(value) : value);
  };
  return least_bytes_ == 1 ? byte(position) : byte(position) << 8 | byte(position + 1);
}

bool PatternSet::stands_at(const std::string& pattern, std::string_view text, std::uint64_t position) const {
  return pattern.size() <= text.size() - position &&
         pattern_stands_at(bytes_of(text) + position, bytes_of(pattern),
                           static_cast<std::uint32_t>(pattern.size()), ignore_case_);
}

std::uint32_t PatternSet::size_at(std::string_view text, std::uint64_t position, std::uint32_t most) const {
  if (most < least_bytes_ || text.size() < least_bytes_ || position > text.size() - least_bytes_) return 0;
  const auto size_if_there = [&](const std::string& pattern) {
    return pattern.size() <= most && stands_at(pattern, text, position)
               ? static_cast<std::uint32_t>(pattern.size())
               : 0;
  };
  if (shifts_.empty()) return size_if_there(patterns_.front());
  const std::uint32_t pair = pair_at(text, position + (least_bytes_ > 1 ? least_bytes_ - 2 : 0));
  for (std::uint32_t i = first_of_pair_[pair]; i < first_of_pair_[pair + 1]; ++i)
    if (const std::uint32_t size = size_if_there(patterns_[by_pair_[i]])) return size;
  return 0;
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
    for (std::uint32_t i = first_of_pair_[pair]; i < first_of_pair_[pair + 1]; ++i) {
      const std::string& pattern = patterns_[by_pair_[i]];
      if (stands_at(pattern, text, position))
        return SearchMatch{position, static_cast<std::uint32_t>(pattern.size())};
    }
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
