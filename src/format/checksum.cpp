#include "format/checksum.hpp"

#include <libdeflate.h>

#include <new>

namespace hemstitch {
namespace {

// ---- CRC-32 (RFC 1952, section 8): a polynomial over bits, whose lowest bit is the highest power.
// libdeflate computes it; the functions here move and join it. ----

constexpr std::uint32_t kCrcPolynomial = 0xEDB88320u;

constexpr std::uint32_t crc_product(std::uint32_t a, std::uint32_t b) {
  std::uint32_t product = 0;
  for (std::uint32_t bit = 0x80000000u; bit != 0; bit >>= 1) {
    if ((a & bit) != 0) product ^= b;
    b = (b >> 1) ^ ((b & 1) != 0 ? kCrcPolynomial : 0);
  }
  return product;
}

// Moves a checksum past so many bytes after it: multiplies it by x to the power of their number of bits.
std::uint32_t crc32_moved(std::uint32_t crc, std::uint64_t bytes) {
  std::uint32_t power = 0x00800000u;  // x^8
  for (; bytes != 0; bytes >>= 1) {
    if ((bytes & 1) != 0) crc = crc_product(crc, power);
    power = crc_product(power, power);
  }
  return crc;
}

// ---- Adler-32 (RFC 1950, section 8): the sum of the bytes, starting with 1, and the sum of these sums ----

constexpr std::uint32_t kAdlerModulus = 65521;

std::uint32_t adler32_joined(std::uint32_t first, std::uint32_t second, std::uint64_t second_bytes) {
  const std::uint64_t before =
      (first & 0xFFFF) + kAdlerModulus - 1;  // what each sum of the second part lacks
  const std::uint64_t sum = (before + (second & 0xFFFF)) % kAdlerModulus;
  const std::uint64_t sums =
      ((first >> 16) + (second >> 16) + second_bytes % kAdlerModulus * before) % kAdlerModulus;
  return static_cast<std::uint32_t>(sums << 16 | sum);
}

std::uint32_t checksum_of_nothing(Checksum kind) { return kind == Checksum::kAdler32 ? 1 : 0; }

}  // namespace

std::uint32_t checksum_behind(Checksum kind, std::uint32_t before, std::span<const std::byte> bytes) {
  // An empty span may be null, for which libdeflate returns its initial value.
  if (bytes.empty()) return before;
  if (kind == Checksum::kCrc32) return libdeflate_crc32(before, bytes.data(), bytes.size());
  if (kind == Checksum::kAdler32) return libdeflate_adler32(before, bytes.data(), bytes.size());
  return before;
}

std::uint32_t checksum_of(Checksum kind, std::span<const std::byte> bytes) {
  if (kind == Checksum::kXxh32) return XXH32(bytes.data(), bytes.size(), 0);
  if (kind == Checksum::kXxh64) return static_cast<std::uint32_t>(XXH64(bytes.data(), bytes.size(), 0));
  return checksum_behind(kind, checksum_of_nothing(kind), bytes);
}

std::uint32_t combined_checksum(Checksum kind, std::uint32_t first, std::uint32_t second,
                                std::uint64_t second_bytes) {
  return kind == Checksum::kAdler32 ? adler32_joined(first, second, second_bytes)
                                    : crc32_moved(first, second_bytes) ^ second;
}

RunningChecksum::RunningChecksum(Checksum kind)
    : kind_(kind),
      xxh32_(kind == Checksum::kXxh32 ? XXH32_createState() : nullptr, XXH32_freeState),
      xxh64_(kind == Checksum::kXxh64 ? XXH64_createState() : nullptr, XXH64_freeState) {
  if ((kind == Checksum::kXxh32 && !xxh32_) || (kind == Checksum::kXxh64 && !xxh64_)) throw std::bad_alloc();
  reset();
}

void RunningChecksum::reset() {
  value_ = checksum_of_nothing(kind_);
  if (xxh32_) XXH32_reset(xxh32_.get(), 0);
  if (xxh64_) XXH64_reset(xxh64_.get(), 0);
}

void RunningChecksum::update(std::span<const std::byte> bytes) {
  if (xxh32_)
    XXH32_update(xxh32_.get(), bytes.data(), bytes.size());
  else if (xxh64_)
    XXH64_update(xxh64_.get(), bytes.data(), bytes.size());
  else
    value_ = checksum_behind(kind_, value_, bytes);
}

void RunningChecksum::append(std::uint32_t checksum, std::uint64_t bytes) {
  value_ = combined_checksum(kind_, value_, checksum, bytes);
}

std::uint32_t RunningChecksum::digest() const {
  if (xxh64_) return static_cast<std::uint32_t>(XXH64_digest(xxh64_.get()));
  return xxh32_ ? XXH32_digest(xxh32_.get()) : value_;
}

}  // namespace hemstitch
