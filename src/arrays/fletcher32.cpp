// hdf5_fletcher32(): the checksum of HDF5's filter 3, of big-endian words of 16 bits (H5checksum.c's H5_checksum_fletcher32()).
#include <algorithm>

#include "hemstitch/arrays.hpp"

namespace hemstitch {
namespace {

// Sums of so many words fit into 32 bits.
constexpr std::size_t kWordsAtOnce = 360;

std::uint32_t folded(std::uint32_t sum) { return (sum & 0xFFFF) + (sum >> 16); }

}  // namespace

std::uint32_t hdf5_fletcher32(std::span<const std::byte> data) {
  std::uint32_t sum = 0, sum_of_sums = 0;
  const auto add = [&](std::byte high, std::byte low) {
    sum += static_cast<std::uint32_t>(high) << 8 | static_cast<std::uint32_t>(low);
    sum_of_sums += sum;
  };
  std::size_t at = 0;
  while (data.size() - at >= 2) {
    const std::size_t words = std::min((data.size() - at) / 2, kWordsAtOnce);
    for (std::size_t i = 0; i < words; ++i, at += 2) add(data[at], data[at + 1]);
    sum = folded(sum);
    sum_of_sums = folded(sum_of_sums);
  }
  if (at < data.size()) add(data[at], std::byte{0});
  return folded(folded(sum_of_sums)) << 16 | folded(folded(sum));
}

}  // namespace hemstitch
