// How many pages are processed at once.
#pragma once

#include <cstddef>

namespace hemstitch {

// Pages that a thread of the processor takes at once; handing them over costs little compared with their
// work.
inline constexpr std::size_t kRunPages = 16;
// The smallest batch that `auto` may compress or restore on a device: none smaller was measured.
inline constexpr std::size_t kLeastDevicePages = 100;
// The fewest that a device works on, for `auto`, if its memory holds them.
inline constexpr std::size_t kLeastPagesInDeviceMemory = 256;

}  // namespace hemstitch
