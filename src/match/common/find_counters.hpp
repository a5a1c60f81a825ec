// What a finder did, for judging it: founding document 000 (docs/founding.md) asks for probes and byte
// comparisons for each byte of input.
#pragma once

#include <cstdint>

namespace hemstitch {

struct FindCounters {
  std::uint64_t probes = 0;            // pairs of positions that were compared
  std::uint64_t stitch_probes = 0;     // those of them that tried another position's offset
  std::uint64_t repeated_probes = 0;   // those of these that the position had already tried itself
  std::uint64_t lookups = 0;           // reads of a hash table
  std::uint64_t byte_comparisons = 0;  // as a kernel that compares byte by byte would need them

  FindCounters& operator+=(const FindCounters& other) {
    probes += other.probes;
    stitch_probes += other.stitch_probes;
    repeated_probes += other.repeated_probes;
    lookups += other.lookups;
    byte_comparisons += other.byte_comparisons;
    return *this;
  }
};

}  // namespace hemstitch
