// How entries of one long stream become its content: the kernels of deflate_chain.cu and the host's loops around them, on the processor. What
// the other steps find is made up here, so it can be what no stream is likely to lead to.
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "core/status.hpp"
#include "format/deflate/stream/deflate_stream_stages.cuh"
#include "shapes.hpp"

namespace hemstitch {
namespace {

using namespace cuda;
using testing::Bytes;

constexpr std::uint32_t kSymbols = 100;  // of each entry

// What the steps beside the chain do.
struct MadeUp {
  std::vector<DeflateStreamEntry> entries;
  std::vector<DeflateEntryResult> results;
  std::vector<std::uint64_t> claims;
  // What each round of repairs was given; what it makes of the entries.
  std::vector<std::vector<std::uint32_t>> repaired;
  std::function<void(const DeflatePieceWork&)> repair = [](const DeflatePieceWork&) {};
  // The chunks of each pass over windows; the first bad one it finds.
  std::vector<std::uint32_t> passes;
  std::function<std::uint32_t()> bad_source = [] { return kDeflateNone; };
};
MadeUp* made_up = nullptr;

// So many entries, each of which goes on to the next in the middle of a block. Of all but the first the symbols were counted alone.
MadeUp entries_in_one_block(std::uint32_t count, bool confirmed) {
  MadeUp made;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t begin = 1000 * std::uint64_t{i}, end = begin + 1000;
    made.entries.push_back({begin, 0, i == 0 ? DeflateEntryKind::kKnown : DeflateEntryKind::kPhase, 0, 0});
    made.claims.push_back(confirmed ? begin : begin + 1);
    DeflateEntryResult result{};
    result.end_bit = end;
    result.sound_bit = begin + 500;  // it has restored a block up to here
    result.symbols = kSymbols;
    result.sound_symbols = kSymbols / 2;
    result.next = i + 1 < count ? i + 1 : kDeflateNone;
    result.end = i + 1 < count ? DeflateEntryEnd::kInBlock : DeflateEntryEnd::kStream;
    result.counted = i != 0;
    if (i + 1 == count) {
      result.sound_bit = end;
      result.sound_symbols = kSymbols;
    }
    made.results.push_back(result);
  }
  return made;
}

// All that are listed are restored, from where they should.
void repair_all(const DeflatePieceWork& work) {
  for (const std::uint32_t entry : made_up->repaired.back()) {
    work.d_results[entry].counted = false;
    work.d_results[entry].round = static_cast<std::uint32_t>(made_up->repaired.size());
    if (work.d_forced[entry] != 0) work.d_claims[entry] = work.d_forced[entry];
  }
}

DeflatePieceResult restore(MadeUp& made, std::uint32_t repairs = 12) {
  made_up = &made;
  DeflatePieceLimits limits = deflate_piece_limits(1, 1);
  limits.candidates = 1;
  limits.starts = 4;
  limits.entries = static_cast<std::uint32_t>(made.entries.size());
  limits.pages = 1;
  limits.repairs = repairs;
  Bytes scratch(restore_deflate_piece_cuda_scratch_bytes(limits)), data(1000), output(100'000);
  DeflatePieceInput piece;
  piece.d_bytes = data.data();
  piece.bytes = data.size();
  // Entries count bits from here.
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(piece.d_bytes) % 4, 0u);
  return restore_deflate_piece_cuda(piece, limits, output.data(), output.size(), scratch.data(),
                                    scratch.size(), nullptr);
}

// An entry that begins at a wrong token, of which nothing was written either, is one repair. The list has room for as many as
// there are entries.
TEST(EmulatedDeflateChain, NoEntryIsRepairedTwiceInARound) {
  for (const bool confirmed : {false, true}) {
    MadeUp made = entries_in_one_block(100, confirmed);
    made.repair = repair_all;
    const DeflatePieceResult result = restore(made);
    ASSERT_EQ(made.repaired.size(), 1u);
    std::ranges::sort(made.repaired[0]);
    std::vector<std::uint32_t> expected;
    for (std::uint32_t i = 1; i < 100; ++i) expected.push_back(i);
    EXPECT_EQ(made.repaired[0], expected);
    EXPECT_EQ(result.repaired, 99u);
    EXPECT_EQ(result.content_bytes, 100 * kSymbols);
    EXPECT_TRUE(result.ended);
  }
}

// What was counted alone has no symbols, so it has no end inside either.
TEST(EmulatedDeflateChain, WhatIsOnlyCountedGivesNoContent) {
  MadeUp made = entries_in_one_block(5, true);
  made.repair = [](const DeflatePieceWork& work) {
    repair_all(work);
    work.d_results[3].counted = true;
  };
  const DeflatePieceResult result = restore(made, 1);
  EXPECT_EQ(result.content_bytes, 2 * kSymbols + kSymbols / 2);  // the last block that ends before it
  EXPECT_EQ(result.end_bits, 2500u);
  EXPECT_EQ(result.why, DeflatePieceEnd::kGivenUp);
  EXPECT_FALSE(result.ended);
}

TEST(EmulatedDeflateChain, TheRoundsOfRepairsAreBounded) {
  MadeUp made = entries_in_one_block(5, false);
  const DeflatePieceResult result = restore(made, 3);
  EXPECT_EQ(made.repaired.size(), 3u);
  EXPECT_EQ(result.content_bytes, kSymbols / 2);
  EXPECT_EQ(result.why, DeflatePieceEnd::kGivenUp);
  EXPECT_THROW(restore(made, 0), Error);
}

// The second pass has the chunks before the first one with a source that is none.
TEST(EmulatedDeflateChain, AChunkWithABadSourceEndsThePieceBeforeIt) {
  for (const std::uint32_t bad : {0u, 1u, 3u}) {
    MadeUp made = entries_in_one_block(5, true);
    made.repair = repair_all;
    made.bad_source = [&] { return made.passes.size() == 1 ? bad : kDeflateNone; };
    const DeflatePieceResult result = restore(made);
    EXPECT_EQ(made.passes, (std::vector<std::uint32_t>{5, std::max(bad, 1u)}));
    EXPECT_EQ(result.content_bytes, bad == 0 ? 0 : (bad - 1) * kSymbols + kSymbols / 2);
    EXPECT_EQ(result.end_bits, bad == 0 ? 0 : 1000 * (bad - 1) + 500);
    EXPECT_EQ(result.why, DeflatePieceEnd::kUnsound);
  }
}

// Nothing that the first pass has looked at can be bad in the second one only. A device that says so is at fault.
TEST(EmulatedDeflateChain, ABadSourceInTheSecondPassIsAFault) {
  MadeUp made = entries_in_one_block(5, true);
  made.repair = repair_all;
  made.bad_source = [&] { return static_cast<std::uint32_t>(5 - made.passes.size()); };
  try {
    restore(made);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kDeviceFault);
  }
  EXPECT_EQ(made.passes.size(), 2u);
}

}  // namespace

namespace cuda {

std::size_t deflate_starts_cub_bytes(const DeflatePieceLimits&) { return 1; }

void find_deflate_starts(const DeflatePieceWork& work, cudaStream_t) {
  *work.d_status = {};
  work.d_status->starts = 1;
}

void make_deflate_entries(const DeflatePieceWork& work, cudaStream_t) {
  work.d_status->entries = static_cast<std::uint32_t>(made_up->entries.size());
  std::ranges::copy(made_up->entries, work.d_entries);
  std::ranges::copy(made_up->results, work.d_results);
  std::ranges::copy(made_up->claims, work.d_claims);
  std::fill_n(work.d_forced, made_up->entries.size(), 0);
}

void restore_deflate_entries(const DeflatePieceWork& work, std::uint32_t round, std::uint32_t repair_count,
                             cudaStream_t) {
  if (round == 0) return;
  made_up->repaired.emplace_back(work.d_repairs, work.d_repairs + repair_count);
  made_up->repair(work);
}

void resolve_deflate_chunks(const DeflatePieceWork& work, std::uint64_t, cudaStream_t) {
  made_up->passes.push_back(work.chunk_count);
  work.d_status->bad_source = made_up->bad_source();
}

}  // namespace cuda
}  // namespace hemstitch
