#include "compact/shuffle/byte_planes.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "compact/shuffle/byte_vectors.hpp"

namespace hemstitch {
namespace {

// Elements that are moved at once: a vector of each plane.
constexpr std::size_t kGroup = kVectorBytes;
constexpr unsigned kSplitRounds = std::countr_zero(kGroup);

// Elements of some sizes are whole vectors together.
template <std::size_t kElementBytes>
void split_group(const std::byte* elements, std::byte* planes, std::size_t plane_step) {
  ByteVectors<kElementBytes> vectors;
  vectors.load(elements);
  turn_bytes<kSplitRounds>(vectors);
  vectors.store(planes, plane_step);
}

template <std::size_t kElementBytes>
void join_group(const std::byte* planes, std::size_t plane_step, std::byte* elements) {
  ByteVectors<kElementBytes> vectors;
  vectors.load(planes, plane_step);
  turn_bytes<std::countr_zero(kElementBytes)>(vectors);
  vectors.store(elements);
}

template <std::size_t kElementBytes>
void split_fast(const std::byte* elements, std::size_t count, std::byte* planes, std::size_t plane_step) {
  for_each_run(kGroup, count, [&](std::size_t i) {
    split_group<kElementBytes>(elements + i * kElementBytes, planes + i, plane_step);
  });
}

template <std::size_t kElementBytes>
void join_fast(const std::byte* planes, std::size_t plane_step, std::size_t count, std::byte* elements) {
  for_each_run(kGroup, count, [&](std::size_t i) {
    join_group<kElementBytes>(planes + i, plane_step, elements + i * kElementBytes);
  });
}

// Other sizes: 16 bytes of 16 elements are a square. What a square has beyond elements of less than 16 bytes are bytes of the next
// elements, which are not stored as planes, and which are stored again behind as elements.
//
// How many elements can be moved so without touching what is beyond the last.
std::size_t in_squares(std::uint32_t element_bytes, std::size_t count) {
  const std::size_t beyond = element_bytes >= kVectorBytes ? 0 : kVectorBytes - element_bytes;
  const std::size_t bytes = count * element_bytes;
  return bytes < beyond ? 0 : std::min(count, (bytes - beyond) / element_bytes) / kGroup * kGroup;
}

// Calls move(first byte of each element) for the squares of a group.
template <class Move>
void for_each_square(std::uint32_t element_bytes, const Move& move) {
  std::size_t k = 0;
  for (; k + kVectorBytes <= element_bytes; k += kVectorBytes) move(k);
  if (k < element_bytes) move(element_bytes < kVectorBytes ? 0 : element_bytes - kVectorBytes);
}

// Rows of a square that are planes, known to the compiler: it leaves out what makes the others.
template <std::size_t kRows>
void split_squares(const std::byte* elements, std::uint32_t element_bytes, std::size_t count,
                   std::byte* planes, std::size_t plane_step) {
  for (std::size_t i = 0; i < count; i += kGroup)
    for_each_square(element_bytes, [&](std::size_t first) {
      ByteVectors<kGroup> square;
      square.load(elements + i * element_bytes + first, element_bytes);
      turn_bytes<kSplitRounds>(square);
      std::byte* const to = planes + first * plane_step + i;
      each_of<kRows>([&](std::size_t k) { std::memcpy(to + k * plane_step, &square.at[k], kGroup); });
    });
}

template <std::size_t kRows>
void join_squares(const std::byte* planes, std::size_t plane_step, std::uint32_t element_bytes,
                  std::size_t count, std::byte* elements) {
  for (std::size_t i = 0; i < count; i += kGroup)
    for_each_square(element_bytes, [&](std::size_t first) {
      ByteVectors<kGroup> square{};
      const std::byte* const from = planes + first * plane_step + i;
      each_of<kRows>([&](std::size_t k) { std::memcpy(&square.at[k], from + k * plane_step, kGroup); });
      turn_bytes<kSplitRounds>(square);
      square.store(elements + i * element_bytes + first, element_bytes);
    });
}

// [rows - 1]
constexpr auto kSplitSquares = []<std::size_t... kIndex>(std::index_sequence<kIndex...>) {
  return std::array{split_squares<kIndex + 1>...};
}
(std::make_index_sequence<kVectorBytes>());
constexpr auto kJoinSquares = []<std::size_t... kIndex>(std::index_sequence<kIndex...>) {
  return std::array{join_squares<kIndex + 1>...};
}
(std::make_index_sequence<kVectorBytes>());

std::size_t rows_of(std::uint32_t element_bytes) {
  return std::min(std::size_t{element_bytes}, kVectorBytes);
}

}  // namespace

void split_planes_reference(const std::byte* elements, std::uint32_t element_bytes, std::size_t count,
                            std::byte* planes, std::size_t plane_step) {
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t k = 0; k < element_bytes; ++k)
      planes[k * plane_step + i] = elements[i * element_bytes + k];
}

void join_planes_reference(const std::byte* planes, std::size_t plane_step, std::uint32_t element_bytes,
                           std::size_t count, std::byte* elements) {
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t k = 0; k < element_bytes; ++k)
      elements[i * element_bytes + k] = planes[k * plane_step + i];
}

void split_planes(const std::byte* elements, std::uint32_t element_bytes, std::size_t count,
                  std::byte* planes, std::size_t plane_step) {
  std::size_t done = 0;
  if (count >= kGroup) switch (element_bytes) {
      case 1:
        std::memcpy(planes, elements, count);
        return;
      case 2:
        return split_fast<2>(elements, count, planes, plane_step);
      case 4:
        return split_fast<4>(elements, count, planes, plane_step);
      case 8:
        return split_fast<8>(elements, count, planes, plane_step);
      case 16:
        return split_fast<16>(elements, count, planes, plane_step);
      default:
        done = in_squares(element_bytes, count);
        kSplitSquares[rows_of(element_bytes) - 1](elements, element_bytes, done, planes, plane_step);
    }
  split_planes_reference(elements + done * element_bytes, element_bytes, count - done, planes + done,
                         plane_step);
}

void join_planes(const std::byte* planes, std::size_t plane_step, std::uint32_t element_bytes,
                 std::size_t count, std::byte* elements) {
  std::size_t done = 0;
  if (count >= kGroup) switch (element_bytes) {
      case 1:
        std::memcpy(elements, planes, count);
        return;
      case 2:
        return join_fast<2>(planes, plane_step, count, elements);
      case 4:
        return join_fast<4>(planes, plane_step, count, elements);
      case 8:
        return join_fast<8>(planes, plane_step, count, elements);
      case 16:
        return join_fast<16>(planes, plane_step, count, elements);
      default:
        done = in_squares(element_bytes, count);
        kJoinSquares[rows_of(element_bytes) - 1](planes, plane_step, element_bytes, done, elements);
    }
  join_planes_reference(planes + done, plane_step, element_bytes, count - done,
                        elements + done * element_bytes);
}

}  // namespace hemstitch
