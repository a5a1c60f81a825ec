// What the planner takes of fmt, for WebAssembly: text with "{}" and "{:#010x}" in it. fmt itself would be five times the size of
// the whole planner, most of it tables for floating point.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace fmt {
namespace stand_in {

struct Value {
  template <std::integral Number>
  Value(Number value)
      : is_number(true),
        is_negative(value < 0),
        number(value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value)) {}
  Value(std::string_view value) : text(value) {}
  Value(const std::string& value) : text(value) {}
  Value(const char* value) : text(value) {}

  bool is_number = false;
  bool is_negative = false;
  std::uint64_t number = 0;
  std::string_view text;
};

// `how` is "", or ":#010x" with as many characters as the number is to have with its "0x".
inline void add(std::string& text, std::string_view how, const Value& value) {
  if (!value.is_number) {
    text += value.text;
    return;
  }
  const bool hexadecimal = how.ends_with('x');
  std::size_t width = 0;
  for (const char character : how)
    if (character >= '0' && character <= '9') width = 10 * width + static_cast<std::size_t>(character - '0');
  const unsigned base = hexadecimal ? 16 : 10;
  char digits[32];
  char* first = digits + sizeof digits;
  std::uint64_t rest = value.number;
  do {
    *--first = "0123456789abcdef"[rest % base];
    rest /= base;
  } while (rest != 0);
  const auto count = static_cast<std::size_t>(digits + sizeof digits - first);
  if (value.is_negative) text += '-';
  if (hexadecimal) text += "0x";
  if (count + 2 < width) text.append(width - 2 - count, '0');
  text.append(first, count);
}

// Not inlined, so that a message costs a call.
__attribute__((noinline)) inline std::string format(std::string_view pattern,
                                                    std::initializer_list<Value> values) {
  std::string text;
  for (const Value& value : values) {
    const std::size_t open = pattern.find('{'), close = pattern.find('}', open);
    text += pattern.substr(0, open);
    add(text, pattern.substr(open + 1, close - open - 1), value);
    pattern.remove_prefix(close + 1);
  }
  return text += pattern;
}

}  // namespace stand_in

template <typename... Values>
std::string format(std::string_view pattern, const Values&... values) {
  return stand_in::format(pattern, {stand_in::Value(values)...});
}

template <typename Words>
std::string join(const Words& words, std::string_view between) {
  std::string text;
  for (const auto& word : words) {
    if (!text.empty()) text += between;
    text += word;
  }
  return text;
}

}  // namespace fmt
