#include "gpu/device_names.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <system_error>

namespace hemstitch {

std::string wanted_device(std::string_view requested) {
  const char* const own = std::getenv("HEMSTITCH_DEVICE");
  return std::string(requested.empty() && own != nullptr ? std::string_view(own) : requested);
}

namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

std::string_view without_blanks_around(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::vector<std::size_t> meant_by_one(std::string_view wanted, std::span<const std::string> names) {
  if (wanted.empty()) return {};
  std::size_t number = 0;
  const auto read = std::from_chars(wanted.data(), wanted.data() + wanted.size(), number);
  if (read.ptr == wanted.data() + wanted.size()) {
    if (read.ec == std::errc{} && number < names.size()) return {number};
    return {};
  }
  std::vector<std::size_t> meant;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (lower(names[i]).find(lower(wanted)) != std::string::npos) meant.push_back(i);
  return meant;
}

}  // namespace

std::vector<std::size_t> devices_meant(std::string_view wanted, std::span<const std::string> names) {
  // A name may contain commas too: "llvmpipe (LLVM 15.0.6, 256 bits)".
  std::vector<std::size_t> meant = meant_by_one(without_blanks_around(wanted), names);
  if (!meant.empty()) return meant;
  for (bool last = false; !last;) {
    const std::size_t comma = wanted.find(',');
    last = comma == std::string_view::npos;
    for (const std::size_t device : meant_by_one(without_blanks_around(wanted.substr(0, comma)), names))
      if (std::find(meant.begin(), meant.end(), device) == meant.end()) meant.push_back(device);
    if (!last) wanted.remove_prefix(comma + 1);
  }
  return meant;
}

}  // namespace hemstitch
