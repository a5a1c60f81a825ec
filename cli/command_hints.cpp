#include "cli/command_hints.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "cli/commands.hpp"
#include "cli/files/suffixes.hpp"
#include "cli/options/option_values.hpp"

namespace hemstitch::cli {
namespace {

// Words of other tools for what is an option here, or has another name.
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

constexpr std::size_t kShortCommand = 4;  // letters: with two mistakes, a shorter word cannot be recognized
constexpr std::size_t kLongestWord = 20;  // a longer word is no mistyped command

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

bool is_there(const std::string& path) {
  struct stat status {};
  return lstat(path.c_str(), &status) == 0;
}

// "hemstitch search" for "serch", "hemstitch -d" for "decompress"; nothing if no command is similar.
std::optional<std::string> command_near(std::string_view word) {
  const auto spoken = [](std::string_view rest) { return "hemstitch " + std::string(rest); };
  for (const auto& [name, ours] : kOtherNames)
    if (word == name) return spoken(ours);
  if (word.size() > kLongestWord) return std::nullopt;
  const auto distance = [&](const Command& command) { return mistakes_between(word, command.name); };
  const Command& nearest = *std::ranges::min_element(commands(), {}, distance);
  if (distance(nearest) > (nearest.name.size() <= kShortCommand ? 1 : 2)) return std::nullopt;
  return spoken(nearest.name);
}

}  // namespace

void refuse_late_commands(const std::vector<std::string>& files) {
  for (const std::string& file : files)
    for (const Command& command : commands())
      if (file == command.name && !is_there(file))
        throw UsageError(fmt::format("there is no file '{0}'; the command {0} has to be the first argument",
                                     command.name));
}

void hint_at_command(const std::string& word) {
  if (is_there(word)) return;
  if (const auto meant = command_near(word))
    throw UsageError(fmt::format("there is no file or command '{}': did you mean '{}'?", word, *meant));
}

void hint_at_output(const std::vector<std::string>& words, Action action) {
  if (words.size() != 2 || words[1] == "-" || (action != Action::kCompress && action != Action::kRestore))
    return;
  const bool is_compressed_name = format_of_name(words[1]) != nullptr;
  if (is_compressed_name != (action == Action::kCompress) || is_there(words[1]) || !is_there(words[0]))
    return;
  throw UsageError(fmt::format("there is no file '{}'; if it is to be written, name it with -o", words[1]));
}

}  // namespace hemstitch::cli
