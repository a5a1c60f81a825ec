#include <limits>

#include "match/common/hash_word.hpp"
#include "match/common/parameter_check.hpp"
#include "match/near_three/near_three.hpp"

namespace hemstitch {
namespace {

constexpr std::uint32_t kNoPosition = std::numeric_limits<std::uint32_t>::max();

void check(const FinderInput& input, const NearThreeParameters& parameters) {
  check_near_three_parameters(parameters);
  check_parameter("near_three", "history_bytes", input.history_bytes, 0, input.data.size());
  check_parameter("near_three", "data bytes", input.data.size(), 0, kNoPosition);
}

std::uint32_t three_bytes(const std::byte* bytes) {
  return static_cast<std::uint32_t>(bytes[0]) | static_cast<std::uint32_t>(bytes[1]) << 8 |
         static_cast<std::uint32_t>(bytes[2]) << 16;
}

}  // namespace

void check_near_three_parameters(const NearThreeParameters& parameters) {
  check_parameter("near_three", "hash_bits", parameters.hash_bits, kMinHashBits, kMaxHashBits);
  check_parameter("near_three", "depth", parameters.depth, 1, std::numeric_limits<std::uint32_t>::max());
  check_parameter("near_three", "window_bytes", parameters.window_bytes, 1, kMaxRecordOffset);
}

NearOffsets find_near_three(const FinderInput& input, const NearThreeParameters& parameters) {
  check(input, parameters);
  const std::byte* data = input.data.data();
  const std::size_t data_bytes = input.data.size();
  NearOffsets offsets(input.block_bytes(), 0);
  if (data_bytes < kNearThreeBytes) return offsets;

  std::vector<std::uint32_t> head(std::size_t{1} << parameters.hash_bits, kNoPosition);
  std::vector<std::uint32_t> previous(data_bytes);
  for (std::uint32_t position = 0; position <= data_bytes - kNearThreeBytes; ++position) {
    const std::uint32_t word = three_bytes(data + position);
    const std::uint32_t hash = hash_word(word, parameters.hash_bits);
    previous[position] = head[hash];
    head[hash] = position;
    if (position < input.history_bytes) continue;

    std::uint32_t candidate = previous[position];
    for (std::uint32_t step = 0; step < parameters.depth && candidate != kNoPosition; ++step) {
      const std::uint32_t offset = position - candidate;
      if (offset > parameters.window_bytes) break;
      if (three_bytes(data + candidate) == word) {
        offsets[position - input.history_bytes] = static_cast<std::uint16_t>(offset);
        break;
      }
      candidate = previous[candidate];
    }
  }
  return offsets;
}

}  // namespace hemstitch
