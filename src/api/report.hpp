// Converts a job's report to the public one.
#pragma once

#include "core/messages.hpp"
#include "hemstitch/hemstitch.hpp"
#include "pipeline/stream.hpp"

namespace hemstitch {

inline Report public_report(const StreamReport& of) {
  return {.input_bytes = of.input_bytes,
          .output_bytes = of.output_bytes,
          .frame_count = of.frame_count,
          .block_count = of.block_count,
          .planned_bytes = of.planned_bytes,
          .planned_device_bytes = of.planned_device_bytes,
          .threads = of.threads,
          .backend = of.backend,
          .fallback_blocks = of.fallback_blocks,
          .fallback_backend = of.fallback_backend,
          .fallback_reason = of.fallback_reason,
          .backend_dropped = of.dropped};
}

// After all of an input was restored: tells the caller where its last frame ends, or throws kTrailingGarbage if
// other bytes follow there and the caller does not ask.
inline void report_end(const StreamReport& report, const RestoreOptions& options) {
  if (options.used_bytes != nullptr)
    *options.used_bytes = report.input_bytes;
  else if (report.trailing_garbage_at)
    throw trailing_garbage(report.trailing_garbage_at);
}

}  // namespace hemstitch
