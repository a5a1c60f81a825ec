// Errors of libzstd as ours.
#pragma once

#include <zstd.h>
#include <zstd_errors.h>

#include <cstddef>
#include <string>

#include "core/status.hpp"

namespace hemstitch {

[[noreturn]] inline void throw_no_memory_for_zstd() {
  throw Error(Status::kOutOfMemory, "no memory for the working state of libzstd");
}

// For calls that no data can make fail. Returns their result.
inline std::size_t checked_zstd(std::size_t result) {
  if (ZSTD_isError(result) == 0) return result;
  if (ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation) throw_no_memory_for_zstd();
  throw Error(Status::kInternal, std::string("libzstd: ") + ZSTD_getErrorName(result));
}

// A window of that size, with a search for long matches in all of it.
inline void set_zstd_window(ZSTD_CCtx* context, int window_log) {
  checked_zstd(ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window_log));
  checked_zstd(ZSTD_CCtx_setParameter(context, ZSTD_c_enableLongDistanceMatching, 1));
}

}  // namespace hemstitch
