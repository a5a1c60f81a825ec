// The functions of malloc, for a program or a library that makes allocations fail. Whoever defines them is asked
// by all libraries of the program: ours, liblz4, oneTBB, the C++ library, and the loader when it makes memory for a
// thread. They call glibc's own. Once oneTBB has loaded libtbbmalloc, it takes the memory of its tasks from the
// system, not from malloc: that cannot be made to fail here, and nobody could handle it.
#include <cerrno>
#include <cstddef>

#include "allocation_fails.hpp"

extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* memory, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
}

namespace {

bool fails() {
  if (!hemstitch::testing::allocation_fails()) return false;
  errno = ENOMEM;
  return true;
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

}  // extern "C"
