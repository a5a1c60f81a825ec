#include "search/find_bytes.hpp"

#include <string.h>

#include <cstddef>
#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace hemstitch {
namespace {

std::size_t find_by_memmem(std::string_view text, std::string_view string) {
  const void* const found = memmem(text.data(), text.size(), string.data(), string.size());
  return found == nullptr ? std::string_view::npos
                          : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

#if defined(__x86_64__)

constexpr std::size_t kLanes = 32;
// If more bytes than this were compared in vain for each byte of text, memmem() takes over. Ordinary texts
// need a hundredth of it.
constexpr std::size_t kVainPerByte = 4;
constexpr std::size_t kVainBytes = 4096;

// A bit for each of the 32 positions from `at` on where the string may be.
__attribute__((target("avx2"))) inline std::uint32_t candidates(const char* at, std::size_t last_byte,
                                                                __m256i first, __m256i last) {
  const __m256i begins = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
  const __m256i ends = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at + last_byte));
  return static_cast<std::uint32_t>(_mm256_movemask_epi8(
      _mm256_and_si256(_mm256_cmpeq_epi8(begins, first), _mm256_cmpeq_epi8(ends, last))));
}

__attribute__((target("avx2"))) std::size_t find_by_avx2(std::string_view text, std::string_view string) {
  const std::size_t last_byte = string.size() - 1;
  const std::size_t positions = text.size() - last_byte;  // where it may begin
  const __m256i first = _mm256_set1_epi8(string.front()), last = _mm256_set1_epi8(string.back());
  std::size_t vain_bytes = 0;
  for (std::size_t next = 0; next < positions; next += kLanes) {
    // At the end, some positions are tested again, so that there are always 32.
    const std::size_t begin = next + kLanes <= positions ? next : positions - kLanes;
    for (std::uint32_t left = candidates(text.data() + begin, last_byte, first, last); left != 0;
         left &= left - 1) {
      const std::size_t at = begin + static_cast<std::size_t>(__builtin_ctz(left));
      if (memcmp(text.data() + at, string.data(), string.size()) == 0) return at;
      vain_bytes += string.size();
      if (vain_bytes > kVainBytes + kVainPerByte * at) {
        const std::size_t found = find_by_memmem(text.substr(at + 1), string);
        return found == std::string_view::npos ? found : at + 1 + found;
      }
    }
  }
  return std::string_view::npos;
}

#endif

}  // namespace

std::size_t find_bytes(std::string_view text, std::string_view string) {
#if defined(__x86_64__)
  static const bool has_avx2 = __builtin_cpu_supports("avx2");
  if (has_avx2 && string.size() > 1 && text.size() >= string.size() + kLanes)
    return find_by_avx2(text, string);
#endif
  return find_by_memmem(text, string);
}

}  // namespace hemstitch
