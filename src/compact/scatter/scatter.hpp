// scatter: copies the pieces of one span to different places; it reverses gather.
//
// Piece i, sizes[i] bytes at input + offsets[i], goes to targets[i]: restored files to their buffers, the
// parts of a message to their receivers. Targets may have any alignment and must not overlap; nothing is
// written between them. As in gather, the work is divided by bytes, and everything said there holds.
//
// On the CPU it uses oneTBB and memcpy; on CUDA one kernel for gather and scatter (pieces/copy_pieces.cuh).
#pragma once

#include "hemstitch/compact.hpp"
