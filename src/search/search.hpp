// search: where any of several fixed strings occurs in a text.
//
// At each position where at least one pattern occurs there is one match, with the longest pattern there;
// matches may overlap. For grep's matches (leftmost, longest, then continue after it), take the first match
// at or after a position, and continue at its end. A text is one file. Of files one after the other, as in
// CompactedBuffer, each is searched by itself, so no match reaches from one into the next.
//
// find_bytes() finds a single pattern. Several patterns, or one without regard to case, use the shift table
// of Horspool and of Wu and Manber. The last two bytes of a window, as long as the shortest pattern, say how
// far no pattern can begin. If one may begin, the patterns with these two bytes are asked. They are sorted, so that
// all that stand at a position are prefixes of the last one that is not behind the text there: itself, the
// longest pattern that it begins with, and so on. Finding it takes a binary search, so that a hundred thousand
// patterns cost little more than a hundred.
//
// Devices find the same matches (search_cuda.hpp, search_webgpu.hpp), all at once and over all texts of a
// buffer.
//
// Patterns have 1 to 65,535 bytes. Case is that of ASCII. Callers handle empty patterns, which match
// everywhere, themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hemstitch/search.hpp"

namespace hemstitch {

inline constexpr std::size_t kMaxPatternBytes = 65535;

// Patterns prepared for searching. Immutable: any number of threads may use one.
class PatternSet {
 public:
  // Throws kInvalidOption if a pattern is empty or too long, or if there is none.
  PatternSet(std::vector<std::string> patterns, bool ignore_case);
  PatternSet(PatternSet&&) = default;  // a copy's tables would refer to the other's patterns
  PatternSet& operator=(PatternSet&&) = default;

  // The first match in `text` at or after `from`.
  std::optional<SearchMatch> next(std::string_view text, std::uint64_t from) const;

  // The length of the longest pattern of at most `most` bytes at `position`; 0 if there is none.
  std::uint32_t size_at(std::string_view text, std::uint64_t position, std::uint32_t most) const;

  // Folded if case is ignored, longest first, each once.
  const std::vector<std::string>& patterns() const { return patterns_; }
  bool ignore_case() const { return ignore_case_; }

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  std::uint32_t pair_at(std::string_view text, std::uint64_t position) const;
  std::uint32_t longest_at(std::string_view text, std::uint64_t position, std::uint32_t pair,
                           std::uint32_t most) const;
  void sort_by_pair(std::uint64_t last);

  bool ignore_case_;
  std::vector<std::string> patterns_;
  std::size_t least_bytes_;
  // For windows of least_bytes_, by the last two bytes (or the last one, if there is only one): how far no
  // pattern can begin. If that is 0, the possible patterns are by_pair_[first_of_pair_[pair]] up to
  // by_pair_[first_of_pair_[pair + 1]], in the order of their bytes.
  std::vector<std::uint16_t> shifts_;
  std::vector<std::uint32_t> first_of_pair_;
  struct Sorted {
    std::string_view pattern;
    std::uint32_t prefix;  // the longest other pattern that it begins with, in by_pair_; or kNone
  };
  std::vector<Sorted> by_pair_;
};

// Every match in texts one after the other, text i from offsets[i] to offsets[i + 1]; the last offset is the
// end. Positions count over all texts, ascending. Devices must find exactly these.
std::vector<SearchMatch> find_in_texts(std::string_view texts, std::span<const std::uint64_t> offsets,
                                       const PatternSet& patterns);

}  // namespace hemstitch
