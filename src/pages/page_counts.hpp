// How many pages are worked on at once.
#pragma once

#include <cstddef>

namespace hemstitch {

// Pages that a thread of the processor takes at once: handing them over costs little beside their work.
inline constexpr std::size_t kRunPages = 16;
// The least batch for which a device is thought of at all by `auto`.
inline constexpr std::size_t kLeastDevicePages = 256;

}  // namespace hemstitch
