// What generators of data choose by. std::mt19937_64 is defined by the standard; distributions are not, so none is used.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <random>

#include "shapes.hpp"

namespace hemstitch::testing {

class Choices {
 public:
  explicit Choices(std::uint64_t seed) : random_(seed) {}

  std::size_t below(std::size_t count) { return static_cast<std::size_t>(random_() % count); }
  bool one_in(std::size_t count) { return below(count) == 0; }
  // Both ends are included, and come often.
  std::size_t between(std::size_t least, std::size_t most) {
    switch (below(4)) {
      case 0:
        return least;
      case 1:
        return most;
      default:
        return least + below(most - least + 1);
    }
  }
  // As many numbers of each count of bits; `most` comes often.
  std::size_t up_to(std::size_t most) {
    if (one_in(8)) return most;
    const std::size_t bits = below(static_cast<std::size_t>(std::bit_width(most)) + 1);
    return std::min(most, below(std::size_t{1} << bits));
  }
  template <class List>
  auto one_of(const List& list) {
    return list[below(list.size())];
  }
  Bytes bytes(std::size_t count) {
    const std::size_t alphabet = one_in(2) ? 256 : 1 + below(8);
    Bytes bytes(count);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(below(alphabet));
    return bytes;
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace hemstitch::testing
