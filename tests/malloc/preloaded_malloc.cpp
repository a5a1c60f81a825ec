// Preloaded into a program (LD_PRELOAD): one of its allocations fails, also before main().
//
// HEMSTITCH_FAIL_AT=N                its number, from 1
// HEMSTITCH_COUNT_ALLOCATIONS=FILE   holds in the end how many there were
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* memory, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
}

namespace {

constinit std::atomic<long> g_count{0};

bool fails() {
  static const char* const at = std::getenv("HEMSTITCH_FAIL_AT");
  if (g_count.fetch_add(1, std::memory_order_relaxed) + 1 != (at == nullptr ? 0 : std::atol(at)))
    return false;
  errno = ENOMEM;
  return true;
}

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

#define SEEN_BY_ALL __attribute__((visibility("default")))

extern "C" {
SEEN_BY_ALL void* malloc(std::size_t bytes) { return fails() ? nullptr : __libc_malloc(bytes); }
SEEN_BY_ALL void* calloc(std::size_t count, std::size_t bytes) {
  return fails() ? nullptr : __libc_calloc(count, bytes);
}
SEEN_BY_ALL void* realloc(void* memory, std::size_t bytes) {
  return fails() ? nullptr : __libc_realloc(memory, bytes);
}
SEEN_BY_ALL void* memalign(std::size_t alignment, std::size_t bytes) {
  return fails() ? nullptr : __libc_memalign(alignment, bytes);
}
SEEN_BY_ALL void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return memalign(alignment, bytes);
}
SEEN_BY_ALL int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  void* const made = memalign(alignment, bytes);
  if (made == nullptr) return ENOMEM;
  *memory = made;
  return 0;
}
}
