// The bytes before a block that it may refer to.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace hemstitch {

inline std::vector<std::byte> copied(std::span<const std::byte> bytes) {
  return {bytes.begin(), bytes.end()};
}

// Keeps the last `most_bytes` of `history` followed by `bytes`.
inline void append_history(std::vector<std::byte>& history, std::span<const std::byte> bytes,
                           std::size_t most_bytes) {
  const auto tail = bytes.size() > most_bytes ? bytes.last(most_bytes) : bytes;
  const std::size_t kept = std::min(history.size(), most_bytes - tail.size());
  history.erase(history.begin(), history.end() - static_cast<std::ptrdiff_t>(kept));
  history.insert(history.end(), tail.begin(), tail.end());
}

}  // namespace hemstitch
