// The floor of runs that end in a new file: how long it takes to fill such a file from memory, in the fastest of
// several ways, each with all threads. Which one that is depends on the file system and on the number of threads: in
// memory (tmpfs), write() finds pages under a lock of the file, and mappings find them in parallel.
#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace hemstitch::cli {

enum class Filling {
  kWritten,    // pwrite() of pieces
  kAllocated,  // a mapping of space that was allocated before, as the tool fills its outputs
  kPopulated,  // a mapping in which each thread has the system find the pages of its piece
};
inline constexpr std::array kFillings = {Filling::kWritten, Filling::kAllocated, Filling::kPopulated};

// Fills an empty file, which is open for reading and writing. Returns false if the file system or the system does not
// support this way; the file may have grown then. Throws ToolError if writing fails.
bool fill(Filling way, int descriptor, std::span<const std::byte> bytes, unsigned threads);

// Of all ways the fastest, with a new file in $TMPDIR for each.
double floor_seconds(std::span<const std::byte> bytes, unsigned threads);

}  // namespace hemstitch::cli
