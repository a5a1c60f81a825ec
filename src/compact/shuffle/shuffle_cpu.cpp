#include <fmt/format.h>

#include <cstring>

#include "compact/shuffle/shuffle.hpp"
#include "core/overlap.hpp"
#include "core/status.hpp"

namespace hemstitch {
namespace {

// Calls visit(place among the elements, place among the planes) for every byte of whole elements, and copies
// the rest.
template <class Visit>
void for_each_byte(const char* function, std::span<const std::byte> source, std::uint32_t element_bytes,
                   std::span<std::byte> target, const Visit& visit) {
  check_element_bytes(element_bytes);
  if (source.size() != target.size())
    throw Error(Status::kInvalidOption,
                fmt::format("{}: a source of {} bytes and a target of {}; give both the same size", function,
                            source.size(), target.size()));
  refuse_overlap(source, target, "the target", "the source");
  const std::size_t elements = source.size() / element_bytes;
  for (std::size_t plane = 0; plane < element_bytes; ++plane)
    for (std::size_t element = 0; element < elements; ++element)
      visit(element * element_bytes + plane, plane * elements + element);
  const std::size_t whole = elements * element_bytes;
  if (whole != source.size())
    std::memcpy(target.data() + whole, source.data() + whole, source.size() - whole);
}

}  // namespace

void check_element_bytes(std::uint32_t element_bytes) {
  if (element_bytes == 0 || element_bytes > kMostElementBytes)
    throw Error(Status::kInvalidOption, fmt::format("element_bytes is {}; elements have 1 to {} bytes",
                                                    element_bytes, kMostElementBytes));
}

void shuffle_bytes(std::span<const std::byte> source, std::uint32_t element_bytes,
                   std::span<std::byte> target) {
  for_each_byte("shuffle", source, element_bytes, target,
                [&](std::size_t element, std::size_t plane) { target[plane] = source[element]; });
}

void unshuffle_bytes(std::span<const std::byte> source, std::uint32_t element_bytes,
                     std::span<std::byte> target) {
  for_each_byte("unshuffle", source, element_bytes, target,
                [&](std::size_t element, std::size_t plane) { target[element] = source[plane]; });
}

}  // namespace hemstitch
