// Options are checked at the door, before a byte is read: an error names the field and what it may be.
#pragma once

#include "core/status.hpp"

namespace hemstitch {

inline constexpr unsigned kMaxThreads = 1024;
inline constexpr int kMaxAcceleration = 65536;  // liblz4 treats greater values as this one

// Throws kInvalidOption. What depends on the format is checked_options()'s (format/formats.hpp).
void validate(const CompressOptions& options);
void validate(const RestoreOptions& options);

// The number of threads a run uses: what is asked for, or one for each core this process may run on. Threads far beyond the
// cores find nothing to do, but each has its buffers, and TBB's look for work at length: on 2 cores 1024 of them took a minute
// for a gigabyte of zeros, which 16 compress in half a second.
inline constexpr unsigned kMostThreadsPerCore = 8;
unsigned resolve_threads(unsigned requested);

// The part of a dictionary that a block can refer to: its last 64 KB.
inline constexpr std::size_t kHistoryBytes = 64 << 10;
std::span<const std::byte> effective_dictionary(std::span<const std::byte> dictionary);

}  // namespace hemstitch
