// The values of options and of environment variables: how each kind is read, its permitted values, and the
// messages for others.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace hemstitch::cli {

// A mistake in the arguments or in an environment variable.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <typename Number>
std::optional<Number> read_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return number;
}

inline constexpr std::size_t kKilo = 1024;

// "4711", "64K", "2M", "1G"; K is 1024.
std::optional<std::uint64_t> read_size(std::string_view text);

// The value of an environment variable; nothing if it is unset or empty.
std::optional<std::string> environment(const char* name);

// These throw UsageError; `origin` is the option or the variable.
int level_from(std::string_view origin, const std::string& text);
unsigned threads_from(std::string_view origin, const std::string& text);
std::uint64_t size_from(std::string_view origin, const std::string& text);  // a number of bytes, not 0
void check_backend_name(std::string_view origin, const std::string& name);
// Whether --device may be used with this backend.
void check_device_option(std::string_view backend_name);

}  // namespace hemstitch::cli
