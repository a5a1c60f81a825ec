// Sizes of compressed blocks, held against those recorded in sizes.json. A block may get smaller, never
// larger: a change that costs ratio must say so by changing the file.
//
// sizes.json: input -> what -> bytes (of a finder: what its matches cost, in bits). Inputs are generated ones, which every run checks, and the first MiB of
// real files, which need HEMSTITCH_CORPORA. With HEMSTITCH_RECORD_SIZES=1 the test writes the entries instead
// of checking.
#include <gtest/gtest.h>
#include <lz4.h>
#include <tbb/parallel_for.h>

#include <atomic>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "device/reference/lz4_compress_reference.hpp"
#include "hemstitch/hemstitch.hpp"
#include "match/find.hpp"
#include "match/hash_chain/hash_chain.hpp"
#include "match/hash_step/hash_step.hpp"
#include "parse/optimal/optimal.hpp"
#include "shapes.hpp"

namespace hemstitch {
namespace {

using namespace testing;

constexpr std::size_t kMebibyte = 1 << 20;
constexpr std::size_t kFinderBytes = 64 << 10;

bool recording() { return std::getenv("HEMSTITCH_RECORD_SIZES") != nullptr; }

nlohmann::ordered_json read_sizes() {
  return nlohmann::ordered_json::parse(std::ifstream(HEMSTITCH_SIZES_FILE));
}

// Payload bytes of independent blocks; a block that does not shrink counts with its raw bytes, as in a frame.
std::size_t payload_bytes(std::span<const std::byte> bytes, int level, std::size_t block_bytes) {
  std::atomic<std::size_t> total{0};
  const std::size_t block_count = (bytes.size() + block_bytes - 1) / block_bytes;
  tbb::parallel_for(std::size_t{0}, block_count, [&](std::size_t index) {
    const std::size_t begin = index * block_bytes, count = std::min(block_bytes, bytes.size() - begin);
    Bytes room(count);
    const EncodedBlock encoded =
        compress_lz4_block_reference({bytes.subspan(begin, count), 0}, lz4_level(level, block_bytes), room);
    total += encoded.status == Status::kOk ? encoded.bytes : count;
  });
  return total;
}

// A frame of the `cpu` backend. Its bytes are liblz4's, so an entry holds for one version of it.
std::size_t cpu_frame_bytes(std::span<const std::byte> bytes, int level) {
  CompressOptions options;
  options.level = level;
  options.backend = "cpu";
  return compress(bytes, options).size();
}

// The bits that a finder's matches leave at 9 a literal and 25 a match, cheapest parse, one candidate a position.
std::size_t cost_bits(const MatchRecords& records) {
  const ParseInput input{records, lzss_block_plan(5, kUnlimitedLength)};
  return parse_cost(parse_optimal_exact(input, FullLengthCostModel{}), FullLengthCostModel{}) /
         kCostUnitsPerBit;
}

std::map<std::string, std::size_t> finder_costs(std::span<const std::byte> bytes) {
  const FinderInput input{bytes, 0};
  const auto founding = [&](Finder finder) {
    SearchCounters counters;
    return cost_bits(find_reference(finder, input, FinderParameters{}, counters));
  };
  return {{"hash_chain depth 8", cost_bits(find_hash_chain(input, {.depth = 8}))},
          {"hash_step", cost_bits(find_hash_step(input, {}))},
          {"window_index", founding(Finder::kWindowIndex)},
          {"coop_stitch", founding(Finder::kCoopStitch)},
          {"lazy_scan", founding(Finder::kLazyScan)}};
}

void check_or_record(const std::string& input, std::span<const std::byte> bytes) {
  struct Case {
    int level;
    std::size_t block_bytes;
  };
  std::map<std::string, std::size_t> sizes;
  for (const auto [level, block_bytes] : {Case{1, 4096}, Case{1, 65536}, Case{3, 65536}, Case{6, 65536},
                                          Case{9, 65536}, Case{12, 65536}, Case{1, 262144}, Case{3, 262144}})
    sizes["lz4 reference level " + std::to_string(level) + ", blocks of " + std::to_string(block_bytes)] =
        payload_bytes(bytes, level, block_bytes);

  for (const int level : {1, 2, 3, 9, 12})
    sizes[std::string("lz4 frame, liblz4 ") + LZ4_versionString() + " level " + std::to_string(level)] =
        cpu_frame_bytes(bytes, level);
  for (const auto& [finder, bits] : finder_costs(bytes.first(std::min(bytes.size(), kFinderBytes))))
    sizes["finder " + finder + ", first 64 KiB, bits"] = bits;

  nlohmann::ordered_json recorded = read_sizes();
  if (recording()) {
    for (const auto& [what, size] : sizes) recorded[input][what] = size;
    std::ofstream(HEMSTITCH_SIZES_FILE) << recorded.dump(1) << '\n';
    return;
  }
  for (const auto& [what, size] : sizes) {
    if (what.starts_with("lz4 frame") && !recorded[input].contains(what)) continue;  // another liblz4
    ASSERT_TRUE(recorded.contains(input) && recorded[input].contains(what))
        << "nothing recorded for " << input << ", " << what << " (" << size << ")";
    EXPECT_LE(size, recorded[input][what].get<std::size_t>()) << input << ", " << what;
  }
}

TEST(Sizes, OfGeneratedInputsDoNotGrow) {
  check_or_record("generated words", wordy_bytes(kMebibyte, 1));
  check_or_record("generated runs", runs_bytes(kMebibyte, 1));
  check_or_record("generated two letters", random_bytes(kMebibyte / 4, 1, 2));
  check_or_record("generated period 4097", periodic_bytes(kMebibyte, 4097));
}

TEST(Sizes, OfRealFilesDoNotGrow) {
  const auto folder = corpora();
  if (!folder) GTEST_SKIP() << "skipped: HEMSTITCH_CORPORA is not set";
  for (const char* name : {"dickens", "mr", "nci", "ooffice", "osdb", "reymont", "samba", "x-ray", "xml"})
    check_or_record(std::string("silesia ") + name + ", first MiB",
                    read_file(*folder / "silesia" / name, kMebibyte));
}

}  // namespace
}  // namespace hemstitch
