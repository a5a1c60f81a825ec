// Copying bytes at any alignment, by as many threads as there are.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hemstitch::cuda {

// Copies `count` bytes by `threads` threads of which this is number `thread`: words of the target, shifted into place, and
// single bytes where the words of the source would reach outside [readable_begin, readable_end). The source is global
// memory that nothing writes while the kernel runs; the target may be shared memory.
__device__ __forceinline__ void copy_bytes(std::byte* target, const std::byte* source, std::uint32_t count,
                                           const std::byte* readable_begin, const std::byte* readable_end,
                                           unsigned thread, unsigned threads) {
  const auto aligned_up = [](std::uintptr_t address) { return (address + 3) & ~std::uintptr_t{3}; };
  const auto copy_byte = [target, source](std::uint32_t i) {
    target[i] = static_cast<std::byte>(__ldg(reinterpret_cast<const unsigned char*>(source) + i));
  };
  // The source's words around target word w are [source of w, rounded down to a word, 8 bytes).
  const auto target_address = reinterpret_cast<std::uintptr_t>(target);
  std::uint32_t head = static_cast<std::uint32_t>(aligned_up(target_address) - target_address);
  if (source + head < readable_begin + 4) head += 4;  // the word before would be outside
  if (head >= count) {
    for (std::uint32_t i = thread; i < count; i += threads) copy_byte(i);
    return;
  }
  const auto room = static_cast<std::uint64_t>(readable_end - (source + head));
  const std::uint32_t words =
      min((count - head) / 4, static_cast<std::uint32_t>(room >= 8 ? (room - 8) / 4 + 1 : 0));
  auto* target_words = reinterpret_cast<std::uint32_t*>(target + head);
  const auto source_address = reinterpret_cast<std::uintptr_t>(source + head);
  const auto* source_words = reinterpret_cast<const std::uint32_t*>(source_address & ~std::uintptr_t{3});
  const std::uint32_t shift = (source_address & 3) * 8;
#pragma unroll 4
  for (std::uint32_t w = thread; w < words; w += threads)
    target_words[w] = __funnelshift_r(__ldg(source_words + w), __ldg(source_words + w + 1), shift);
  for (std::uint32_t i = thread; i < head; i += threads) copy_byte(i);
  for (std::uint32_t i = head + words * 4 + thread; i < count; i += threads) copy_byte(i);
}

}  // namespace hemstitch::cuda
