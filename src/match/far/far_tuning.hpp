// Numbers of far in the level table of Zstandard. Part of the definition of the levels: changing one changes bytes.
#pragma once

#include <cstdint>

namespace hemstitch {

// What every reader of Zstandard must support (RFC 8878, section 3.1.1.1.2). Windows of 2 MB and 1 MB cost 1.9 and 4.5 % on dickens.
inline constexpr std::uint32_t kFarWindowBytes = 8 << 20;
// A grid of 16 costs 3.6 % on dickens and 1.8 % on xml; one of 4 saves 1.4 %, and enters twice as much.
inline constexpr std::uint32_t kFarGridBytes = 8;
// Generations of 256 KB cost 0.6 % on dickens and 3.4 % on xml.
inline constexpr std::uint32_t kFarGenerationBytes = 64 << 10;
// 4 MB of table: more does not stay in the cache of a device. Four ways save 1.1 % compared with one of 2^20 (lazy parse, nine files).
inline constexpr unsigned kFarHashBits = 18;
// For slow levels: 0.8 % of dickens.
inline constexpr unsigned kFarDeepHashBits = 20;
inline constexpr std::uint32_t kFarWays = 4;
// Where comparing stops. With 64, nci would be 2.0 % larger at level 3; with 224, 0.5 % smaller. A record has at most 16 bytes more, from the stitch,
// so that a device can keep it in 24 bits of offset and 8 of length. Whoever takes a match of kFarCutBytes or more must expect that it goes on: behind a
// match that was cut off, the stitch leaves one byte less at each position, until the next position of the grid.
inline constexpr std::uint32_t kFarCapBytes = 128;
inline constexpr std::uint32_t kFarCutBytes = kFarCapBytes - 16;

}  // namespace hemstitch
