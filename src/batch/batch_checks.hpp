// Checks that several functions of batch.h share.
#pragma once

#include <fmt/format.h>

#include <cstdint>

#include "core/status.hpp"

namespace hemstitch {

inline constexpr std::uint32_t kMostBatchHistoryBytes = 65536;

inline int checked_level(int level) {
  if (level < kMinLevel || level > kMaxLevel)
    throw Error(Status::kInvalidOption,
                fmt::format("batch: level is {}, must be {}..{}", level, kMinLevel, kMaxLevel));
  return level;
}

}  // namespace hemstitch
