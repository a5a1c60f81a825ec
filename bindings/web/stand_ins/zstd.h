// The names that a header of ours has of libzstd: nothing is compressed here.
#pragma once

#include <cstddef>

struct ZSTD_CCtx;
struct ZSTD_CDict;
std::size_t ZSTD_freeCCtx(ZSTD_CCtx*);
std::size_t ZSTD_freeCDict(ZSTD_CDict*);
