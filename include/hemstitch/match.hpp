// Match finding and parsing alone, for encoders that bring their own format.
//
//   hemstitch::LzssMatcher matcher(hemstitch::finder_preset("32k"));
//   for (const auto& match : matcher.find_matches(bytes)) emit(match.position, match.offset, match.length);
//
// Many blocks at once, on a GPU, without waiting for it:
//
//   hemstitch::LzssMatcher matcher(hemstitch::finder_preset("32k"), hemstitch::Finder::kCoopStitch, "cuda");
//   hemstitch::PendingMatches first = matcher.submit(blocks);
//   .. more submissions, other work ..
//   for (const auto& matches_of_block : first.take()) ..
//
// Errors are thrown as hemstitch::Error: kInvalidOption names the parameter that is out of its limits,
// kUnknownBackend the backend that cannot find matches in this build, and kDeviceUnavailable says why a device cannot
// be used.
// Positions, lengths and offsets are bytes. On "cuda" a block has up to 2 GiB with its history, and the calling thread's current
// device is the matcher's afterwards.
// Thread safety: one LzssMatcher may be used from any number of threads, one PendingMatches by one at a time. Results
// depend on the input, the finder and its parameters alone, never on threads or on the machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hemstitch/hemstitch.hpp"

namespace hemstitch {

// How candidates are looked for. Every finder gives at most one match a position; of two matches the longer
// is better, of two equally long ones the one with the smaller offset.
enum class Finder {
  kBruteForce,   // every offset up to window_size: the oracle
  kLazyScan,     // every offset up to near_range, then every far_step-th one up to window_size
  kCoopStitch,   // 64 positions share what each found in a band of its own
  kWindowIndex,  // equal to kBruteForce but inside long runs, at a small part of its work
  kHashChain,    // the nearest `depth` positions with the same hash, stitched: what LZ4's levels use
  kHashStep,     // one look into a table that is a step behind, and three near offsets, stitched
  kHashPairs,  // one match for two positions: for blocks of up to 65536 bytes, best of 4096, without history
};

// "brute_force", "lazy_scan", ..: the finders in the order of the enumeration.
HEMSTITCH_API std::vector<std::string_view> finder_names();

// How the matches of a block are chosen among its candidates.
enum class Parse {
  kGreedy,  // every match, as soon as one is there
  kLazy,    // the same, but not where the next position has a longer one
  kOptimal  // the cheapest choice under literal_cost and match_fixed_cost, each match at its full length. (Within 0.01%: it
            // is made in segments of 1024 positions.)
};

// "greedy", "lazy", "optimal": in the order of the enumeration.
HEMSTITCH_API std::vector<std::string_view> parse_names();

// What one position of kCoopStitch shows to the other 63.
enum class TopKPolicy {
  kLongest,           // its top_k best matches
  kLongestPerBucket,  // its band cut into top_k equal parts, and the best match of each
};

// One set for all finders; each reads the fields that its comment above or below names, and all read the
// lengths. The names are those of the uniform block that the kernels take.
struct FinderParameters {
  std::uint32_t min_match_len = 5;    // bytes, 3..max_match_len: what is shorter is no match
  std::uint32_t max_match_len = 258;  // bytes, up to 65535: what is longer is cut to this
  std::uint32_t window_size = 256;    // offsets, 1..65535: a band's width (kCoopStitch), else the largest one
  std::uint32_t stride = 64;      // offsets, at least 1: from the band of one position to that of the next
  std::uint32_t near_range = 64;  // offsets 1..near_range are tried from every position; 0: none
  std::uint32_t band_origin = 0;  // offset before the first band: position t of 64 searches
                                  // band_origin + t * stride + 1 .. band_origin + t * stride + window_size
  std::uint32_t top_k = 4;        // matches that one position shows to the others, 1..16
  TopKPolicy top_k_policy = TopKPolicy::kLongest;
  bool stitch = true;  // kCoopStitch: try what the other positions found; kHashChain, kHashStep:
                       // carry matches back and forward
  std::uint32_t good_match_len = 0;  // bytes: a search in kCoopStitch or kLazyScan ends with the first match
                                     // of this length; 0: never
  std::uint32_t far_step = 8;        // offsets, at least 1: kLazyScan beyond near_range
  std::uint32_t literal_cost = 9;    // bits, 1..4096: what Parse::kOptimal believes that a literal costs
  std::uint32_t match_fixed_cost = 25;  // bits, 1..4096: what it believes that any match costs
  // The rest is kHashChain's, the first also kHashStep's and kHashPairs', the second also kHashStep's.
  std::uint32_t hash_bits = 14;        // the table has 2^hash_bits entries, 8..16
  std::uint32_t cap_bytes = 64;        // bytes, 4..65535: where comparing stops; true lengths are found later
  std::uint32_t depth = 8;             // candidates of a position, at least 1
  std::uint32_t stitch_reach = 8;      // positions, 1..16, that the stitch carries a match back over
  std::uint32_t group_positions = 32;  // kHashStep: positions, at least 1, looked up before they are entered
  // kHashChain: bytes that are hashed, 4..8, and how many in blocks of 8 KB and more whose words have few values, as
  // genomes': 5..8 (one less in blocks of up to 64 KB), or 0, no difference. LZ4's levels 3 to 12 take 4, and 7 or 6.
  std::uint32_t hash_bytes = 4;
  std::uint32_t few_values_hash_bytes = 0;
};

// What a finder takes where nobody says otherwise: its own sizes, the lengths and costs above.
HEMSTITCH_API FinderParameters finder_defaults(Finder finder);

// Names for sets of kCoopStitch: "4k" (the default), "16k", "32k" and "32k-gaps" have bands of 256 or 512
// offsets at strides of 64, 256, 512 and 512; "near-1k" searches the nearest 1024 offsets from every
// position, and bands of 512 beyond them.
HEMSTITCH_API std::vector<std::string_view> finder_preset_names();

// The parameters of that name. Throws kInvalidOption with the names there are.
HEMSTITCH_API FinderParameters finder_preset(std::string_view name);

// `length` bytes at `position` that also stand `offset` bytes earlier.
struct PositionedMatch {
  std::uint64_t position = 0;
  std::uint32_t offset = 0;  // bytes back, 1..65535
  std::uint32_t length = 0;  // bytes, min_match_len..max_match_len

  friend bool operator==(const PositionedMatch&, const PositionedMatch&) = default;
};

// A block, and what stands before it: matches may point into the history, but none is given for its bytes.
struct MatchBlock {
  std::span<const std::byte> data;  // history, then the block
  std::size_t history_bytes = 0;    // at most all of it
};

// Matches as they stand on a WebGPU device, for encoders that run there. They are handles of webgpu.h, as wgpu-native gives
// them, and belong to the PendingMatches that they come from.
struct DeviceMatches {
  void* device = nullptr;  // WGPUDevice
  void* queue = nullptr;   // WGPUQueue: work submitted to it later finds the matches there
  // WGPUBuffer: two words a match, block after block: the position in its block, and offset << 16 | length
  void* matches = nullptr;
  // WGPUBuffer: a word for each block, where its matches begin, and a last one, how many there are
  void* begins = nullptr;
};

class BlockMatcher;
class PendingWork;

// Matches that are being looked for. What goes unused may be dropped: its destructor waits for the device.
class HEMSTITCH_API PendingMatches {
 public:
  explicit PendingMatches(std::unique_ptr<PendingWork> work);
  PendingMatches(PendingMatches&&) noexcept;
  PendingMatches& operator=(PendingMatches&&) noexcept;
  ~PendingMatches();

  // True where take() would not wait. Never waits.
  bool is_ready() const;
  // One list for each block, as find_matches() gives it. Waits where it has to. Once: then it throws kInvalidOption.
  std::vector<std::vector<PositionedMatch>> take();
  // Before or after take(), or without it. Throws kInvalidOption for a matcher that is not on "webgpu". (Encoders on CUDA have
  // batch.h, which never leaves the device.)
  DeviceMatches on_device() const;

 private:
  std::unique_ptr<PendingWork> work_;
  bool taken_ = false;
};

class HEMSTITCH_API LzssMatcher {
 public:
  // `backend` is where search and parse run: "reference", the twins that define every result; "cuda" (all but kHashPairs) and
  // "webgpu" (all but kBruteForce and kHashPairs; a literal_cost up to 25 for Parse::kOptimal) give the same on `device`,
  // which is as CompressOptions::device. The matches are chosen by `parse`, else by Parse::kOptimal.
  // Throws kInvalidOption, kUnknownBackend and kDeviceUnavailable.
  explicit LzssMatcher(const FinderParameters& parameters = {}, Finder finder = Finder::kCoopStitch,
                       std::string_view backend = "reference", std::string_view device = {});
  LzssMatcher(const FinderParameters& parameters, Finder finder, Parse parse,
              std::string_view backend = "reference", std::string_view device = {});

  // Makes ready what the first call would wait for: shaders compiled, kernels loaded, the device's memory started. Nothing to do
  // for "reference". Throws what the device throws.
  void prepare() const;

  // The matches that the parse chooses among the candidates, in order of position, none overlapping another. The bytes between
  // them are literals. In builds without NDEBUG every match is compared with the bytes it stands for.
  std::vector<PositionedMatch> find_matches(std::span<const std::byte> input) const;

  // One list for each block. Memory is bounded by the largest block and the device's batch, however many there are.
  std::vector<std::vector<PositionedMatch>> find_matches(std::span<const MatchBlock> blocks) const;

  // The same without waiting. The bytes must stay until the matches have been taken or dropped. On a device all blocks are
  // one batch, and three submissions have room at once; one more throws kInvalidOption.
  PendingMatches submit(std::span<const MatchBlock> blocks) const;

  // The raw table, for those who bring their own parse: one number for each byte after the history,
  // `offset << 16 | length`, and 0 where there is no match. The first `history_bytes` of `input` (at most all
  // of it) are what stands before the data: matches may point into them, but none is given for them.
  std::vector<std::uint32_t> find_candidates(std::span<const std::byte> input,
                                             std::size_t history_bytes = 0) const;

  const FinderParameters& parameters() const { return parameters_; }
  Finder finder() const { return finder_; }
  Parse parse() const { return parse_; }

 private:
  FinderParameters parameters_;
  Finder finder_;
  Parse parse_;
  std::shared_ptr<const BlockMatcher> matcher_;
};

}  // namespace hemstitch
