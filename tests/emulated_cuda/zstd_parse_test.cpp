// The kernels of Zstandard's parses on the processor, compared with their twins. Each block stands between pages that cannot be touched.
#include <gtest/gtest.h>

#include <memory>
#include <random>

#include "format/zstd/compress/parse/zstd_lazy.hpp"
#include "format/zstd/compress/parse/zstd_parse_cuda.hpp"
#include "format/zstd/zstd_limits.hpp"
#include "kernel_buffer.hpp"
#include "match/far/far.hpp"
#include "match/hash_chain/hash_chain.hpp"
#include "match/near_three/near_three.hpp"
#include "shapes.hpp"

namespace hemstitch::testing {
namespace {

// A block with what the finders' twins say of it.
struct ParsedBlock {
  Bytes data;
  std::size_t history_bytes;
  MatchRecords records;
  NearOffsets near_offsets;
  std::array<WideRecords, kZstdMostFarFinders> far_records;

  ZstdParseInput input() const {
    return {data, history_bytes, records, near_offsets, {far_records[0], far_records[1]}};
  }
};

// Far finders of small generations, so that they find something in little content.
ParsedBlock parsed_block(Bytes data, std::size_t history_bytes, unsigned far_count) {
  ParsedBlock block{std::move(data), history_bytes, {}, {}, {}};
  const FinderInput input{block.data, history_bytes};
  block.records = find_hash_chain(input, {.window_bytes = kMaxRecordOffset, .stitch_reach = 16});
  block.near_offsets = find_near_three(input, {.window_bytes = kMaxRecordOffset});
  if (far_count > 0) block.far_records[0] = find_far(input, {.hash_bits = 12, .generation_bytes = 512});
  if (far_count > 1)
    block.far_records[1] = find_far(
        input, {.hash_bits = 12, .hash_bytes = 5, .ways = 2, .grid_bytes = 1, .generation_bytes = 256});
  return block;
}

// The prices of codes from those of values; codes of values that no segment has cost nothing.
ZstdDevicePrices device_prices_of(const ZstdPrices& prices) {
  ZstdDevicePrices result{};
  const auto fill = [](const auto& codes, const auto& by_value, std::int16_t* to) {
    for (std::size_t code = 0; code < codes.size(); ++code)
      if (codes[code].base < by_value.size())
        to[code] = static_cast<std::int16_t>(by_value[codes[code].base] - 16 * codes[code].bits);
  };
  for (std::size_t i = 0; i < 256; ++i) result.literal[i] = static_cast<std::int16_t>(prices.literal[i]);
  fill(kZstdLiteralCodes, prices.run, result.run_code);
  fill(kZstdMatchCodes, prices.match, result.match_code);
  for (std::size_t i = 0; i < prices.offset.size(); ++i)
    result.offset_code[i] = static_cast<std::int16_t>(prices.offset[i] - 16 * static_cast<int>(i));
  return result;
}

// The blocks as a batch, behind each other but for a gap, since positions are all that orders them.
class ParseBatch {
 public:
  ParseBatch(std::span<const ParsedBlock> blocks, unsigned far_count, Against against) {
    for (const ParsedBlock& block : blocks) {
      data_.push_back(std::make_unique<KernelBuffer>(block.data, against));
      const auto bytes = static_cast<std::uint32_t>(block.records.size());
      rows_.push_back({data_.back()->bytes().data() + block.history_bytes, bytes,
                       static_cast<std::uint32_t>(block.history_bytes), records_.size()});
      batch_.max_block_bytes = std::max(batch_.max_block_bytes, bytes);
      records_.insert(records_.end(), block.records.begin(), block.records.end());
      near_.insert(near_.end(), block.near_offsets.begin(), block.near_offsets.end());
      for (unsigned i = 0; i < far_count; ++i)
        for (const WideRecord& far : block.far_records[i])
          far_[i].push_back(pack_far_record(far.offset, far.length));
    }
    batch_.d_blocks = rows_.data();
    batch_.block_count = static_cast<std::uint32_t>(rows_.size());
    batch_.total_block_bytes = records_.size();
    room(records_, found_.d_records);
    room(near_, found_.d_near_offsets);
    for (unsigned i = 0; i < far_count; ++i) room(far_[i], found_.d_far_records[i]);
    sequences_.resize(cuda::device_sequence_capacity(batch_, zstd_block_plan()));
    counts_.resize(rows_.size());
    out_ = {sequences_.data(), counts_.data(), &total_};
  }

  const DeviceBlocks& blocks() const { return batch_; }
  const cuda::ZstdFound& found() const { return found_; }
  const cuda::DeviceSequences& out() const { return out_; }

  void expect(std::size_t block, const std::vector<Sequence>& expected, std::string_view what) const {
    ASSERT_EQ(counts_[block], expected.size()) << what;
    const Sequence* const made =
        sequences_.data() +
        first_sequence(rows_[block].position, static_cast<std::uint32_t>(block), zstd_block_plan());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ(made[i].literal_count, expected[i].literal_count) << what << ", sequence " << i;
      ASSERT_EQ(made[i].match_length, expected[i].match_length) << what << ", sequence " << i;
      ASSERT_EQ(made[i].offset, expected[i].offset) << what << ", sequence " << i;
    }
  }

 private:
  // An aligned copy.
  template <class Element>
  void room(const std::vector<Element>& from, const Element*& to) {
    arrays_.emplace_back((from.size() * sizeof(Element) + 31) / 16);
    auto* const at = reinterpret_cast<Element*>(arrays_.back().data());
    std::ranges::copy(from, at);
    to = at;
  }

  struct alignas(16) Sixteen {
    std::byte bytes[16];
  };
  std::vector<std::unique_ptr<KernelBuffer>> data_;
  std::vector<DeviceBlock> rows_;
  std::vector<MatchRecord> records_;
  std::vector<std::uint16_t> near_;
  std::vector<FarRecord> far_[kZstdMostFarFinders];
  std::vector<std::vector<Sixteen>> arrays_;
  DeviceBlocks batch_;
  cuda::ZstdFound found_;
  std::vector<Sequence> sequences_;
  std::vector<std::uint32_t> counts_;
  std::uint64_t total_ = 7;
  cuda::DeviceSequences out_{};
};

void expect_parses(std::span<const ParsedBlock> blocks, unsigned far_count, std::string_view name,
                   Against against = Against::kUpperGuard) {
  const std::string what = std::string(name) + ", " + std::to_string(far_count) + " far";
  ParseBatch batch(blocks, far_count, against);
  cuda::parse_zstd_lazy_cuda(batch.blocks(), batch.found(), batch.out(), nullptr);
  std::vector<ZstdPrices> prices;
  std::vector<ZstdDevicePrices> device_prices;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const std::vector<Sequence> lazy = parse_zstd_lazy(blocks[i].input());
    batch.expect(i, lazy, what + ", lazy, block " + std::to_string(i));
    const auto content = std::span(blocks[i].data).subspan(blocks[i].history_bytes);
    prices.push_back(content.empty() ? ZstdPrices() : zstd_prices_of(content, lazy));
    device_prices.push_back(device_prices_of(prices.back()));
  }
  for (const ZstdPass& pass : {kZstdCheapPass, kZstdFullPass}) {
    cuda::parse_zstd_optimal_cuda(batch.blocks(), batch.found(), device_prices.data(), pass, batch.out(),
                                  nullptr);
    for (std::size_t i = 0; i < blocks.size(); ++i)
      batch.expect(i, parse_zstd_optimal(blocks[i].input(), prices[i], pass),
                   what + ", knows " + std::to_string(pass.knows) + ", block " + std::to_string(i));
  }
}

// Rows of one length with columns that repeat, differ a little, or count.
Bytes table_bytes(std::size_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  const Bytes fixed = random_bytes(9, seed);
  Bytes rows;
  while (rows.size() < count) {
    rows.insert(rows.end(), fixed.begin(), fixed.begin() + 5);
    rows.push_back(static_cast<std::byte>(random() % 4));
    rows.insert(rows.end(), fixed.begin() + 5, fixed.end());
    rows.push_back(static_cast<std::byte>(rows.size() / 7));
    if (random() % 3 == 0) rows.push_back(std::byte{' '});
  }
  rows.resize(count);
  return rows;
}

TEST(EmulatedZstdParse, SizesAroundBoundaries) {
  std::size_t tried = 0;
  for (const unsigned far_count : {0u, 1u, 2u}) {
    std::vector<ParsedBlock> blocks;
    for (const std::size_t bytes : {0,  1,  2,   3,    4,    5,    30,   31,   32,   33,   61,   62,
                                    63, 64, 145, 2047, 2048, 2049, 2303, 2304, 2305, 4096, 4097, 5333})
      if (tried++ % kTriedOneOf == 0)
        blocks.push_back(parsed_block(table_bytes(bytes + 700, static_cast<std::uint32_t>(bytes)),
                                      bytes % 2 == 0 ? 700 : 0, far_count));
    expect_parses(blocks, far_count, "sizes", far_count == 1 ? Against::kLowerGuard : Against::kUpperGuard);
  }
}

TEST(EmulatedZstdParse, Shapes) {
  std::size_t tried = 0;
  unsigned far_count = 0;
  const std::size_t bytes = 6000;
  for (const Shape& shape : shapes_of(bytes)) {
    far_count = (far_count + 1) % 3;
    if (tried++ % kTriedOneOf != 0) continue;
    const std::vector<ParsedBlock> blocks{parsed_block(shape.bytes, 0, far_count),
                                          parsed_block(shape.bytes, bytes / 2 + 1, far_count)};
    expect_parses(blocks, far_count, shape.name);
  }
}

// Long matches, and many that are cut off, in blocks of the largest size.
TEST(EmulatedZstdParse, WholeBlocks) {
  std::size_t tried = 0;
  constexpr std::size_t kHistoryBytes = 40'001;
  unsigned far_count = 0;
  for (const auto& make : {+[](std::size_t count) { return wordy_bytes(count, 5); },
                           +[](std::size_t count) { return table_bytes(count, 3); },
                           +[](std::size_t count) { return Bytes(count, std::byte{0}); },
                           +[](std::size_t count) { return periodic_bytes(count, 20'000); },
                           +[](std::size_t count) { return copied_bytes(count, 9); }}) {
    far_count = (far_count + 1) % 3;
    if (tried++ % kTriedOneOf != 0) continue;
    std::vector<ParsedBlock> blocks{
        parsed_block(make(kHistoryBytes + kZstdOwnBlockBytes), kHistoryBytes, far_count)};
    blocks.push_back(parsed_block(make(9'001), 0, far_count));
    expect_parses(blocks, far_count, "whole blocks");
  }
}

// Records that no finder would give together: any true match, cut off anywhere, with any offset.
TEST(EmulatedZstdParse, AnyTrueMatches) {
  std::mt19937 random(7);
  for (std::uint32_t seed = 1; seed <= 12 / kTriedOneOf + 1; ++seed) {
    const std::size_t history = seed % 2 * 3000, bytes = 5000 + seed;
    const Bytes data = seed % 3 == 0   ? runs_bytes(history + bytes, seed)
                       : seed % 3 == 1 ? periodic_bytes(history + bytes, 100 + seed)
                                       : table_bytes(history + bytes, seed);
    ParsedBlock block{
        data, history, MatchRecords(bytes), NearOffsets(bytes), {WideRecords(bytes), WideRecords(bytes)}};
    for (std::size_t i = 0; i < bytes; ++i) {
      const auto match = [&](std::size_t most_bytes) -> Match {
        const std::size_t p = history + i;
        if (p == 0 || random() % 3 == 0) return {};
        const std::size_t offset = 1 + random() % (random() % 2 == 0 ? std::min<std::size_t>(p, 300) : p);
        std::size_t length = 0;
        while (length < most_bytes && p + length < data.size() &&
               data[p + length] == data[p + length - offset])
          ++length;
        if (length > 8 && random() % 2 == 0) length -= random() % 4;
        // Around the longest that is solved.
        if (length > 152 && random() % 3 != 0) length = kZstdMostSolvedBytes - 4 + random() % 8;
        return {static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(length)};
      };
      if (const Match one = match(kMaxRecordLength); one.length >= 4)
        block.records[i] = pack_match(one.offset, one.length);
      if (const Match one = match(3); one.length == 3)
        block.near_offsets[i] = static_cast<std::uint16_t>(one.offset);
      for (WideRecords& far : block.far_records)
        if (const Match one = match(kZstdMostSolvedBytes); one.length >= 4) far[i] = one;
    }
    expect_parses({&block, 1}, 2, "any matches " + std::to_string(seed));
  }
}

}  // namespace
}  // namespace hemstitch::testing
