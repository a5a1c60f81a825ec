// scan: from the sizes of pieces to where each of them begins.
//
//   offsets[i] = sizes[0] + ... + sizes[i-1],   offsets[count] = the total
//
// Encoders produce pieces (blocks, chunks, token runs) whose sizes are known only afterwards; this gives every
// piece its place in one dense output. Sizes have 32 bits, since no block is larger; offsets have 64, since a
// batch is. Integer addition is associative, so however the work is divided the result is the same.
//
// On the CPU two passes over parts, by oneTBB; on CUDA CUB's scan in one pass (scan_cuda.hpp). (Founding
// document 002 (docs/founding.md) asks for a scan in log2(count) launches; its kernel is right for powers of two alone, and
// 32-bit totals end at 4 GiB.)
#pragma once

#include "hemstitch/compact.hpp"
