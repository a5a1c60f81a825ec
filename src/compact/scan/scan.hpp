// scan: from the sizes of pieces to where each of them begins.
//
//   offsets[i] = sizes[0] + ... + sizes[i-1],   offsets[count] = the total
//
// Encoders produce pieces (blocks, chunks, token runs) whose sizes are known only afterwards. scan gives
// every piece its place in one dense output. Sizes have 32 bits, since no block is larger; offsets have 64,
// since batches are. Integer addition is associative, so the result does not depend on how the work is
// divided.
//
// On the CPU it is a loop, or with enough cores two passes over parts, with oneTBB; on CUDA it is CUB's scan
// in one pass (scan_cuda.hpp). (Founding document 002 (docs/founding.md) asks for a scan in log2(count) launches. Its
// kernel is correct only for powers of two, and 32-bit totals end at 4 GiB.)
#pragma once

#include "hemstitch/compact.hpp"
