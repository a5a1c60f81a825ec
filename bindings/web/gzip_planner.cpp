// The planner of gzip and BGZF, a WebAssembly module apart from planner.cpp: pages that do not use these
// formats do not load it.
#include <cstdint>
#include <memory>
#include <span>

#include "calls.hpp"
#include "format/deflate/compress/parse/deflate_judge.hpp"
#include "format/deflate/deflate_formats.hpp"
#include "format/deflate/frame/bgzf_index.hpp"
#include "gzip_jobs.hpp"

namespace hemstitch {

// Here the table of formats has only these, and nothing calls the two functions after it.
FormatTable::FormatTable() {
  for (auto& format : make_deflate_frame_formats()) add({.format = std::move(format)});
}
JudgedMatches judge_deflate_matches(std::span<const std::byte>, std::span<const MatchRecord>, std::size_t,
                                    bool) {
  __builtin_trap();
}
std::unique_ptr<SideIndex> make_bgzf_index() { __builtin_trap(); }

namespace web {

EXPORT("beginGzip") void begin_gzip(int blocked, int level, double batch_bytes) {
  writer = std::make_unique<GzipCompression>(gzip_options(blocked, level),
                                             static_cast<std::uint64_t>(batch_bytes), limits);
}
EXPORT("beginRestoring") void begin_restoring(int verify_checksums, double batch_bytes) {
  reader =
      std::make_unique<GzipRestoring>(verify_checksums != 0, static_cast<std::uint64_t>(batch_bytes), limits);
}

}  // namespace web
}  // namespace hemstitch
