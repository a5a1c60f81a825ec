// malloc() and related functions for the planner, instead of wasi-libc's, which are larger than all of LZ4's
// frames. Freed memory is kept by size (four sizes from one power of two to the next), and never divided or
// joined: a planner takes memory of the same sizes batch after batch.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

extern "C" unsigned char __heap_base;

namespace {

constexpr std::size_t kHeaderBytes = 16;  // also keeps what follows aligned
constexpr std::size_t kPageBytes = 65536;
constexpr std::size_t kMostBytes = std::size_t{1} << 31;

struct Freed {
  Freed* next;
};

Freed* freed[128];
std::uintptr_t heap_end = 0;  // memory after this was never allocated

struct SizeClass {
  std::size_t number = 0, bytes = 0;
};

// The smallest class with enough room: 32, 40, 48, 56, 64, 80, ..
SizeClass class_of(std::size_t bytes) {
  std::size_t power = 32, number = 0;
  while (power * 2 <= bytes) {
    power *= 2;
    number += 4;
  }
  const std::size_t step = power / 4;
  const std::size_t steps = bytes <= power ? 0 : (bytes - power + step - 1) / step;
  return {number + steps, power + steps * step};
}

void* place(std::size_t bytes) {
  if (heap_end == 0) heap_end = reinterpret_cast<std::uintptr_t>(&__heap_base);
  const std::uintptr_t begin = (heap_end + 15) / 16 * 16, end = begin + bytes;
  const std::size_t room = __builtin_wasm_memory_size(0) * kPageBytes;
  if (end > room && __builtin_wasm_memory_grow(0, (end - room + kPageBytes - 1) / kPageBytes) == SIZE_MAX)
    return nullptr;
  heap_end = end;
  return reinterpret_cast<void*>(begin);
}

}  // namespace

extern "C" {

void* malloc(std::size_t bytes) {
  if (bytes > kMostBytes) return nullptr;
  const SizeClass size = class_of(bytes + kHeaderBytes);
  void* memory = freed[size.number];
  if (memory != nullptr)
    freed[size.number] = static_cast<Freed*>(memory)->next;
  else
    memory = place(size.bytes);
  if (memory == nullptr) return nullptr;
  *static_cast<std::size_t*>(memory) = size.number;
  return static_cast<char*>(memory) + kHeaderBytes;
}

void free(void* given) {
  if (given == nullptr) return;
  void* const memory = static_cast<char*>(given) - kHeaderBytes;
  const std::size_t number = *static_cast<std::size_t*>(memory);
  freed[number] = new (memory) Freed{freed[number]};
}

void* calloc(std::size_t count, std::size_t bytes) {
  if (bytes != 0 && count > kMostBytes / bytes) return nullptr;
  void* const memory = malloc(count * bytes);
  return memory == nullptr ? nullptr : std::memset(memory, 0, count * bytes);
}

// The planner never calls these. They are here so that the linker does not take wasi-libc's versions of all.
void* realloc(void*, std::size_t) { __builtin_trap(); }
void* aligned_alloc(std::size_t, std::size_t) { __builtin_trap(); }
int posix_memalign(void**, std::size_t, std::size_t) { __builtin_trap(); }
std::size_t malloc_usable_size(void*) { __builtin_trap(); }
void* __libc_calloc(std::size_t count, std::size_t bytes) { return calloc(count, bytes); }
void* __libc_malloc(std::size_t bytes) { return malloc(bytes); }
void __libc_free(void* given) { free(given); }
}
