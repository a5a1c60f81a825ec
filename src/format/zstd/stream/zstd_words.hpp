// Zstandard's bits, read from a stream's end in words of 64: what the fast decoders have in common.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace hemstitch {

// So many bytes before and after a block's data may be read by the fast decoders.
inline constexpr std::size_t kZstdReadBeyond = 32;

inline std::uint64_t load_zstd_word(const std::byte* from) {
  std::uint64_t word;
  std::memcpy(&word, from, sizeof word);
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
  return word;
}

// The next bits stand highest. refill() gives 57 of them at least. Before a stream's first byte come bytes that are
// not its own: left() is negative once such bits were taken.
class ZstdWords {
 public:
  ZstdWords() = default;
  // Nothing but is_marked() may be called if there is no mark.
  explicit ZstdWords(std::span<const std::byte> stream)
      : begin_(stream.data()), at_(stream.data() + stream.size() - sizeof(std::uint64_t)) {
    if (!is_marked(stream)) return;
    used_ = static_cast<unsigned>(std::countl_zero(static_cast<std::uint8_t>(stream.back()))) + 1;
    refill();
  }
  static bool is_marked(std::span<const std::byte> stream) {
    return !stream.empty() && stream.back() != std::byte{0};
  }

  [[gnu::always_inline]] void refill() {
    at_ -= used_ >> 3;
    used_ &= 7;
    bits_ = load_zstd_word(at_) << used_;
  }
  // 1 to 32 bits.
  [[gnu::always_inline]] std::uint64_t peek(unsigned count) const { return bits_ >> (64 - count); }
  [[gnu::always_inline]] void skip(unsigned count) {
    bits_ <<= count;
    used_ += count;
  }
  // 0 to 32 bits.
  [[gnu::always_inline]] std::uint32_t take(unsigned count) {
    const auto value = static_cast<std::uint32_t>(bits_ >> 1 >> (63 - count));
    skip(count);
    return value;
  }
  std::int64_t left() const { return 8 * (at_ - begin_) + 64 - static_cast<std::int64_t>(used_); }
  // So many bytes may be taken before refill() reads before the stream.
  std::ptrdiff_t bytes_before() const { return at_ - begin_; }

 private:
  const std::byte* begin_ = nullptr;
  const std::byte* at_ = nullptr;  // the word is here
  std::uint64_t bits_ = 0;
  unsigned used_ = 0;  // of the word
};

// Calls `run`, compiled for processors whose shifts leave other registers alone where this is one: a tenth to a fifth
// faster.
#ifdef __x86_64__
template <class Run>
[[gnu::target("bmi,bmi2"), gnu::noinline]] auto with_bmi2(const Run& run) {
  return run();
}
#endif
template <class Run>
auto with_fast_shifts(const Run& run) {
#ifdef __x86_64__
  static const bool has_bmi2 = __builtin_cpu_supports("bmi2") != 0 && __builtin_cpu_supports("bmi") != 0;
  if (has_bmi2) return with_bmi2(run);
#endif
  return run();
}

}  // namespace hemstitch
