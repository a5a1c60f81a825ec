// Preloaded into a program (LD_PRELOAD): one of its allocations fails, also before main().
//
// HEMSTITCH_FAIL_AT=N                its number, from 1
// HEMSTITCH_COUNT_ALLOCATIONS=FILE   holds in the end how many there were
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "allocation_fails.hpp"

namespace {

constinit std::atomic<long> g_count{0};

__attribute__((destructor)) void tell_count() {
  const char* const path = std::getenv("HEMSTITCH_COUNT_ALLOCATIONS");
  const int file = path == nullptr ? -1 : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return;
  std::array<char, 24> text{};
  const int bytes = std::snprintf(text.data(), text.size(), "%ld", g_count.load());
  if (write(file, text.data(), static_cast<std::size_t>(bytes)) != bytes) std::abort();
  close(file);
}

}  // namespace

bool hemstitch::testing::allocation_fails() {
  static const char* const at = std::getenv("HEMSTITCH_FAIL_AT");
  return g_count.fetch_add(1, std::memory_order_relaxed) + 1 == (at == nullptr ? 0 : std::atol(at));
}
