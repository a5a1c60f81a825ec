// Sentences that several parts share, so that one mistake reads alike wherever it is found.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/status.hpp"

namespace hemstitch {

// For a number outside of its range.
template <class Value, class Lowest, class Highest>
std::string out_of_range(std::string_view name, Value value, Lowest lowest, Highest highest) {
  return fmt::format("{} is {}, it can be {} to {}", name, value, lowest, highest);
}

// "a, b and c", with that word before the last one.
template <class Words>
std::string listed(const Words& words, std::string_view before_last) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i != 0) text += i + 1 == words.size() ? " " + std::string(before_last) + " " : ", ";
    text += words[i];
  }
  return text;
}

inline constexpr std::string_view kNoFrameAfterLast = "the bytes after the last frame are not a frame";

// For an input whose frames end before byte `at`, where other bytes follow that the caller does not ask for.
inline Error trailing_garbage(std::optional<std::uint64_t> at) {
  return {Status::kTrailingGarbage, std::string(kNoFrameAfterLast), {{}, {}, at}};
}

}  // namespace hemstitch
