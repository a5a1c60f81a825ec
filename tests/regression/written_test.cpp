// Compares what is written with what was written when it was last changed on purpose: written.json has the
// size and a hash for each input and each way to compress it. Any other byte fails, even with the same size;
// if a size grew, the test says so. An intended change includes the file: HEMSTITCH_RECORD_WRITTEN=1 writes
// the entries instead of checking them.
//
// written.json: input -> what -> [bytes, XXH64]; for a finder: [bits that its matches cost, XXH64 of its
// records]. Inputs are generated, and checked in every run, or the beginnings of real files, which need
// HEMSTITCH_CORPORA.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <lz4.h>
#include <tbb/parallel_for.h>
#include <xxhash.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "format/deflate/compress/deflate_compress_reference.hpp"
#include "format/lz4/compress/lz4_compress_reference.hpp"
#include "format/zstd/compress/zstd_compress_reference.hpp"
#include "format/zstd/zstd_limits.hpp"
#include "hemstitch/hemstitch.hpp"
#include "match/finders.hpp"
#include "match/hash_chain/hash_chain.hpp"
#include "match/hash_pairs/hash_pairs.hpp"
#include "parse/optimal/optimal.hpp"
#include "shapes.hpp"

namespace hemstitch {
namespace {

using namespace testing;

constexpr std::size_t kKibibyte = 1 << 10;
constexpr std::size_t kMebibyte = 1 << 20;
constexpr std::size_t kFinderBytes = 64 * kKibibyte;
constexpr std::size_t kZstdBytes = 400 * kKibibyte;  // several blocks, the last one not full
// One block of 4M, and another one that is not full.
constexpr std::size_t kSeveralBlocksBytes = 4 * kMebibyte + 300 * kKibibyte;
constexpr std::size_t kDictionaryBytes = 8 * kKibibyte;
// Entries with liblz4's bytes are valid for one version of it.
constexpr const char* kCpuPrefix = "cpu, liblz4";

struct Written {
  std::size_t size = 0;  // in bytes; for a finder, in bits
  std::string hash;
};
using WrittenByWhat = std::map<std::string, Written>;

std::string hash_of(const void* data, std::size_t bytes) {
  return fmt::format("{:016x}", XXH64(data, bytes, 0));
}

bool recording() { return std::getenv("HEMSTITCH_RECORD_WRITTEN") != nullptr; }

nlohmann::ordered_json read_written() {
  return nlohmann::ordered_json::parse(std::ifstream(HEMSTITCH_WRITTEN_FILE));
}

// Writes each entry on a line, so that a difference between two versions can be read.
void write_written(const nlohmann::ordered_json& recorded) {
  std::ofstream file(HEMSTITCH_WRITTEN_FILE);
  const char* between_inputs = "{\n";
  for (const auto& [input, entries] : recorded.items()) {
    file << std::exchange(between_inputs, ",\n") << nlohmann::json(input) << ": {";
    const char* between = "\n ";
    for (const auto& [what, entry] : entries.items())
      file << std::exchange(between, ",\n ") << nlohmann::json(what) << ": " << entry.dump();
    file << "}";
  }
  file << "}\n";
}

// Pages as the batch interface writes them, one after the other.
Written pages(std::span<const std::byte> bytes, int level) {
  const Lz4Level how = lz4_level(level, kPageBytes);
  Bytes all;
  for (std::size_t begin = 0; begin < bytes.size(); begin += kPageBytes) {
    const auto page = bytes.subspan(begin, std::min(kPageBytes, bytes.size() - begin));
    Bytes room(page.size());
    const EncodedBlock encoded = compress_lz4_block_reference({page, 0}, how, room);
    const bool stored =
        encoded.status != Status::kOk;  // a page that does not shrink counts with its own bytes
    all.insert(all.end(), stored ? page.begin() : std::span<const std::byte>(room).begin(),
               stored ? page.end() : std::span<const std::byte>(room).begin() + encoded.bytes);
  }
  return {all.size(), hash_of(all.data(), all.size())};
}

struct FrameCase {
  std::string what;
  CompressOptions options;
};

FrameCase frame_case(const char* backend, int level, std::size_t block_bytes) {
  FrameCase frame;
  frame.options.backend = backend;
  frame.options.level = level;
  frame.options.block_bytes = block_bytes;
  frame.options.threads = 1;
  const std::string writer = std::string_view(backend) == "cpu"
                                 ? fmt::format("{} {}", kCpuPrefix, LZ4_versionString())
                                 : std::string(backend);
  frame.what = fmt::format("{}, level {}, blocks of {}K", writer, level, block_bytes / kKibibyte);
  return frame;
}

// Each level and block size, and, at two levels, the other options of frames.
std::vector<FrameCase> frame_cases(const char* backend, std::span<const int> levels,
                                   std::span<const std::size_t> block_sizes,
                                   std::span<const std::byte> dictionary) {
  std::vector<FrameCase> cases;
  for (const int level : levels)
    for (const std::size_t block_bytes : block_sizes)
      cases.push_back(frame_case(backend, level, block_bytes));
  for (const int level : {1, 9}) {
    FrameCase frame = frame_case(backend, level, 64 * kKibibyte);
    const std::string what = frame.what;
    frame.options.linked_blocks = true;
    frame.what = what + ", linked";
    cases.push_back(frame);
    frame.options.dictionary = dictionary;
    frame.what = what + ", linked, dictionary";
    cases.push_back(frame);
    frame.options.linked_blocks = false;
    frame.what = what + ", dictionary, content checksum, no block checksums";
    frame.options.content_checksum = true;
    frame.options.block_checksums = false;
    cases.push_back(frame);
  }
  return cases;
}

void add_frames(std::span<const std::byte> bytes, const std::vector<FrameCase>& cases, WrittenByWhat& all) {
  std::vector<Written> written(cases.size());
  tbb::parallel_for(std::size_t{0}, cases.size(), [&](std::size_t i) {
    const std::vector<std::byte> frame = compress(bytes, cases[i].options);
    written[i] = {frame.size(), hash_of(frame.data(), frame.size())};
  });
  for (std::size_t i = 0; i < cases.size(); ++i) all[cases[i].what] = written[i];
}

// Blocks of DEFLATE, one after the other: parts of one stream, each with the bytes before it as history, or,
// with BGZF's block size, streams of their own.
Written deflate_blocks(std::span<const std::byte> bytes, int level, bool bgzf) {
  const std::size_t block_bytes = bgzf ? 65280 : 400 * kKibibyte;
  Bytes all;
  for (std::size_t begin = 0; begin < bytes.size(); begin += block_bytes) {
    const std::size_t history = bgzf ? 0 : std::min<std::size_t>(begin, kDeflateWindowBytes);
    const std::size_t count = std::min(block_bytes, bytes.size() - begin);
    Bytes room(deflate_data_room(count));
    const EncodedBlock encoded = compress_deflate_block_reference(
        {bytes.subspan(begin - history, history + count), history}, deflate_level(level),
        bgzf ? DeflateEnd::kFinal : DeflateEnd::kFlush, room);
    all.insert(all.end(), room.begin(), room.begin() + static_cast<std::ptrdiff_t>(encoded.bytes));
  }
  return {all.size(), hash_of(all.data(), all.size())};
}

// The cost at 9 bits for a literal and 25 for a match, with the cheapest parse, and one candidate for each
// position.
Written cost_of(const MatchRecords& records) {
  const ParseInput input{records, lzss_block_plan(5, kUnlimitedLength)};
  const std::size_t bits =
      parse_cost(parse_optimal_exact(input, FullLengthCostModel{}), FullLengthCostModel{}) / kCostUnitsPerBit;
  return {bits, hash_of(records.data(), records.size() * sizeof(MatchRecord))};
}

void add_finders(std::span<const std::byte> bytes, WrittenByWhat& all) {
  const FinderInput input{bytes.first(std::min(bytes.size(), kFinderBytes)), 0};
  const FinderInput page{bytes.first(std::min(bytes.size(), kPageBytes)), 0};
  const auto founding = [&](Finder finder) {
    return cost_of(find_reference(row_of(finder).with(FinderParameters{}), input).records);
  };
  all["finder hash_chain depth 8"] = cost_of(find_hash_chain(input, {.depth = 8}));
  all["finder hash_pairs, first page"] = cost_of(find_hash_pairs(page, {.hash_bits = kHashPairsBits}));
  all["finder window_index"] = founding(Finder::kWindowIndex);
  all["finder brute_force"] = founding(Finder::kBruteForce);
  all["finder coop_stitch"] = founding(Finder::kCoopStitch);
  all["finder lazy_scan"] = founding(Finder::kLazyScan);
}

void add_deflate(std::span<const std::byte> bytes, WrittenByWhat& all) {
  constexpr int kLevels[] = {1, 3, 6, 9, 12};  // the levels between have the same definitions
  std::vector<Written> written(std::size(kLevels) + 1);
  tbb::parallel_for(std::size_t{0}, written.size(), [&](std::size_t i) {
    written[i] =
        i == std::size(kLevels) ? deflate_blocks(bytes, 6, true) : deflate_blocks(bytes, kLevels[i], false);
  });
  for (std::size_t i = 0; i < std::size(kLevels); ++i)
    all[fmt::format("reference, deflate, level {}", kLevels[i])] = written[i];
  all["reference, bgzf, level 6"] = written.back();
}

void add_zstd(std::span<const std::byte> bytes, std::span<const int> levels, WrittenByWhat& all) {
  std::vector<Written> written(levels.size());
  tbb::parallel_for(std::size_t{0}, written.size(), [&](std::size_t i) {
    Bytes room(zstd_data_room(bytes.size()));
    const EncodedBlock part = compress_zstd_part_reference({bytes, 0}, zstd_level(levels[i]), room);
    written[i] = {part.bytes, hash_of(room.data(), part.bytes)};
  });
  for (std::size_t i = 0; i < levels.size(); ++i)
    all[fmt::format("reference, zstd, level {}", levels[i])] = written[i];
}

void check_or_record(const std::string& input, const WrittenByWhat& written) {
  nlohmann::ordered_json recorded = read_written();
  if (recording()) {
    recorded[input] = nlohmann::ordered_json::object();
    for (const auto& [what, one] : written) recorded[input][what] = {one.size, one.hash};
    write_written(recorded);
    return;
  }
  for (const auto& [what, one] : written) {
    if (what.starts_with(kCpuPrefix) && !recorded[input].contains(what))
      continue;  // another liblz4
                 // liblz4
    ASSERT_TRUE(recorded.contains(input) && recorded[input].contains(what))
        << "nothing recorded for " << input << ", " << what << " (" << one.size << ")";
    const auto& was = recorded[input][what];
    EXPECT_LE(one.size, was[0].get<std::size_t>()) << input << ", " << what << ": it grew";
    EXPECT_EQ(one.hash, was[1].get<std::string>())
        << input << ", " << what << ": other bytes, " << one.size << " of them, once " << was[0];
  }
}

constexpr int kOwnLevels[] = {1, 3, 6, 9, 12};  // the levels between have the same definitions
constexpr int kCpuLevels[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
constexpr int kZstdLevels[] = {1, 3, 5, 10, 16};  // as above
constexpr int kDefaultZstdLevel[] = {3};
constexpr std::size_t kSmallBlocks[] = {64 * kKibibyte, 256 * kKibibyte};
constexpr std::size_t kDefaultBlocks[] = {256 * kKibibyte};
constexpr std::size_t kLargeBlocks[] = {kMebibyte, 4 * kMebibyte};

void check_input(const std::string& name, std::span<const std::byte> bytes) {
  const Bytes dictionary(
      bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(std::min(bytes.size(), kDictionaryBytes)));
  WrittenByWhat written;
  for (const int level : {1, 3})
    written[fmt::format("reference, level {}, pages", level)] = pages(bytes, level);
  add_frames(bytes, frame_cases("reference", kOwnLevels, kSmallBlocks, dictionary), written);
  add_frames(bytes, frame_cases("cpu", kCpuLevels, kDefaultBlocks, dictionary), written);
  add_deflate(bytes, written);
  add_zstd(bytes.first(std::min(bytes.size(), kZstdBytes)), kZstdLevels, written);
  add_finders(bytes, written);
  check_or_record(name, written);
}

void check_large_blocks(const std::string& name, std::span<const std::byte> bytes) {
  WrittenByWhat written;
  std::vector<FrameCase> cases;
  for (const char* backend : {"reference", "cpu"})
    for (const int level : kOwnLevels)
      for (const std::size_t block_bytes : kLargeBlocks)
        cases.push_back(frame_case(backend, level, block_bytes));
  add_frames(bytes, cases, written);
  add_zstd(bytes, kDefaultZstdLevel, written);
  check_or_record(name, written);
}

TEST(Written, OfGeneratedInputsIsTheSame) {
  check_input("generated two letters", random_bytes(kMebibyte / 4, 1, 2));
  check_input("generated noise", random_bytes(200 * kKibibyte, 1, 256));
#ifndef __SANITIZE_ADDRESS__  // sanitizers change no byte; two inputs cover all code
  check_input("generated words", wordy_bytes(kMebibyte, 1));
  check_input("generated runs", runs_bytes(kMebibyte, 1));
  check_input("generated period 4097", periodic_bytes(kMebibyte, 4097));
  check_large_blocks("generated words, large blocks", wordy_bytes(kSeveralBlocksBytes, 2));
#endif
}

TEST(Written, OfRealFilesIsTheSame) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "skipped: sanitizers change no byte, and take ten times as long to say so";
#endif
  const auto folder = corpora();
  if (!folder) GTEST_SKIP() << "skipped: HEMSTITCH_CORPORA is not set";
  for (const char* name :
       {"silesia/dickens", "silesia/mr", "silesia/nci", "silesia/ooffice", "silesia/osdb", "silesia/reymont",
        "silesia/samba", "silesia/x-ray", "silesia/xml", "canterbury-large/E.coli", "canterbury/kennedy.xls"})
    check_input(fmt::format("{}, first MiB", name), read_file(*folder / name, kMebibyte));
  check_large_blocks("silesia/samba, large blocks",
                     read_file(*folder / "silesia/samba", kSeveralBlocksBytes));
}

}  // namespace
}  // namespace hemstitch
