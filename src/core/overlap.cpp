#include "core/overlap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/status.hpp"

namespace hemstitch {

void refuse_overlap(std::span<const std::byte> input, std::span<const std::byte> output,
                    std::string_view output_name, std::string_view input_name) {
  if (overlap(input, output))
    throw Error(Status::kInvalidOption,
                fmt::format("{} overlaps {}; give it memory of its own", output_name, input_name));
}

void refuse_overlaps(std::span<const std::span<const std::byte>> inputs,
                     std::span<const std::span<const std::byte>> outputs) {
  struct Room {
    std::uintptr_t begin, end;
    std::size_t number;
  };
  const auto begin_of = [](std::span<const std::byte> bytes) {
    return reinterpret_cast<std::uintptr_t>(bytes.data());
  };
  std::vector<Room> rooms;
  rooms.reserve(outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (!outputs[i].empty())
      rooms.push_back({begin_of(outputs[i]), begin_of(outputs[i]) + outputs[i].size(), i});
  if (!std::ranges::is_sorted(rooms, {}, &Room::begin)) std::ranges::sort(rooms, {}, &Room::begin);
  for (std::size_t i = 1; i < rooms.size(); ++i)
    if (rooms[i].begin < rooms[i - 1].end)
      throw Error(Status::kInvalidOption,
                  fmt::format("output {} overlaps output {}; give each memory of its own", rooms[i].number,
                              rooms[i - 1].number));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].empty()) continue;
    const auto room = std::ranges::upper_bound(rooms, begin_of(inputs[i]), {}, &Room::end);
    if (room != rooms.end() && room->begin < begin_of(inputs[i]) + inputs[i].size())
      throw Error(Status::kInvalidOption,
                  fmt::format("output {} overlaps input {}; give it memory of its own", room->number, i));
  }
}

}  // namespace hemstitch
