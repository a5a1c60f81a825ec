#include "files/save/temporary_name.hpp"

#include <fmt/format.h>
#include <sys/file.h>

#include <random>

namespace hemstitch {
namespace {

constexpr std::string_view kPrefix = ".hemstitch-";
constexpr std::size_t kDigits = 8;

}  // namespace

std::string new_temporary_name() {
  std::random_device random;
  return fmt::format("{}{:0{}x}", kPrefix, random(), kDigits);
}

bool is_temporary_name(std::string_view name) {
  return name.size() == kPrefix.size() + kDigits && name.starts_with(kPrefix) &&
         name.find_first_not_of("0123456789abcdef", kPrefix.size()) == std::string_view::npos;
}

// Some file systems have no locks. There, leftover files are not reported.
void mark_in_use(int descriptor) { static_cast<void>(flock(descriptor, LOCK_EX | LOCK_NB)); }

}  // namespace hemstitch
