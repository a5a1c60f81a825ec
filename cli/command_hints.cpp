#include "cli/command_hints.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace hemstitch::cli {
namespace {

// What other tools call what is done here by an option or under another name.
constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kOtherNames{{
    {"benchmark", "bench"},
    {"compress", "-z"},
    {"decompress", "-d"},
    {"extract", "-d"},
    {"grep", "search"},
    {"help", "-h"},
    {"list", "-l"},
    {"restore", "-d"},
    {"test", "-t"},
    {"uncompress", "-d"},
    {"verify", "-t"},
    {"version", "-V"},
}};

constexpr std::size_t kShortCommand = 4;  // letters: two mistakes in so few leave nothing to know it by
constexpr std::size_t kLongestWord = 20;  // of a mistyped command

// How many letters were left out, added, changed or swapped with their neighbour.
std::size_t mistakes_between(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> least(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        least[i][j] = i + j;
        continue;
      }
      const std::size_t changed = least[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      least[i][j] = std::min({least[i - 1][j] + 1, least[i][j - 1] + 1, changed});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        least[i][j] = std::min(least[i][j], least[i - 2][j - 2] + 1);
    }
  }
  return least[a.size()][b.size()];
}

}  // namespace

std::optional<std::string> command_near(std::string_view word, std::span<const std::string_view> commands) {
  const auto spoken = [](std::string_view rest) { return "hemstitch " + std::string(rest); };
  for (const auto& [name, ours] : kOtherNames)
    if (word == name) return spoken(ours);
  if (word.size() > kLongestWord) return std::nullopt;
  const auto distance = [&](std::string_view command) { return mistakes_between(word, command); };
  const std::string_view nearest = *std::ranges::min_element(commands, {}, distance);
  if (distance(nearest) > (nearest.size() <= kShortCommand ? 1 : 2)) return std::nullopt;
  return spoken(nearest);
}

}  // namespace hemstitch::cli
