// search through WebGPU: the matches of find_in_texts (search.hpp), all of them and in the same order.
//
// Texts are searched in pieces that fit a binding, each with as many bytes after it as a match may reach.
// Matches are counted, then written and read back, in several turns if a buffer cannot hold them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "compact/scan/scan_webgpu.hpp"
#include "gpu/webgpu/device.hpp"
#include "search/pattern_table.hpp"
#include "search/search_words.hpp"

namespace hemstitch::webgpu {

// How many positions a workgroup tests.
inline constexpr std::uint32_t kSearchTilePositions = 4096;

struct TextSearchLimits {
  // Positions in a piece, and matches in a turn; 0: as many as the device allows, within reason.
  std::uint64_t piece_bytes = 0;
  std::uint64_t turn_matches = 0;
};

// Keeps its buffers between calls. One thread at a time.
class TextSearch {
 public:
  TextSearch(std::shared_ptr<Device> device, const PatternSet& patterns, const TextSearchLimits& limits = {});

  // Text i is from offsets[i] to offsets[i + 1]; together they cover everything. Throws the device family's
  // errors. `times`, if not null, receives the time of each step.
  std::vector<PackedMatch> find(std::string_view texts, std::span<const std::uint64_t> offsets,
                                std::vector<StepTime>* times = nullptr);
  // The same for texts in a buffer of the device, in whole words, after all work that is queued there.
  std::vector<PackedMatch> find(const Buffer& texts, std::span<const std::uint64_t> offsets);

 private:
  // A piece's buffers, and their capacity.
  struct Buffers {
    std::uint64_t data_bytes = 0, text_count = 0;
    BufferId data, table, text_begins, tile_counts, tile_begins, matches;
    ScanBuffers scan;
    BufferSet set;
  };

  void make_room(std::uint64_t data_bytes, std::uint64_t text_count);
  // `bring` copies a part of the texts into a buffer.
  template <class Bring>
  std::vector<PackedMatch> find(std::span<const std::uint64_t> offsets, std::vector<StepTime>* times,
                                const Bring& bring);
  template <class Bring>
  void find_in_piece(const Bring& bring, std::span<const std::uint64_t> offsets, std::uint64_t begin,
                     std::vector<PackedMatch>& matches, std::vector<StepTime>* times);
  void run(const Recording& recording, std::vector<StepTime>* times);
  Step step(std::string_view entry_point, std::uint32_t positions, std::uint32_t text_count,
            std::uint32_t first_match, std::uint32_t room) const;

  std::shared_ptr<Device> device_;
  PatternTable table_;
  std::uint64_t piece_bytes_;
  std::uint64_t turn_matches_;
  Buffers buffers_;
};

}  // namespace hemstitch::webgpu
