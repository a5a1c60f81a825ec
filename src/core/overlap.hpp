// Refuses outputs that share memory with an input: the output would replace what is still to be read, and the
// result would be that of something else. Addresses are compared; nothing is read.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>

namespace hemstitch {

// Whether two pieces of memory share a byte.
inline bool overlap(std::span<const std::byte> one, std::span<const std::byte> other) {
  const std::less<const std::byte*> before;
  return !one.empty() && !other.empty() && before(one.data(), other.data() + other.size()) &&
         before(other.data(), one.data() + one.size());
}

// Throws kInvalidOption.
void refuse_overlap(std::span<const std::byte> input, std::span<const std::byte> output,
                    std::string_view output_name = "the output", std::string_view input_name = "the input");

// The same for many: no output may overlap an input or another output. Takes no more than sorting them.
void refuse_overlaps(std::span<const std::span<const std::byte>> inputs,
                     std::span<const std::span<const std::byte>> outputs);

}  // namespace hemstitch
