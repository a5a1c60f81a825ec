#include <fmt/format.h>

#include <cstring>

#include "compact/shuffle/byte_planes.hpp"
#include "compact/shuffle/shuffle.hpp"
#include "core/overlap.hpp"
#include "core/status.hpp"

namespace hemstitch {
namespace {

void check_buffers(const char* function, std::span<const std::byte> source, std::uint32_t element_bytes,
                   std::span<const std::byte> target) {
  check_element_bytes(element_bytes);
  if (source.size() != target.size())
    throw Error(Status::kInvalidOption,
                fmt::format("{}: a source of {} bytes and a target of {}; give both the same size", function,
                            source.size(), target.size()));
  refuse_overlap(source, target, "the target", "the source");
}

void copy_what_is_left(std::span<const std::byte> source, std::uint32_t element_bytes,
                       std::span<std::byte> target) {
  const std::size_t left = source.size() % element_bytes, whole = source.size() - left;
  if (left != 0) std::memcpy(target.data() + whole, source.data() + whole, left);
}

}  // namespace

void check_element_bytes(std::uint32_t element_bytes) {
  if (element_bytes == 0 || element_bytes > kMostElementBytes)
    throw Error(Status::kInvalidOption, fmt::format("element_bytes is {}; elements have 1 to {} bytes",
                                                    element_bytes, kMostElementBytes));
}

void shuffle_bytes(std::span<const std::byte> source, std::uint32_t element_bytes,
                   std::span<std::byte> target) {
  check_buffers("shuffle", source, element_bytes, target);
  const std::size_t elements = source.size() / element_bytes;
  split_planes(source.data(), element_bytes, elements, target.data(), elements);
  copy_what_is_left(source, element_bytes, target);
}

void unshuffle_bytes(std::span<const std::byte> source, std::uint32_t element_bytes,
                     std::span<std::byte> target) {
  check_buffers("unshuffle", source, element_bytes, target);
  const std::size_t elements = source.size() / element_bytes;
  join_planes(source.data(), elements, element_bytes, elements, target.data());
  copy_what_is_left(source, element_bytes, target);
}

}  // namespace hemstitch
