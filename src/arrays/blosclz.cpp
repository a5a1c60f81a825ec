#include "arrays/blosclz.hpp"

#include <cstdint>
#include <cstring>

namespace hemstitch {
namespace {

// A control byte below this is a run of literals; others hold a length in three bits, and the upper five of a distance.
constexpr unsigned kFirstMatch = 32;
constexpr std::size_t kLeastMatch = 3, kLongLength = 6;
// Distances from this one on have two bytes of their own.
constexpr std::size_t kFarDistance = 8192;

}  // namespace

bool restore_blosclz(std::span<const std::byte> input, std::span<std::byte> output) {
  std::size_t at = 0, done = 0;
  const auto next = [&] { return static_cast<std::size_t>(input[at++]); };
  while (at < input.size()) {
    const std::size_t control = at == 0 ? next() % kFirstMatch : next();
    if (control < kFirstMatch) {
      const std::size_t bytes = control + 1;
      if (bytes > input.size() - at || bytes > output.size() - done) return false;
      std::memcpy(output.data() + done, input.data() + at, bytes);
      at += bytes;
      done += bytes;
      continue;
    }
    std::size_t length = (control >> 5) - 1;
    if (length == kLongLength)
      for (std::size_t more = 255; more == 255; length += more) {
        if (at == input.size()) return false;
        more = next();
      }
    length += kLeastMatch;
    if (at == input.size()) return false;
    const std::size_t high = control % kFirstMatch << 8, low = next();
    std::size_t distance = high + low + 1;
    if (distance == kFarDistance) {
      if (input.size() - at < 2) return false;
      const std::size_t far_high = next() << 8;
      distance = kFarDistance + far_high + next();
    }
    if (distance > done || length > output.size() - done) return false;
    std::byte* const target = output.data() + done;
    const std::byte* const source = target - distance;
    if (distance >= length)
      std::memcpy(target, source, length);
    else  // the match runs into what it writes
      for (std::size_t i = 0; i < length; ++i) target[i] = source[i];
    done += length;
  }
  return done == output.size();
}

}  // namespace hemstitch
