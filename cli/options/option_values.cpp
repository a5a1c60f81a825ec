#include "cli/options/option_values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <vector>

#include "core/options.hpp"
#include "engine/registry.hpp"
#include "format/formats.hpp"
#include "hemstitch/hemstitch.hpp"

namespace hemstitch::cli {
std::optional<std::uint64_t> read_size(std::string_view text) {
  std::uint64_t unit = 1;
  if (!text.empty()) {
    switch (text.back()) {
      case 'K':
      case 'k':
        unit = kKilo;
        break;
      case 'M':
      case 'm':
        unit = kKilo * kKilo;
        break;
      case 'G':
      case 'g':
        unit = kKilo * kKilo * kKilo;
        break;
      default:
        break;
    }
    if (unit != 1) text.remove_suffix(1);
  }
  const auto count = read_number<std::uint64_t>(text);
  if (!count || *count > std::numeric_limits<std::uint64_t>::max() / unit) return std::nullopt;
  return *count * unit;
}

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? std::optional<std::string>(value) : std::nullopt;
}

int level_from(std::string_view origin, const std::string& text) {
  const auto level = read_number<int>(text);
  const LevelRange levels = FormatTable::instance().levels();
  if (!level || *level == 0 || *level < levels.least || *level > levels.most)
    throw UsageError(
        fmt::format("{} '{}': a level is a number from {} to {}", origin, text, levels.least, levels.most));
  return *level;
}

unsigned threads_from(std::string_view origin, const std::string& text) {
  const auto threads = read_number<unsigned>(text);
  if (!threads || *threads > kMaxThreads)
    throw UsageError(fmt::format("{} '{}': the number of threads is from 1 to {}, or 0 for one a core",
                                 origin, text, kMaxThreads));
  return *threads;
}

std::uint64_t size_from(std::string_view origin, const std::string& text) {
  const auto bytes = read_size(text);
  if (!bytes || *bytes == 0)
    throw UsageError(
        fmt::format("{} '{}': write a number of bytes, with K, M or G where wanted", origin, text));
  return *bytes;
}

void check_backend_name(std::string_view origin, const std::string& name) {
  std::vector<std::string_view> names{"auto"};
  for (const auto& backend : BackendRegistry::instance().backends()) names.push_back(backend->name());
  if (std::find(names.begin(), names.end(), name) != names.end()) return;
  for (const AbsentBackend& absent : BackendRegistry::absent_backends())
    if (absent.name == name)
      throw UsageError(fmt::format("{} '{}' is not in this build: {}", origin, name, absent.remedy));
  throw UsageError(
      fmt::format("{} '{}': the backends of this build are {}", origin, name, fmt::join(names, ", ")));
}

void check_device_option(std::string_view backend_name) {
  for (const auto& backend : BackendRegistry::instance().backends())
    if (backend->name() == backend_name && backend->has_devices()) return;
  throw UsageError(fmt::format(
      "--device works with the backends cuda and webgpu only, and this is {} (see --backend)", backend_name));
}

}  // namespace hemstitch::cli
