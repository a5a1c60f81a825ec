#include "cli/messages.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <new>
#include <system_error>

#include "cli/request.hpp"
#include "cli/status_line.hpp"

namespace hemstitch::cli {
namespace {

constexpr std::size_t kMostNameBytes = 512, kMostMessageBytes = 4096;

// The first character of a text in UTF-8; a byte that begins none counts as one.
struct Character {
  std::uint32_t code;
  std::size_t bytes;
};
Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  const std::size_t bytes = first < 0xC2 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 1;
  if (bytes == 1 || text.size() < bytes) return {first, 1};
  std::uint32_t code = first & (0xFFU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {first, 1};
    code = code << 6 | (byte(i) & 0x3F);
  }
  return code < (bytes == 3   ? 0x800U
                 : bytes == 4 ? 0x10000U
                              : 0x80U)
             ? Character{first, 1}
             : Character{code, bytes};
}

// Terminals obey control characters (U+009B begins the same commands as ESC [), and reorder text at marks of
// direction.
bool is_obeyed(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code <= 0x9F) || code == 0x061C || code == 0x200E ||
         code == 0x200F || (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Of a text that is too long, its beginning and, since names tell most there, rather more of its end.
std::string shortened(std::string text, std::size_t most_bytes) {
  constexpr std::string_view kGap = "...";
  if (text.size() <= most_bytes) return text;
  std::size_t begin = most_bytes / 3, end = text.size() - (most_bytes - begin - kGap.size());
  while (begin > 0 && continues_character(text[begin])) --begin;
  while (end < text.size() && continues_character(text[end])) ++end;
  return text.replace(begin, end - begin, kGap);
}

}  // namespace

ToolError tool_error_from_errno(std::string_view what) {
  return ToolError(fmt::format("{}: {}", what, std::generic_category().message(errno)));
}

std::string escaped(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const Character character = first_character(text);
    if (!is_obeyed(character.code))
      shown += text.substr(0, character.bytes);
    else if (character.code < 0x80 || character.bytes == 1)
      shown += fmt::format("\\x{:02x}", character.code);
    else
      shown += fmt::format("\\u{:04x}", character.code);
    text.remove_prefix(character.bytes);
  }
  return shown;
}

std::string shown_name(std::string_view path) {
  return path == kStandardStream ? "stdin" : shortened(escaped(path), kMostNameBytes);
}

// Writes each line in one call, so that the lines of processes that share stderr stay whole. Without memory
// for the line it takes a call for each byte.
void print_message(std::string_view text) noexcept {
  clear_status_line();
  try {
    const std::string line = fmt::format("hemstitch: {}\n", shortened(escaped(text), kMostMessageBytes));
    std::fwrite(line.data(), 1, line.size(), stderr);
  } catch (const std::bad_alloc&) {
    std::fputs("hemstitch: ", stderr);
    for (const char c : text) std::fputc(is_obeyed(static_cast<unsigned char>(c)) ? '?' : c, stderr);
    std::fputc('\n', stderr);
  }
}

void print_message(std::string_view path, std::string_view text) noexcept {
  try {
    print_message(fmt::format("{}: {}", shown_name(path), text));
  } catch (const std::bad_alloc&) {
    print_message(text);
  }
}

void print_usage_error(const UsageError& error, std::string_view help_command) noexcept {
  try {
    print_message(fmt::format("{} ({} lists the options)", error.what(), help_command));
  } catch (const std::bad_alloc&) {
    print_message(error.what());
  }
}

}  // namespace hemstitch::cli
