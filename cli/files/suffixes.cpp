#include "cli/files/suffixes.hpp"

#include <algorithm>

#include "format/formats.hpp"

namespace hemstitch::cli {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Whether something comes before the suffix, too.
bool ends_with(std::string_view name, std::string_view suffix) {
  return !suffix.empty() && name.size() > suffix.size() &&
         std::ranges::equal(name.substr(name.size() - suffix.size()), suffix, {}, lower);
}

struct Told {
  const FrameFormat* format = nullptr;
  std::size_t suffix_bytes = 0;
  std::string_view replacement;
};

Told told_by(std::string_view name) {
  for (const FormatRow& row : FormatTable::instance().all()) {
    if (const std::string_view suffix = row.format->suffix(); ends_with(name, suffix))
      return {row.format.get(), suffix.size(), ""};
    for (const OtherSuffix& other : row.format->other_suffixes())
      if (ends_with(name, other.suffix)) return {row.format.get(), other.suffix.size(), other.replacement};
  }
  return {};
}

}  // namespace

const FrameFormat* format_of_name(std::string_view name) { return told_by(name).format; }

std::string_view suffix_of_name(std::string_view name) {
  return name.substr(name.size() - told_by(name).suffix_bytes);
}

bool has_suffix(std::string_view name, Format format) {
  const FrameFormat* const told = told_by(name).format;
  return told != nullptr && told->suffix() == FormatTable::instance().of(format).suffix();
}

std::string compressed_name(std::string_view name, Format format) {
  return std::string(name).append(FormatTable::instance().of(format).suffix());
}

std::optional<std::string> restored_name(std::string_view name) {
  const Told told = told_by(name);
  if (told.format == nullptr) return std::nullopt;
  return std::string(name.substr(0, name.size() - told.suffix_bytes)).append(told.replacement);
}

}  // namespace hemstitch::cli
