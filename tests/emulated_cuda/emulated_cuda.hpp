// Kernels of CUDA on the processor, so that fuzzers and sanitizers of the host see what they do: every read and write of a kernel's own
// code is checked, every branch is seen. (Races are not: compute-sanitizer finds those, on a device.)
//
// A kernel's source is included where this folder stands before others in the search for headers; cuda_runtime.h and some of gpu/cuda are
// found here then. Each thread of a block is a fiber with a stack of its own. It runs until it has to wait for others (a shuffle, a
// vote, a barrier), and goes on when they are there. Blocks run one after the other.
//
// What would hang a device or is left open by its rules ends the process with a message: lanes that meet at different places of a
// kernel, or when some of those that the mask names have returned; a lane that its own mask does not name; threads that wait for each
// other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace hemstitch::emulated {

struct Index {
  unsigned x = 0, y = 0, z = 0;
};
extern thread_local Index threadIdx, blockIdx, blockDim, gridDim;

// Of the device that is emulated.
inline constexpr int kMultiprocessors = 2;
inline constexpr int kSharedBytes = 227 * 1024;

// What a warp's lanes meet for: all of them the same.
enum class Meeting : std::uint8_t { kWarp, kShuffle, kVote, kMatch };

// Waits for the lanes of the warp that the mask names; what each of the 32 lanes has brought, until this lane has met them twice
// more. Of a lane that is not named that is nothing.
const std::uint64_t* meet_lanes(unsigned mask, Meeting how, std::uint64_t brought);

// Waits for the threads of the block that have not returned; whether any of them said so.
bool meet_threads(bool says_so);

// Where the host thread's shared memory lies, or near it.
std::byte* shared_begin();

// Runs `kernel` for each of the blocks, of so many threads each (whole warps).
void run(unsigned blocks, unsigned threads, const std::function<void()>& kernel);

}  // namespace hemstitch::emulated
