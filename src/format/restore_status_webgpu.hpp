// How the shaders that restore blocks tell how it went.
#pragma once

#include <cstdint>

#include "core/status.hpp"

namespace hemstitch::webgpu {

// What the host writes before the shaders begin; none of them writes it.
inline constexpr std::uint32_t kUnwritten = UINT32_MAX;

// kDeviceFault for a number that no shader writes.
constexpr Status restore_status(std::uint32_t number) {
  switch (number) {
    case 0:
      return Status::kOk;
    case 1:
      return Status::kCorruptBlock;
    case 2:
      return Status::kOutputTooSmall;
    default:
      return Status::kDeviceFault;
  }
}

}  // namespace hemstitch::webgpu
