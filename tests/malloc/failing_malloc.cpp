#include "failing_malloc.hpp"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <limits>

// Since the program defines these functions, all its libraries call them: ours, liblz4, oneTBB, the C++
// library, and the loader when it makes memory for a thread. They call glibc's own. Once oneTBB has loaded
// libtbbmalloc, it takes the memory of its tasks from the system, not from malloc: that cannot be made to
// fail here, and nobody could handle it.
extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* memory, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
}

namespace {

constexpr long kNever = std::numeric_limits<long>::max();
constinit std::atomic<long> g_count{0}, g_first_failing{kNever}, g_last_failing{0};

bool fails() {
  const long number = g_count.fetch_add(1, std::memory_order_relaxed) + 1;
  if (number < g_first_failing.load(std::memory_order_relaxed) ||
      number > g_last_failing.load(std::memory_order_relaxed))
    return false;
  errno = ENOMEM;
  return true;
}

}  // namespace

namespace hemstitch::testing {

void fail_allocation(long n, Failing failing) {
  g_count = 0;
  g_last_failing = failing == Failing::kOne ? n : kNever;
  g_first_failing = n;
}

void fail_no_allocation() { g_first_failing = kNever; }

long allocation_count() { return g_count; }

}  // namespace hemstitch::testing

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

}  // extern "C"
