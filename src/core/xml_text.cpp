#include "core/xml_text.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace hemstitch {
namespace {

// How many bytes the character at the beginning of the text has; 0 if it is none of XML's ("Extensible Markup Language
// (XML) 1.0", production 2).
std::size_t bytes_of_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  if (byte(0) < 0x80) return byte(0) < 0x20 ? 0 : 1;
  const std::size_t bytes = byte(0) < 0xE0 ? 2 : byte(0) < 0xF0 ? 3 : 4;
  if (byte(0) < 0xC2 || byte(0) > 0xF4 || text.size() < bytes) return 0;
  std::uint32_t number = byte(0) & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    number = number << 6 | (byte(i) & 0x3F);
  }
  constexpr std::array<std::uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  const bool allowed = number >= kLeast[bytes] && number <= 0x10FFFF &&
                       (number < 0xD800 || number > 0xDFFF) && number != 0xFFFE && number != 0xFFFF;
  return allowed ? bytes : 0;
}

}  // namespace

std::string xml_text(std::string_view text) {
  std::string made;
  while (!text.empty()) {
    const std::size_t bytes = bytes_of_character(text);
    if (bytes == 0)
      made += '?';
    else if (text.front() == '&')
      made += "&amp;";
    else if (text.front() == '<')
      made += "&lt;";
    else if (text.front() == '>')
      made += "&gt;";
    else
      made += text.substr(0, bytes);
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return made;
}

}  // namespace hemstitch
