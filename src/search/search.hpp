// search: where any of some fixed strings stands in a text.
//
// At every position at which at least one pattern stands there is one match, with the longest that stands there;
// matches may overlap. Who wants grep's (leftmost, longest, then on behind it) takes the first match at or after a
// position, and goes on at its end. The text is one file: of files that lie one behind the other, as CompactedBuffer
// holds them, each is searched by itself, so that no match reaches from one into the next.
//
// One pattern is found by find_bytes(). Several, or one without regard to case, by the shift table of Horspool and of Wu and
// Manber: the last two bytes of a window as long as the shortest pattern say how far no pattern can begin, and where
// one may, the patterns with those two bytes are compared, the longest first.
//
// Devices find the same (search_cuda.hpp, search_webgpu.hpp), every match at once and over all texts of a buffer.
//
// Patterns have 1 to 65,535 bytes and case is that of ASCII. Who wants empty patterns, which stand everywhere, treats
// them apart.
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

// Patterns made ready for searching. Immutable: any number of threads may use one.
class PatternSet {
 public:
  // Throws kInvalidOption where a pattern is empty or too long, or there is none.
  PatternSet(std::vector<std::string> patterns, bool ignore_case);

  // The first match in `text` at or after `from`.
  std::optional<SearchMatch> next(std::string_view text, std::uint64_t from) const;

  // How long the longest pattern of at most `most` bytes is that stands at `position`; 0 where none does.
  std::uint32_t size_at(std::string_view text, std::uint64_t position, std::uint32_t most) const;

  // Folded where case is ignored, longest first, each once.
  const std::vector<std::string>& patterns() const { return patterns_; }
  bool ignore_case() const { return ignore_case_; }

 private:
  bool stands_at(const std::string& pattern, std::string_view text, std::uint64_t position) const;
  std::uint32_t pair_at(std::string_view text, std::uint64_t position) const;

  bool ignore_case_;
  std::vector<std::string> patterns_;
  std::size_t least_bytes_;
  // Of windows of least_bytes_: by the last two bytes (the last one, where that is all), how far no pattern can begin;
  // where that is 0, the patterns that it may be: first_of_pair_[pair] up to first_of_pair_[pair + 1] of by_pair_.
  std::vector<std::uint16_t> shifts_;
  std::vector<std::uint32_t> first_of_pair_;
  std::vector<std::uint32_t> by_pair_;
};

// Every match in texts that lie one behind the other, text i from offsets[i] to offsets[i + 1], the last offset being the
// end; positions are those in all of them, ascending. What devices find, as they must find it.
std::vector<SearchMatch> find_in_texts(std::string_view texts, std::span<const std::uint64_t> offsets,
                                       const PatternSet& patterns);

}  // namespace hemstitch
