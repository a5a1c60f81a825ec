#include "compact/scan/scan_webgpu.hpp"

namespace hemstitch::webgpu {
namespace {
constexpr std::string_view kScanShader = "compact/scan/scan.wgsl";
// So many sums are added up by one workgroup, without further passes.
constexpr std::uint32_t kScanMostSums = 256;
// With so few tiles, each workgroup adds up the elements of the tiles before its own instead of waiting for a
// pass that does.
constexpr std::uint32_t kScanFewTiles = 16;
// What is known of where a tile begins, numbered as in scan.wgsl.
enum Known : std::uint32_t { kNothingKnown, kTileSumsKnown, kTileBeginsKnown };
}  // namespace

ScanBuffers plan_scan(BufferPlan& plan, std::uint64_t most_elements) {
  ScanBuffers buffers;
  // The sums of a level are scanned into the next buffer: sums, and where they begin. Both are a word longer,
  // for the total.
  for (std::uint64_t tiles = divided_up(most_elements, kScanTileElements);;
       tiles = divided_up(tiles, kScanTileElements)) {
    buffers.levels.push_back(plan.add("sums of tiles", (tiles + 1) * sizeof(std::uint32_t)));
    buffers.levels.push_back(plan.add("begins of tiles", (tiles + 1) * sizeof(std::uint32_t)));
    if (tiles <= kScanMostSums) return buffers;
  }
}

namespace {

void record_level(Recording& recording, BufferId sizes, BufferId begins, const ScanBuffers& buffers,
                  std::uint32_t count, std::size_t level) {
  const auto tiles = static_cast<std::uint32_t>(divided_up(count, kScanTileElements));
  const BufferId sums = buffers.levels[2 * level], tile_begins = buffers.levels[2 * level + 1];
  const Known known = tiles <= kScanFewTiles   ? kNothingKnown
                      : tiles <= kScanMostSums ? kTileSumsKnown
                                               : kTileBeginsKnown;
  if (known != kNothingKnown)
    recording.dispatch({kScanShader,
                        "reduce",
                        {count, tiles, known},
                        {{sizes, Access::kRead}, {sums, Access::kReadWrite}, {begins, Access::kReadWrite}},
                        tiles});
  if (known == kTileBeginsKnown) record_level(recording, sums, tile_begins, buffers, tiles, level + 1);
  recording.dispatch({kScanShader,
                      "apply",
                      {count, tiles, known},
                      {{sizes, Access::kRead},
                       {known == kTileBeginsKnown ? tile_begins : sums, Access::kReadWrite},
                       {begins, Access::kReadWrite}},
                      tiles});
}

}  // namespace

void record_scan(Recording& recording, BufferId sizes, BufferId begins, const ScanBuffers& buffers,
                 std::uint32_t count) {
  record_level(recording, sizes, begins, buffers, count, 0);
}

}  // namespace hemstitch::webgpu
