// Checks options before a byte is read. An error names the field and its permitted values.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/status.hpp"

namespace hemstitch {

inline constexpr unsigned kMaxThreads = 1024;
inline constexpr std::size_t kLeastSeekableBytes = std::size_t{64} << 10;
inline constexpr std::size_t kMostSeekableBytes = std::size_t{64} << 20;
inline constexpr int kLeastFrameWindowLog = 10, kMostFrameWindowLog = 31;
// A larger window needs an option that allows it, as in the zstd tool.
inline constexpr std::uint64_t kUsualWindowBytes = std::uint64_t{128} << 20;
inline constexpr int kMaxAcceleration = 65536;  // liblz4 treats greater values as this one

// Whether a frame is compressed as a whole (format/stream_encoder.hpp), and not block by block.
inline bool compresses_as_a_whole(const CompressOptions& options) {
  return (options.window_log != 0 && options.seekable_bytes == 0) || options.rsyncable;
}

// Throws kInvalidOption. checked_options() checks what depends on the format, such as the level
// (format/formats.hpp).
void validate(const CompressOptions& options);
void validate(const RestoreOptions& options);

// How large a window the options allow; 0: a usual one. Throws kInvalidOption.
std::uint64_t most_window_bytes(const RestoreOptions& options);

// For calls whose results have no single end in one input. Throws kInvalidOption if used_bytes is set.
void refuse_used_bytes(const RestoreOptions& options);

// The number of threads of a run: as requested, or one for each core that this process may use. Threads far
// beyond the number of cores find no work, but each has its buffers, and oneTBB's threads search for work for
// a while: on 2 cores, 1024 of them took a minute for a gigabyte of zeros, which 16 compress in half a
// second.
inline constexpr unsigned kMostThreadsPerCore = 8;
unsigned resolve_threads(unsigned requested);

}  // namespace hemstitch
