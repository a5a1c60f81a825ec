// What compresses and restores without a device: a WebAssembly module apart from the planners. Browsers without WebGPU load it for LZ4 and gzip, and all of them for
// Zstandard.
#include <cstdint>
#include <memory>
#include <span>

#include "calls.hpp"
#include "cpu_jobs.hpp"
#include "format/deflate/compress/parse/deflate_judge.hpp"
#include "format/deflate/deflate_formats.hpp"
#include "format/deflate/frame/bgzf_index.hpp"
#include "format/lz4/block/lz4_block_size.hpp"
#include "format/lz4/compress/lz4_judge.hpp"
#include "format/lz4/frame/lz4_legacy_writer.hpp"
#include "format/lz4/lz4_format.hpp"
#include "format/zstd/frame/zstd_writer.hpp"
#include "format/zstd/zstd_format.hpp"

namespace hemstitch {

// Nothing calls the functions behind it.
FormatTable::FormatTable() {
  add({.format = make_lz4_format()});
  for (auto& format : make_deflate_frame_formats()) add({.format = std::move(format)});
  add({.format = make_zstd_format()});
}
JudgedMatches judge_deflate_matches(std::span<const std::byte>, std::span<const MatchRecord>, std::size_t,
                                    bool) {
  __builtin_trap();
}
JudgedMatches judge_lz4_matches(std::span<const MatchRecord>) { __builtin_trap(); }
std::unique_ptr<FrameWriter> make_lz4_legacy_writer(const CompressOptions&) { __builtin_trap(); }
std::optional<std::uint64_t> lz4_block_restored_bytes(std::span<const std::byte>) { __builtin_trap(); }
std::unique_ptr<SideIndex> make_bgzf_index() { __builtin_trap(); }
std::unique_ptr<FrameWriter> make_zstd_writer(const CompressOptions&) { __builtin_trap(); }
std::unique_ptr<FrameWriter> make_zstd_own_writer(const CompressOptions&) { __builtin_trap(); }
std::size_t write_raw_zstd_blocks(std::span<const std::byte>, std::span<std::byte>) { __builtin_trap(); }

namespace web {

EXPORT("beginLz4")
void begin_lz4(int level, std::uint32_t block_bytes, int block_checksums, int content_checksum,
               double content_bytes, double batch_bytes) {
  writer = std::make_unique<CpuCompression>(
      lz4_options(level, block_bytes, block_checksums, content_checksum, content_bytes),
      static_cast<std::uint64_t>(batch_bytes), limits);
}
EXPORT("beginGzip") void begin_gzip(int blocked, int level, double batch_bytes) {
  writer = std::make_unique<CpuCompression>(gzip_options(blocked, level),
                                            static_cast<std::uint64_t>(batch_bytes), limits);
}

// What is read: 0: LZ4, 1: gzip or BGZF, 2: Zstandard.
EXPORT("beginRestoring") void begin_restoring(int verify_checksums, double batch_bytes, int kind) {
  constexpr Format kFormats[] = {Format::kLz4, Format::kGzip, Format::kZstd};
  reader = std::make_unique<CpuRestoring>(kFormats[kind], verify_checksums != 0,
                                          static_cast<std::uint64_t>(batch_bytes), limits);
}

}  // namespace web
}  // namespace hemstitch
