// delta_bytes() and undelta_bytes(). (Definition: numcodecs' Delta.) Differences are vectors' work, which the compiler finds; sums wait for one addition an element, which is
// memory's speed from elements of 4 bytes on.
#include <fmt/format.h>

#include <cstring>

#include "core/overlap.hpp"
#include "core/status.hpp"
#include "hemstitch/compact.hpp"

namespace hemstitch {
namespace {

template <class Number>
Number number_at(const std::byte* numbers, std::size_t i) {
  Number number;
  std::memcpy(&number, numbers + i * sizeof number, sizeof number);
  return number;
}

template <class Number>
void differences(const std::byte* source, std::size_t count, std::byte* target) {
  if (count == 0) return;
  std::memcpy(target, source, sizeof(Number));
  for (std::size_t i = 1; i < count; ++i) {
    const auto difference =
        static_cast<Number>(number_at<Number>(source, i) - number_at<Number>(source, i - 1));
    std::memcpy(target + i * sizeof difference, &difference, sizeof difference);
  }
}

template <class Number>
void sums(const std::byte* source, std::size_t count, std::byte* target) {
  Number sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    sum = static_cast<Number>(sum + number_at<Number>(source, i));
    std::memcpy(target + i * sizeof sum, &sum, sizeof sum);
  }
}

// Calls run(number) with a 0 of the elements' type.
template <class Run>
void for_numbers(const char* function, std::span<const std::byte> source, std::uint32_t element_bytes,
                 std::span<std::byte> target, const Run& run) {
  if (source.size() != target.size())
    throw Error(Status::kInvalidOption,
                fmt::format("{}: a source of {} bytes and a target of {}; give both the same size", function,
                            source.size(), target.size()));
  if (element_bytes != 1 && element_bytes != 2 && element_bytes != 4 && element_bytes != 8)
    throw Error(
        Status::kInvalidOption,
        fmt::format("element_bytes is {}; {}: integers have 1, 2, 4 or 8 bytes", element_bytes, function));
  refuse_overlap(source, target, "the target", "the source");
  switch (element_bytes) {
    case 1:
      run(std::uint8_t{});
      break;
    case 2:
      run(std::uint16_t{});
      break;
    case 4:
      run(std::uint32_t{});
      break;
    default:
      run(std::uint64_t{});
  }
  const std::size_t left = source.size() % element_bytes, whole = source.size() - left;
  if (left != 0) std::memcpy(target.data() + whole, source.data() + whole, left);
}

}  // namespace

void delta_bytes(std::span<const std::byte> source, std::uint32_t element_bytes,
                 std::span<std::byte> target) {
  for_numbers("delta", source, element_bytes, target, [&](auto zero) {
    differences<decltype(zero)>(source.data(), source.size() / sizeof zero, target.data());
  });
}

void undelta_bytes(std::span<const std::byte> source, std::uint32_t element_bytes,
                   std::span<std::byte> target) {
  for_numbers("undelta", source, element_bytes, target, [&](auto zero) {
    sums<decltype(zero)>(source.data(), source.size() / sizeof zero, target.data());
  });
}

}  // namespace hemstitch
