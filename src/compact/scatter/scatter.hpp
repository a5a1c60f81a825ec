// scatter: one span given out in pieces to wherever each belongs, the way back of gather.
//
// Piece i, sizes[i] bytes at input + offsets[i], goes to targets[i]: restored files to their buffers, the parts of a
// message to their receivers. Targets have any alignment and must not overlap; between them nothing is written. As in
// gather the work is divided by bytes, and everything said there holds.
//
// On the CPU oneTBB and memcpy; on CUDA one kernel for gather and scatter (pieces/copy_pieces.cuh).
#pragma once

#include "hemstitch/compact.hpp"
