// gather: pieces that lie anywhere, brought together in one span.
//
// Piece i, sizes[i] bytes at sources[i], goes to output + offsets[i]. With the offsets of scan/ the output is
// dense; any other offsets will do as long as pieces do not overlap there. Sources and offsets may have any
// alignment, sizes any value, 0 included. The work is divided by bytes, never by pieces: one large piece among
// a million small ones must not set the time. (Founding document 002 (docs/founding.md) gives
// each piece to one thread, and copies 16 bytes at a time from addresses that are not aligned.)
//
// On the CPU oneTBB and memcpy; on CUDA one kernel for gather and scatter (pieces/copy_pieces.cuh).
#pragma once

#include "hemstitch/compact.hpp"
