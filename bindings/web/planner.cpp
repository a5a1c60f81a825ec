// The planner of LZ4 frames and of matches as a WebAssembly module: the library's own plans and frames,
// behind functions that hemstitch.js calls (calls.hpp).
#include <cstdint>
#include <memory>
#include <vector>

#include "calls.hpp"
#include "format/lz4/block/lz4_block_size.hpp"
#include "format/lz4/compress/lz4_judge.hpp"
#include "format/lz4/frame/lz4_legacy_writer.hpp"
#include "format/lz4/lz4_format.hpp"
#include "format/lz4/restore/lz4_restore_webgpu.hpp"
#include "lz4_jobs.hpp"
#include "match/hash_pairs/hash_pairs_webgpu.hpp"
#include "match_jobs.hpp"

namespace hemstitch {

// Here the table of formats has only LZ4, and nothing calls the functions after it.
FormatTable::FormatTable() { add({.format = make_lz4_format()}); }
JudgedMatches judge_lz4_matches(std::span<const MatchRecord>) { __builtin_trap(); }
std::unique_ptr<FrameWriter> make_lz4_legacy_writer(const CompressOptions&) { __builtin_trap(); }
std::optional<std::uint64_t> lz4_block_restored_bytes(std::span<const std::byte>) { __builtin_trap(); }

// Blocks of frames are not pages, so hash_pairs is not used. The module has no room for the shader for few
// blocks.
void webgpu::record_hash_pairs(Recording&, const BlockBatch&, const FinderBuffers&,
                               const HashPairsParameters&) {
  __builtin_trap();
}
bool webgpu::Lz4RestoreTable::has_few_blocks() const { return false; }
std::uint64_t webgpu::few_windows_bytes(std::uint64_t) { return 0; }
webgpu::Recording webgpu::record_lz4_restore_few(const Lz4RestorePlan&, const Lz4RestoreTable&) {
  __builtin_trap();
}

namespace web {
namespace {

std::unique_ptr<MatchFinder> finder;
std::vector<std::uint32_t> matches;

}  // namespace

// ---- LZ4 ----

EXPORT("beginLz4")
void begin_lz4(int level, std::uint32_t block_bytes, int block_checksums, int content_checksum,
               double content_bytes, double batch_bytes) {
  writer = std::make_unique<Lz4Compression>(
      lz4_options(level, block_bytes, block_checksums, content_checksum, content_bytes),
      static_cast<std::uint64_t>(batch_bytes), limits);
}
EXPORT("beginRestoring") void begin_restoring(int verify_checksums, double batch_bytes) {
  reader =
      std::make_unique<Lz4Restoring>(verify_checksums != 0, static_cast<std::uint64_t>(batch_bytes), limits);
}

// ---- Matches ----

EXPORT("beginMatching") void begin_matching() { finder = std::make_unique<MatchFinder>(); }
EXPORT("setFinder") void set_finder(std::uint32_t length) { finder->set_finder(name(length)); }
EXPORT("setParse") void set_parse(std::uint32_t length) { finder->set_parse(name(length)); }
EXPORT("setParameter") void set_parameter(std::uint32_t length, std::uint32_t value) {
  finder->set_parameter(name(length), value);
}
EXPORT("checkMatching") void check_matching() { finder->check(limits); }
EXPORT("mostBlockBytes") double most_block_bytes() {
  return static_cast<double>(finder->most_block_bytes(limits));
}
EXPORT("finderRoom") std::byte* finder_room(std::uint32_t bytes) { return finder->room(bytes).data(); }
EXPORT("matchingJob") void matching_job(std::uint32_t history_bytes, std::uint32_t begin) {
  text = finder->job(history_bytes, begin);
}
EXPORT("takeMatches") const std::uint32_t* take_matches() {
  matches = finder->take_matches();
  return matches.data();
}
EXPORT("matchWords") std::uint32_t match_words() { return static_cast<std::uint32_t>(matches.size()); }
EXPORT("judgingJob") void judging_job() { text = finder->judging_job(); }
EXPORT("judgement") void judgement() { text = finder->judgement(); }

}  // namespace web
}  // namespace hemstitch
