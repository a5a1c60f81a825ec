// gather: copies pieces from anywhere into one span.
//
// Piece i, sizes[i] bytes at sources[i], goes to output + offsets[i]. With the offsets from scan/ the output
// is dense; other offsets work too if pieces do not overlap there. Sources and offsets may have any
// alignment, and sizes any value, including 0. The work is divided by bytes, never by pieces: one large piece
// among a million small ones must not determine the time. (Founding document 002 (docs/founding.md) gives
// each piece to one thread, and copies 16 bytes at a time from addresses that are not aligned.)
//
// On the CPU it uses oneTBB and memcpy; on CUDA one kernel for gather and scatter (pieces/copy_pieces.cuh).
#pragma once

#include "hemstitch/compact.hpp"
