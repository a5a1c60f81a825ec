// Decimal multiples, for speeds.
#pragma once

namespace hemstitch::cli {

inline constexpr double kGiga = 1e9, kMega = 1e6;

}  // namespace hemstitch::cli
