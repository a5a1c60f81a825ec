// Match finding and parsing alone, for encoders with a format of their own.
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
// Errors are thrown as hemstitch::Error. kInvalidOption names the parameter that is out of range,
// kUnknownBackend the backend that cannot find matches in this build; kDeviceUnavailable says why a device
// cannot be used.
//
// Positions, lengths and offsets are in bytes. On "cuda" a block and its history have at most 2 GiB together,
// and the calls make the matcher's device the calling thread's current one.
//
// Thread safety: any number of threads may use one LzssMatcher at once; only one thread at a time may use a
// PendingMatches. Results depend only on the input, the finder and its parameters, never on threads or the
// machine.
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

// How a finder searches for candidates. Every finder gives at most one match per position. Of two matches the
// longer one is better; of two equally long ones, the one with the smaller offset.
enum class Finder {
  kBruteForce,   // every offset up to window_size; the reference for the other finders
  kLazyScan,     // every offset up to near_range, then every far_step-th one up to window_size
  kCoopStitch,   // 64 positions each search a band of offsets, and share their finds
  kWindowIndex,  // equal to kBruteForce except inside long runs, with far less work
  kHashChain,    // the nearest `depth` positions with the same hash, stitched: what LZ4's levels use
  kHashPairs,    // one match per two positions: for blocks up to 65536 bytes, best of 4096, no history
};

// "brute_force", "lazy_scan", ...: the finders in the order of the enumeration.
HEMSTITCH_API std::vector<std::string_view> finder_names();

// How a parse chooses the matches of a block among its candidates.
enum class Parse {
  kGreedy,  // takes every match as soon as there is one
  kLazy,    // as kGreedy, unless the next position has a longer match
  // The cheapest choice under literal_cost and match_fixed_cost, with each match at its full length. It is
  // within 0.01% of the cheapest, because it is made in segments of 1024 positions.
  kOptimal
};

// "greedy", "lazy", "optimal": the parses in the order of the enumeration.
HEMSTITCH_API std::vector<std::string_view> parse_names();

// The matches that a position of kCoopStitch shares with the other 63.
enum class TopKPolicy {
  kLongest,           // its top_k best matches
  kLongestPerBucket,  // its band is cut into top_k equal parts; the best match of each part
};

// One set of parameters for all finders. Each finder reads the fields that its comment above, or the comments
// below, name; all read the match lengths. The names are those of the kernels' uniform block.
struct FinderParameters {
  std::uint32_t min_match_len = 5;    // bytes, 3..max_match_len: shorter matches are dropped
  std::uint32_t max_match_len = 258;  // bytes, up to 65535: longer matches are cut to this length
  std::uint32_t window_size = 256;  // offsets, 1..65535: width of a band (kCoopStitch), else the largest one
  std::uint32_t stride = 64;        // offsets, at least 1: from the band of one position to the next one's
  std::uint32_t near_range = 64;    // every position tries offsets 1..near_range; 0: none
  // Offset before the first band. Position t of 64 searches the offsets
  // band_origin + t * stride + 1 .. band_origin + t * stride + window_size.
  std::uint32_t band_origin = 0;
  std::uint32_t top_k = 4;  // matches that a position shares with the others, 1..16
  TopKPolicy top_k_policy = TopKPolicy::kLongest;
  // kCoopStitch: try what the other positions found. kHashChain: carry matches back and forward.
  bool stitch = true;
  // bytes: the first match of this length ends a search of kCoopStitch or kLazyScan; 0: none does
  std::uint32_t good_match_len = 0;
  std::uint32_t far_step = 8;           // offsets, at least 1: the step of kLazyScan beyond near_range
  std::uint32_t literal_cost = 9;       // bits, 1..4096: the cost of a literal for Parse::kOptimal
  std::uint32_t match_fixed_cost = 25;  // bits, 1..4096: the cost of any match for Parse::kOptimal
  // The rest is for kHashChain. hash_bits is also for kHashPairs.
  std::uint32_t hash_bits = 14;    // the hash table has 2^hash_bits entries, 8..16
  std::uint32_t cap_bytes = 64;    // bytes, 4..65535: comparing stops here; true lengths are found later
  std::uint32_t depth = 8;         // candidates per position, at least 1
  std::uint32_t stitch_reach = 8;  // positions, 1..16, over which the stitch carries a match back
  // kHashChain: the number of bytes that are hashed, 4..8. The second field replaces it in blocks of 8 KB and
  // more whose words have few different values, like genomes: 5..8 (one less in blocks of up to 64 KB); 0:
  // use hash_bytes there too. LZ4's levels 3 to 12 use 4, and 7 or 6.
  std::uint32_t hash_bytes = 4;
  std::uint32_t few_values_hash_bytes = 0;
};

// The default parameters of a finder: its own sizes, and the lengths and costs above.
HEMSTITCH_API FinderParameters finder_defaults(Finder finder);

// Names of parameter sets for kCoopStitch. "4k" (the default), "16k", "32k" and "32k-gaps" have bands of 256
// or 512 offsets at strides of 64, 256, 512 and 512. "near-1k" searches the nearest 1024 offsets from every
// position, and bands of 512 beyond them.
HEMSTITCH_API std::vector<std::string_view> finder_preset_names();

// The parameters of that name. For an unknown name it throws kInvalidOption, whose message lists the names.
HEMSTITCH_API FinderParameters finder_preset(std::string_view name);

// `length` bytes at `position` that also occur `offset` bytes earlier.
struct PositionedMatch {
  std::uint64_t position = 0;
  std::uint32_t offset = 0;  // bytes back, 1..65535
  std::uint32_t length = 0;  // bytes, min_match_len..max_match_len

  friend bool operator==(const PositionedMatch&, const PositionedMatch&) = default;
};

// A block with its history, the bytes before it. Matches may point into the history, but none starts there.
struct MatchBlock {
  std::span<const std::byte> data;  // history, then the block
  std::size_t history_bytes = 0;    // at most the size of data
};

// Matches on a WebGPU device, for encoders that run there. The handles are those of webgpu.h, as wgpu-native
// defines them. They belong to the PendingMatches that they come from.
struct DeviceMatches {
  void* device = nullptr;  // WGPUDevice
  void* queue = nullptr;   // WGPUQueue: work submitted to it later can read the matches
  // WGPUBuffer: two words per match, block after block: the position in its block, and offset << 16 | length
  void* matches = nullptr;
  // WGPUBuffer: one word per block, the index of its first match; then one more word, the number of matches
  void* begins = nullptr;
};

class BlockMatcher;
class PendingWork;

// A search in progress. It may be dropped without taking its results: the destructor waits for the device.
class HEMSTITCH_API PendingMatches {
 public:
  explicit PendingMatches(std::unique_ptr<PendingWork> work);
  PendingMatches(PendingMatches&&) noexcept;
  PendingMatches& operator=(PendingMatches&&) noexcept;
  ~PendingMatches();

  // True if take() would not wait. Never waits itself.
  bool is_ready() const;
  // Returns one list per block, as find_matches() does. Waits if needed. A second call throws kInvalidOption.
  std::vector<std::vector<PositionedMatch>> take();
  // May be called before or after take(), or without it. Throws kInvalidOption if the matcher is not on
  // "webgpu". Encoders on CUDA use batch.h, which never leaves the device.
  DeviceMatches on_device() const;

 private:
  std::unique_ptr<PendingWork> work_;
  bool taken_ = false;
};

class HEMSTITCH_API LzssMatcher {
 public:
  // `backend` is where search and parse run. "reference" defines every result. "cuda" (all finders except
  // kHashPairs) and "webgpu" (all except kBruteForce and kHashPairs; for Parse::kOptimal a literal_cost up to
  // 25) give the same results on `device`, which is as CompressOptions::device. `parse` chooses the matches;
  // the constructor without it uses Parse::kOptimal. `between_pieces` is for every call but submit(); on a
  // device a piece is a batch of blocks. Throws kInvalidOption, kUnknownBackend and kDeviceUnavailable.
  explicit LzssMatcher(const FinderParameters& parameters = {}, Finder finder = Finder::kCoopStitch,
                       std::string_view backend = "reference", std::string_view device = {});
  LzssMatcher(const FinderParameters& parameters, Finder finder, Parse parse,
              std::string_view backend = "reference", std::string_view device = {},
              BetweenPieces between_pieces = {});

  // Does the preparations for which the first call would wait: compiles shaders, loads kernels, initializes
  // the device's memory. Does nothing for "reference". Throws the device's errors.
  void prepare() const;

  // Returns the matches that the parse chooses among the candidates, in order of position, without overlaps.
  // The bytes between them are literals. Builds without NDEBUG compare every match with the bytes it stands
  // for.
  std::vector<PositionedMatch> find_matches(std::span<const std::byte> input) const;

  // Returns one list per block. The memory needed depends on the largest block and the device's batch, not on
  // the number of blocks.
  std::vector<std::vector<PositionedMatch>> find_matches(std::span<const MatchBlock> blocks) const;

  // The same without waiting. Keep the bytes until the matches are taken or dropped. On a device all blocks
  // are one batch, and at most three submissions may be open; a fourth throws kInvalidOption.
  PendingMatches submit(std::span<const MatchBlock> blocks) const;

  // Returns the raw table, for callers with a parse of their own: for each byte after the history, `offset <<
  // 16 | length`, or 0 if there is no match. The first `history_bytes` of `input` (at most all of it) are
  // history: matches may point into it, but none starts there.
  std::vector<std::uint32_t> find_candidates(std::span<const std::byte> input,
                                             std::size_t history_bytes = 0) const;

  const FinderParameters& parameters() const { return parameters_; }
  Finder finder() const { return finder_; }
  Parse parse() const { return parse_; }

 private:
  FinderParameters parameters_;
  Finder finder_;
  Parse parse_;
  BetweenPieces between_pieces_;
  std::shared_ptr<const BlockMatcher> matcher_;
};

}  // namespace hemstitch
