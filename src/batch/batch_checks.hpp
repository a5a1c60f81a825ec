// Checks that several functions of batch.h share.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>

#include "core/messages.hpp"
#include "core/overlap.hpp"
#include "core/status.hpp"

namespace hemstitch {

inline constexpr std::uint32_t kMostBatchHistoryBytes = 65536;

inline int checked_level(int level) {
  if (level < kMinLevel || level > kMaxLevel)
    throw Error(Status::kInvalidOption, out_of_range("batch: level", level, kMinLevel, kMaxLevel));
  return level;
}

// Device addresses that the host knows can be compared like others.
inline void refuse_device_overlap(const void* input, std::uint64_t input_bytes, const void* output,
                                  std::uint64_t capacity) {
  refuse_overlap({static_cast<const std::byte*>(input), static_cast<std::size_t>(input_bytes)},
                 {static_cast<const std::byte*>(output), static_cast<std::size_t>(capacity)});
}

}  // namespace hemstitch
