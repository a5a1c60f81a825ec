// What the twin of the Zstandard encoder writes: its parts against their definitions, and its frames read by libzstd and by our restorers.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "batch/zstd_chunk.hpp"
#include "core/options.hpp"
#include "format/formats.hpp"
#include "format/zstd/block/zstd_block_header.hpp"
#include "format/zstd/compress/entropy/zstd_block_writer.hpp"
#include "format/zstd/compress/entropy/zstd_cells.hpp"
#include "format/zstd/compress/entropy/zstd_huffman.hpp"
#include "format/zstd/compress/entropy/zstd_literals_writer.hpp"
#include "format/zstd/compress/entropy/zstd_log2.hpp"
#include "format/zstd/compress/entropy/zstd_table_choice.hpp"
#include "format/zstd/compress/parse/zstd_lazy.hpp"
#include "format/zstd/compress/parse/zstd_optimal.hpp"
#include "format/zstd/compress/parse/zstd_prices.hpp"
#include "format/zstd/compress/zstd_compress_reference.hpp"
#include "format/zstd/compress/zstd_join.hpp"
#include "format/zstd/frame/zstd_chunk_reference.hpp"
#include "format/zstd/zstd_limits.hpp"
#include "threads.hpp"
#include "zstd_frames.hpp"

namespace hemstitch::testing {
namespace {

using Counts = std::vector<std::uint32_t>;

// Numbers that look random, and are the same everywhere.
class Numbers {
 public:
  explicit Numbers(std::uint32_t seed) : random_(seed) {}
  std::uint32_t operator()() { return static_cast<std::uint32_t>(random_()); }

 private:
  std::mt19937 random_;
};

TEST(ZstdEncoder, LogarithmsAreRoundedDown) {
  for (std::uint32_t cells = 1; cells <= 512; ++cells) {
    const double exact = 256 * (9 - std::log2(cells));
    EXPECT_GE(zstd_symbol_size(cells, 9), exact - 1e-6) << cells;
    EXPECT_LT(zstd_symbol_size(cells, 9), exact + 1 + 1e-3) << cells;
  }
}

// Few and many symbols, alike and unlike, and those whose least shares do not fit.
std::vector<Counts> zstd_histograms(std::size_t symbols) {
  std::vector<Counts> all;
  Counts rare(symbols, 1);
  rare[0] = rare[1] = 50;  // two that share the cells, and many that need one each
  all.push_back(rare);
  rare[0] = 1, rare[symbols - 1] = 60'000;
  all.push_back(rare);
  all.push_back(Counts(symbols, 1));
  all.push_back(Counts(symbols, 1000));
  Counts ends(symbols, 0);
  ends.front() = ends.back() = 1;  // a long run of zeros between them
  all.push_back(ends);
  Numbers random(5);
  for (int i = 0; i < 300; ++i) {
    Counts counts(symbols, 0);
    const std::uint32_t kinds = 2 + random() % (static_cast<std::uint32_t>(symbols) - 1),
                        most = 1U << random() % 15;
    for (std::uint32_t k = 0; k < kinds; ++k) counts[random() % symbols] += 1 + random() % most;
    if (std::count(counts.begin(), counts.end(), 0U) + 2 <= std::ptrdiff_t(symbols)) all.push_back(counts);
  }
  return all;
}

TEST(ZstdEncoder, CellsAreSharedOutAsDefined) {
  for (const ZstdCodeKind* kind : kZstdCodeKinds)
    for (const Counts& counts : zstd_histograms(kind->most_symbol + 1)) {
      const std::uint64_t sum = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
      const unsigned log = zstd_table_log(counts, kind->most_log);
      ASSERT_GE(log, 5u);
      ASSERT_LE(log, kind->most_log);
      const std::vector<std::int16_t> cells = share_zstd_cells(counts, log);
      EXPECT_EQ(std::accumulate(cells.begin(), cells.end(), 0), 1 << log);
      EXPECT_NE(cells.back(), 0);
      const auto first_of_most = std::max_element(counts.begin(), counts.end()) - counts.begin();
      int least_sum = 0;
      for (std::size_t symbol = 0; symbol < counts.size(); ++symbol) {
        const int share = static_cast<int>((std::uint64_t{counts[symbol]} << log) / sum);
        least_sum += counts[symbol] == 0 ? 0 : std::max(share, 1);
      }
      for (std::size_t symbol = 0; symbol < cells.size(); ++symbol) {
        const int share = static_cast<int>((std::uint64_t{counts[symbol]} << log) / sum);
        const int least = counts[symbol] == 0 ? 0 : std::max(share, 1);
        if (least_sum > 1 << log)
          EXPECT_LE(cells[symbol], least);
        else
          EXPECT_EQ(cells[symbol],
                    std::ptrdiff_t(symbol) == first_of_most ? least + (1 << log) - least_sum : least);
        EXPECT_EQ(cells[symbol] >= 1, counts[symbol] != 0);
      }

      // The description gives the same table.
      const Bytes description = describe_zstd_table(cells, log);
      std::size_t used = 0;
      const ZstdTable read = read_zstd_table(description, kind->most_log, kind->most_symbol, used);
      const ZstdTable made = make_zstd_table(cells, log);
      EXPECT_EQ(used, description.size());
      ASSERT_EQ(read.cells.size(), made.cells.size());
      for (std::size_t i = 0; i < read.cells.size(); ++i) {
        EXPECT_EQ(read.cells[i].symbol, made.cells[i].symbol);
        EXPECT_EQ(read.cells[i].base, made.cells[i].base);
      }
    }
  // Where shares of one cell do not fit, those with the most cells give them up, of equal ones the first.
  Counts rare(27, 1);
  rare[0] = rare[1] = 50;
  EXPECT_EQ(zstd_table_log(rare, 9), 5u);
  const std::vector<std::int16_t> cells = share_zstd_cells(rare, 5);
  EXPECT_EQ(cells[0], 3);
  EXPECT_EQ(cells[1], 4);
}

TEST(ZstdEncoder, TheSmallestTableIsChosen) {
  const auto mode_of = [](const ZstdCodeKind& kind, const Counts& counts) {
    return choose_zstd_table(kind, counts).mode;
  };
  // One sequence: its code has 2 of 64 cells, which is 5 bits; then one code often, and codes that the predefined table knows well.
  Counts once(36, 0);
  once[5] = 1;
  EXPECT_EQ(mode_of(kZstdLiteralKind, once), ZstdTableMode::kPredefined);
  once[5] = 100;
  EXPECT_EQ(mode_of(kZstdLiteralKind, once), ZstdTableMode::kRle);
  once[35] = 20;
  EXPECT_EQ(mode_of(kZstdLiteralKind, once), ZstdTableMode::kOwn);
  // Exactly 8 bits either way: the predefined one.
  Counts tie(36, 0);
  tie[0] = 2;  // 4 of 64 cells
  EXPECT_EQ(mode_of(kZstdLiteralKind, tie), ZstdTableMode::kPredefined);
  tie[0] = 3;
  EXPECT_EQ(mode_of(kZstdLiteralKind, tie), ZstdTableMode::kRle);
  // An offset that the predefined table lacks.
  Counts far(32, 0);
  far[31] = 1;
  EXPECT_EQ(mode_of(kZstdOffsetKind, far), ZstdTableMode::kRle);
  far[3] = 1;
  EXPECT_EQ(mode_of(kZstdOffsetKind, far), ZstdTableMode::kOwn);
}

TEST(ZstdEncoder, HuffmanCodesAreThoseOfTheirDescription) {
  Numbers random(7);
  unsigned coded = 0, direct = 0;
  for (int round = 0; round < 600; ++round) {
    ZstdByteCounts counts{};
    const std::uint32_t kinds = 2 + random() % (round % 3 == 0 ? 255 : 20),
                        base = random() % 3 == 0 ? 0 : random() % 256;
    std::uint32_t fibonacci = 1, before = 1;
    for (std::uint32_t k = 0; k < kinds; ++k) {
      counts[(base + k) % 256] = round % 2 == 0 ? 1 + random() % 3000 : fibonacci;
      if (fibonacci < 30'000) before = std::exchange(fibonacci, fibonacci + before);
    }
    const ZstdHuffmanCode code = make_zstd_huffman(counts);
    const Bytes description = describe_zstd_huffman(code);
    ASSERT_FALSE(description.empty());
    std::size_t used = 0;
    const ZstdHuffman table = read_zstd_huffman(description, used);
    EXPECT_EQ(used, description.size());
    EXPECT_LE(table.most_bits, kZstdMostLiteralBits);
    (description[0] < std::byte{128} ? coded : direct) += 1;
    for (std::size_t byte = 0; byte < 256; ++byte) {
      EXPECT_EQ(code.lengths[byte] != 0, counts[byte] != 0);
      if (counts[byte] == 0) continue;
      const ZstdHuffman::Entry& entry =
          table.entries[std::size_t{code.codes[byte]} << (table.most_bits - code.lengths[byte])];
      EXPECT_EQ(entry.symbol, byte);
      EXPECT_EQ(entry.bits, code.lengths[byte]);
    }
  }
  EXPECT_GT(coded, 100u);
  EXPECT_GT(direct, 100u);
  // All bytes alike: 255 equal weights can be written neither way.
  ZstdByteCounts alike;
  alike.fill(4);
  EXPECT_TRUE(describe_zstd_huffman(make_zstd_huffman(alike)).empty());
}

TEST(ZstdEncoder, LiteralsAreReadBack) {
  for (const std::size_t count :
       {0, 1, 2, 3, 5, 31, 32, 33, 255, 256, 257, 1023, 1024, 4095, 4096, 16383, 16384, 65535, 65536})
    for (const Bytes& literals : {equal_bytes(count), random_bytes(count, 3, 2), random_bytes(count, 3, 5),
                                  random_bytes(count, 3, 200), random_bytes(count), wordy_bytes(count)}) {
      const Bytes section = write_zstd_literals(literals);
      EXPECT_LE(section.size(), count + 3);
      const ZstdLiteralsHeader header = read_zstd_literals_header(section);
      EXPECT_EQ(header.section_bytes(), section.size());
      ZstdKeptTables kept;
      EXPECT_TRUE(read_zstd_literals(section, header, kept) == literals) << count;
      EXPECT_EQ(header.four_streams, header.type == ZstdLiteralsType::kCompressed && count >= 256);
      EXPECT_NE(header.type, ZstdLiteralsType::kTreeless);
    }
  EXPECT_EQ(write_zstd_literals(equal_bytes(1)).size(), 2u);
  EXPECT_EQ(write_zstd_literals(equal_bytes(65536)).size(), 4u);
}

// A frame of blocks, each from a list of sequences, whose matches are copied as they say.
class ParsedFrame {
 public:
  ParsedFrame() { content_ = random_bytes(300, 9); }

  void block(const std::vector<Sequence>& sequences) {
    const std::size_t begin = content_.size();
    for (const Sequence& sequence : sequences) {
      for (std::uint32_t i = 0; i < sequence.literal_count; ++i)
        content_.push_back(static_cast<std::byte>(random_() % 5));
      for (std::uint32_t i = 0; i < sequence.match_length; ++i)
        content_.push_back(content_[content_.size() - sequence.offset]);
    }
    put_zstd_block(std::span(content_).subspan(begin), sequences, blocks_);
  }
  void expect_read() const {
    HandMadeFrame frame(8 << 20);
    frame.raw(std::span(content_).first(300));
    Bytes data = frame.end();
    data[6] &= std::byte{0xFE};
    data.insert(data.end(), blocks_.begin(), blocks_.end());
    data.insert(data.end(), kZstdEndOfBlocks.begin(), kZstdEndOfBlocks.end());
    for (const ZstdRead& read : {read_by_libzstd(data), read_by_reference(data)}) {
      ASSERT_EQ(read.outcome, ZstdOutcome::kWhole) << read.why;
      ASSERT_TRUE(read.content == content_);
    }
  }

 private:
  Bytes content_, blocks_;
  Numbers random_{11};
};

TEST(ZstdEncoder, AnySequencesAreReadBack) {
  ParsedFrame frame;
  frame.block({{0, 65536, 1}, {0, 0, 0}});
  frame.block({{65536, 0, 0}});
  frame.block({{0, 3, 300}, {65533, 0, 0}});
  frame.block({{65533, 3, 7}, {0, 0, 0}});
  frame.block({{0, 1000, 5}, {0, 1000, 5}, {0, 60'000, 5}, {0, 3, 4}, {0, 3, 5}, {0, 0, 0}});
  frame.block({{1, 3, 1},
               {0, 3, 2},
               {0, 3, 3},
               {0, 3, 1},
               {0, 3, 2},
               {0, 3, 4},
               {5, 3, 1},
               {5, 3, 2},
               {5, 3, 4},
               {0, 0, 0}});
  std::vector<Sequence> dense(21845, {0, 3, 0});
  for (std::size_t i = 0; i < dense.size(); ++i) dense[i].offset = i % 2 == 0 ? 3 : 9;
  dense.push_back({1, 0, 0});
  frame.block(dense);
  Numbers random(3);
  for (int round = 0; round < 60; ++round) {
    std::vector<Sequence> sequences;
    const std::uint32_t most_match = 4U << random() % 13, most_run = 2U << random() % 10,
                        offsets = 1 + random() % 300;
    for (std::size_t bytes = 0;;) {
      const Sequence next{random() % most_run, 3 + random() % most_match, 1 + random() % offsets};
      bytes += next.literal_count + next.match_length;
      if (bytes > kZstdOwnBlockBytes) break;
      sequences.push_back(next);
    }
    sequences.push_back({round % 2 == 0 && sequences.size() < 100 ? 1U : 0U, 0, 0});
    if (sequences.size() > 1 || sequences[0].literal_count != 0) frame.block(sequences);
  }
  frame.expect_read();
}

TEST(ZstdEncoder, OffsetsOfMatchesThatTouchAreJoined) {
  const std::vector<ZstdSequence> values = zstd_sequences_of(std::vector<Sequence>{
      {2, 5, 10}, {0, 6, 10}, {0, 4, 20}, {0, 4, 10}, {1, 4, 10}, {0, 3, 30}, {0, 3, 20}, {3, 0, 0}});
  ASSERT_EQ(values.size(), 6u);
  EXPECT_EQ(values[0].match, 11u);
  const std::uint32_t expected[] = {13, 23, 1, 1, 33, 2};
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i].offset_value, expected[i]) << i;
}

// ---- The optimal parse ----

TEST(ZstdEncoder, PricesAreThoseOfTheTables) {
  const Bytes content = wordy_bytes(60'000, 5);
  const std::vector<Sequence> literals{{60'000, 0, 0}};
  const ZstdPrices alone = zstd_prices_of(content, literals);
  // No sequences: the predefined tables.
  EXPECT_EQ(alone.run[0], 4 * 16);                         // 4 of 64 cells
  EXPECT_EQ(alone.match[3], 6 * 16);                       // 1 of 64
  EXPECT_EQ(alone.match[35], 6 * 16 + 16);                 // and an extra bit
  EXPECT_EQ(alone.offset_value(1), 5 * 16);                // 1 of 32
  EXPECT_EQ(alone.offset_value(64 + 5), 4 * 16 + 6 * 16);  // 2 of 32, and six bits
  EXPECT_EQ(alone.literal[0xFF], 12 * 16);
  EXPECT_LT(alone.literal[static_cast<std::size_t>(' ')], 5 * 16);
  const Bytes noise = random_bytes(60'000);
  EXPECT_EQ(zstd_prices_of(noise, literals).literal[7], 8 * 16);
  // One code alone.
  const ZstdPrices one = zstd_prices_of(content, std::vector<Sequence>(100, Sequence{5, 5, 500}));
  EXPECT_EQ(one.run[5], 4);
  EXPECT_EQ(one.run[6], 160);
}

// Where the block is one segment: the cost of sequences by the prices, as the format counts them.
std::int64_t zstd_cost_of(const ZstdPrices& prices, std::span<const std::byte> content,
                          const std::vector<Sequence>& parsed) {
  std::int64_t cost = 0;
  for (const ZstdSequence& sequence : zstd_sequences_of(parsed))
    cost += prices.run[sequence.literals] +
            prices.match[std::min<std::size_t>(sequence.match, kZstdMostPricedMatch)] +
            prices.offset_value(sequence.offset_value);
  for (const std::byte literal : zstd_literals_of(content, parsed))
    cost += prices.literal[static_cast<std::size_t>(literal)];
  return cost;
}

// Forwards, each position with the exact history of the cheapest way to it: what the parse backwards is compared with.
std::int64_t zstd_cost_forwards(const ZstdParseInput& input, const ZstdPrices& prices) {
  struct Way {
    std::int64_t cost = INT64_MAX;
    std::size_t run = 0;
    std::vector<Sequence> parsed;
  };
  const std::size_t bytes = input.block_bytes();
  const auto content = input.data.subspan(input.history_bytes);
  std::vector<Way> ways(bytes + 1);
  ways[0].cost = 0;
  const auto offer = [&](Way& to, std::int64_t cost, std::size_t run, const std::vector<Sequence>& parsed) {
    if (cost < to.cost) to = {cost, run, parsed};
  };
  for (std::size_t p = 0; p < bytes; ++p) {
    const Way way = ways[p];
    offer(ways[p + 1], way.cost + prices.literal[static_cast<std::size_t>(content[p])], way.run + 1,
          way.parsed);
    const auto try_match = [&](std::uint32_t offset, std::size_t length) {
      for (std::size_t l = length; l >= 3 && l + 3 >= length; --l) {
        std::vector<Sequence> parsed = way.parsed;
        parsed.push_back({static_cast<std::uint32_t>(way.run), static_cast<std::uint32_t>(l), offset});
        std::int64_t cost = zstd_cost_of(prices, content.first(p + l), parsed);
        offer(ways[p + l], cost, 0, parsed);
      }
    };
    const MatchRecord record = input.records[p];
    if (record != 0)
      try_match(record_offset(record), std::min<std::size_t>(record_length(record), bytes - p));
  }
  return ways[bytes].cost;
}

TEST(ZstdEncoder, TheOptimalParseIsNearTheBestForwards) {
  std::int64_t backwards = 0, forwards = 0, lazily = 0;
  for (std::uint32_t seed = 1; seed <= 12; ++seed) {
    // Rows of records repeat one offset, again and again behind a few literals.
    Bytes content = seed % 3 == 0   ? wordy_bytes(600, seed)
                    : seed % 3 == 1 ? copied_bytes(600, seed)
                                    : Bytes();
    for (std::uint32_t row = 0; content.size() < 600; ++row)
      content = content + random_bytes(7, 1) + random_bytes(2, seed + row) + random_bytes(8, 2) +
                random_bytes(3, seed * row + 1);
    const MatchRecords records = find_hash_chain({content, 0}, {.depth = 4});
    const NearOffsets near(content.size(), 0);
    const ZstdParseInput input{content, 0, records, near, {}};
    const std::vector<Sequence> lazy = parse_zstd_lazy(input);
    const ZstdPrices prices = zstd_prices_of(content, lazy);
    backwards += zstd_cost_of(prices, content, parse_zstd_optimal(input, prices, {}));
    forwards += zstd_cost_forwards(input, prices);
    lazily += zstd_cost_of(prices, content, lazy);
  }
  EXPECT_LT(backwards, forwards * 1005 / 1000);
  EXPECT_LT(backwards, lazily);
}

// Matches at the distance that comes next cost less there, also where no finder gives them.
TEST(ZstdEncoder, TheOptimalParseTriesOffsetsThatComeNext) {
  // Records of 32 bytes that differ in one: the finder gives nothing but a match at the end.
  Bytes content = random_bytes(32, 1);
  for (std::uint32_t i = 1; i < 20; ++i) {
    Bytes record(content.begin(), content.begin() + 32);
    record[i % 32] = static_cast<std::byte>(i * 37);
    content = content + record;
  }
  MatchRecords records(content.size(), 0);
  records[content.size() - 5] = pack_match(32, 5);
  const NearOffsets near(content.size(), 0);
  const ZstdParseInput input{content, 0, records, near, {}};
  const ZstdPrices prices = zstd_prices_of(content, parse_zstd_lazy(input));
  const auto matches_with = [&](const ZstdPass& pass) {
    return parse_zstd_optimal(input, prices, pass).size() - 1;
  };
  EXPECT_EQ(matches_with({.knows = 1, .tries = 0}), 1u);
  EXPECT_GT(matches_with({.knows = 1, .tries = 1}), 10u);
}

// No match is priced with more than some 144 bytes, but none is cut off there.
TEST(ZstdEncoder, TheOptimalParseTakesLongMatchesWhole) {
  for (const std::size_t bytes : {kZstdMostSolvedBytes - 1, kZstdMostSolvedBytes, kZstdMostSolvedBytes + 1,
                                  2 * kZstdMostSolvedBytes + 2, std::size_t{5000}}) {
    const Bytes once = random_bytes(bytes, 3);
    const Bytes content = once + random_bytes(40, 4) + once + random_bytes(9, 5);
    const MatchRecords records = find_hash_chain({content, 0}, {});
    const NearOffsets near(content.size(), 0);
    const ZstdParseInput input{content, 0, records, near, {}};
    const ZstdPrices prices = zstd_prices_of(content, parse_zstd_lazy(input));
    for (const ZstdPass& pass : {kZstdCheapPass, kZstdFullPass}) {
      const std::vector<Sequence> parsed = parse_zstd_optimal(input, prices, pass);
      ASSERT_EQ(parsed.size(), 2u) << bytes;
      EXPECT_EQ(parsed[0].match_length, bytes);
      EXPECT_EQ(parsed[0].offset, bytes + 40);
    }
  }
}

// A part as a frame; the history before it is content of raw blocks.
Bytes zstd_part_of(const FinderInput& input, int level, std::size_t room_bytes,
                   Status expected = Status::kOk) {
  GuardedBuffer room(room_bytes);
  const EncodedBlock encoded = compress_zstd_part_reference(input, zstd_level(level), room.bytes());
  EXPECT_EQ(encoded.status, expected);
  return {room.bytes().begin(), room.bytes().begin() + static_cast<std::ptrdiff_t>(encoded.bytes)};
}

Bytes zstd_frame_of(const FinderInput& input, const Bytes& part) {
  HandMadeFrame frame(16 << 20);
  const std::span<const std::byte> history = input.data.first(input.history_bytes);
  frame.raw({});
  for (std::size_t at = 0; at < history.size(); at += 100'000)
    frame.raw(history.subspan(at, std::min<std::size_t>(100'000, history.size() - at)));
  Bytes data = frame.end();
  unmark_last_zstd_block(std::span(data).subspan(6));
  data.insert(data.end(), part.begin(), part.end());
  data.insert(data.end(), kZstdEndOfBlocks.begin(), kZstdEndOfBlocks.end());
  return data;
}

// Each block must need nothing of those before it but their content: no tables, no offsets to repeat.
void expect_blocks_by_themselves(const FinderInput& input, const Bytes& part) {
  std::size_t content_at = input.history_bytes;
  for (std::size_t at = 0; at < part.size();) {
    const ZstdBlockHeader header = read_zstd_block_header(part.data() + at);
    EXPECT_FALSE(header.last);
    EXPECT_NE(header.type, ZstdBlockType::kRle);
    const std::size_t block_bytes = kZstdBlockHeaderBytes + header.data_bytes();
    const std::size_t bytes = std::min(kZstdOwnBlockBytes, input.data.size() - content_at);
    EXPECT_TRUE(header.type == ZstdBlockType::kRaw || header.size < bytes);
    ZstdDictionary before;
    before.content = input.data.first(content_at);
    before.repeats = ZstdRepeats::unknown();
    ZstdReferenceDecoder decoder(input.data.size(), before);
    Bytes block(part.begin() + static_cast<std::ptrdiff_t>(at),
                part.begin() + static_cast<std::ptrdiff_t>(at + block_bytes));
    block.insert(block.end(), kZstdEndOfBlocks.begin(), kZstdEndOfBlocks.end());
    Bytes content(bytes);
    const StreamStep step = decoder.restore(block, content);
    ASSERT_TRUE(step.ended) << step.detail;
    ASSERT_EQ(step.output_bytes, bytes);
    ASSERT_TRUE(std::ranges::equal(content, input.data.subspan(content_at, bytes)));
    at += block_bytes;
    content_at += bytes;
  }
  EXPECT_EQ(content_at, input.data.size());
}

void expect_part_restores(const FinderInput& input, int level, const std::string& name) {
  SCOPED_TRACE(name + ", level " + std::to_string(level));
  const Bytes part = zstd_part_of(input, level, zstd_data_room(input.block_bytes()));
  expect_blocks_by_themselves(input, part);
  const ZstdRead read = read_by_libzstd(zstd_frame_of(input, part), {}, 100'000);
  ASSERT_EQ(read.outcome, ZstdOutcome::kWhole) << read.why;
  ASSERT_TRUE(std::ranges::equal(read.content, input.data));
}

constexpr int kDistinctZstdLevels[] = {1, 3, 5, 10, 16};  // the others have the same definitions

TEST(ZstdEncoder, EveryShapeRestoresAtEveryLevel) {
  for (const Shape& shape : boundary_shapes(4097))
    for (const int level : kDistinctZstdLevels) expect_part_restores({shape.bytes, 0}, level, shape.name);
}

TEST(ZstdEncoder, EveryShapeRestoresAroundTheSizeOfABlock) {
  for (const std::size_t count : {65535, 65536, 65537, 131'073})
    for (const Shape& shape : shapes_of(count)) {
      const int level = kDistinctZstdLevels[(count + shape.name.size()) % std::size(kDistinctZstdLevels)];
      expect_part_restores({shape.bytes, 0}, level, shape.name);
    }
  for (const std::size_t count :
       {kZstdFindBytes - 1, kZstdFindBytes, kZstdFindBytes + 1, kZstdFindBytes + 70'000})
    expect_part_restores({mixed_bytes(count, 3), 0}, 1, "mixed");
}

// Columns of records: long runs of equal offsets, which tables and repeats must survive.
Bytes bytes_of_records(std::size_t bytes, std::size_t width, std::uint32_t seed) {
  Numbers random(seed);
  Bytes content;
  for (std::uint32_t i = 0; content.size() < bytes; ++i)
    for (std::size_t column = 0; column < width; ++column)
      content.push_back(static_cast<std::byte>(column % 5 == 0   ? i >> column % 32
                                               : column % 7 == 0 ? random()
                                                                 : column));
  content.resize(bytes);
  return content;
}

TEST(ZstdEncoder, Records) {
  for (const std::size_t width : {2, 3, 17, 40, 1000})
    for (const int level : kDistinctZstdLevels)
      expect_part_restores({bytes_of_records(100'000, width, 1), 0}, level, std::to_string(width));
}

TEST(ZstdEncoder, MatchesReachIntoTheHistory) {
  for (const FinderCase& finder_case : finder_cases(5000))
    for (const int level : kDistinctZstdLevels)
      expect_part_restores(finder_case.input(), level, finder_case.name);
  // The window of far; what lies between is one byte, so that a near match hides none.
  for (const std::size_t distance : {kFarWindowBytes, kFarWindowBytes + 8}) {
    const Bytes again = random_bytes(200, 5);
    const Bytes data = again + equal_bytes(distance - 200) + again;
    const FinderInput input{data, distance};
    EXPECT_EQ(zstd_part_of(input, 3, zstd_data_room(200)).size() < 40, distance <= kFarWindowBytes)
        << distance;
    expect_part_restores(input, 3, std::to_string(distance));
  }
  // The greatest distance of the near finder, and one byte more.
  for (const std::size_t distance : {65534, 65535, 65536}) {
    const Bytes again = random_bytes(200, 5);
    const Bytes data = again + equal_bytes(distance - 200) + again;
    const FinderInput input{data, distance};
    EXPECT_EQ(zstd_part_of(input, 1, zstd_data_room(200)).size() < 30, distance <= kZstdNearWindowBytes)
        << distance;
    expect_part_restores(input, 1, std::to_string(distance));
  }
}

TEST(ZstdEncoder, WritesNothingOutsideOfItsRoom) {
  for (const Bytes& content :
       {wordy_bytes(3000, 1), random_bytes(3000, 1), mixed_bytes(200'000, 2), random_bytes(200'000)}) {
    const FinderInput input{content, 0};
    const Bytes part = zstd_part_of(input, 1, zstd_data_room(content.size()));
    EXPECT_EQ(zstd_part_of(input, 1, part.size()), part);
    for (const std::size_t missing : {std::size_t{1}, part.size() / 2, part.size()})
      zstd_part_of(input, 1, part.size() - missing, Status::kOutputTooSmall);
  }
  EXPECT_TRUE(zstd_part_of({}, 1, 0).empty());
  // What cannot shrink takes three bytes more for each block.
  EXPECT_EQ(zstd_part_of({random_bytes(200'000), 0}, 1, zstd_data_room(200'000)).size(), 200'000u + 4 * 3);
}

CompressOptions reference_writing(int level = 3, std::size_t part_bytes = 1 << 20) {
  CompressOptions options;
  options.format = Format::kZstd;
  options.backend = "reference";
  options.level = level;
  options.block_bytes = part_bytes;
  return options;
}

TEST_WITH_THREADS(ZstdEncoder, FramesAreReadByAll) {
  const Bytes large = mixed_bytes(2'300'000, 4);
  for (const std::size_t bytes : {0, 1, 100, 1000, 65'537, 2'300'000}) {
    SCOPED_TRACE(bytes);
    const Bytes content(large.begin(), large.begin() + static_cast<std::ptrdiff_t>(bytes));
    const Bytes frame = compress(content, reference_writing());
    CompressOptions verified = reference_writing();
    verified.verify = true;
    verified.threads = 1;
    EXPECT_TRUE(compress(content, verified) == frame);
    const ZstdRead read = read_by_libzstd(frame, {}, 5000);
    ASSERT_EQ(read.outcome, ZstdOutcome::kWhole) << read.why;
    EXPECT_TRUE(read.content == content);
    Bytes once(content.size() + 1);
    EXPECT_EQ(ZSTD_decompress(once.data(), once.size(), frame.data(), frame.size()), content.size());
    for (const char* backend : {"cpu", "reference"}) {
      RestoreOptions options;
      options.backend = backend;
      options.threads = 2;
      EXPECT_TRUE(restore(frame, options) == content);
    }
  }
}

// Repeats from parts before, over the whole window and not beyond it; the header must say so.
TEST(ZstdEncoder, MatchesReachOverParts) {
  const Bytes noise = random_bytes(50'000, 3), between = equal_bytes(4 << 20);
  for (const std::size_t gap : {std::size_t{1} << 20, std::size_t{5} << 20}) {
    Bytes content = noise;
    while (content.size() < gap) content = content + between;
    content.resize(gap);
    content = content + noise;
    for (const bool stream : {false, true}) {
      Bytes frame;
      if (stream) {
        Compressor compressor(reference_writing(), [&](std::span<const std::byte> piece) {
          frame.insert(frame.end(), piece.begin(), piece.end());
        });
        compressor.write(content);
        compressor.finish();
      } else {
        frame = compress(content, reference_writing());
      }
      EXPECT_LT(frame.size(), 60'000u);
      const auto header = read_zstd_header(std::span(frame).subspan(4, zstd_header_rest_bytes(frame[4])));
      EXPECT_LE(header->window_bytes, kFarWindowBytes);
      const ZstdRead read = read_by_libzstd(frame, {}, 100'000);
      ASSERT_EQ(read.outcome, ZstdOutcome::kWhole) << read.why;
      EXPECT_TRUE(read.content == content);
      if (!stream) {
        EXPECT_TRUE(read_by_reference(frame).content == content);
      }
    }
  }
}

TEST(ZstdEncoder, AllLevelsAreThere) {
  const Bytes content = wordy_bytes(5000);
  const auto written = [&](int level) { return compress(content, reference_writing(level)); };
  for (int level = -7; level <= 22; ++level)
    if (level != 0) {
      EXPECT_TRUE(read_by_libzstd(written(level)).content == content) << level;
      EXPECT_EQ(written(-7), written(1));
    }
  EXPECT_EQ(written(22), written(19));
  CompressOptions reproducible = reference_writing(3);
  reproducible.backend = "reproducible";
  EXPECT_EQ(compress(content, reproducible), written(3));
}

TEST(ZstdEncoder, DictionariesAndSeekableFiles) {
  const Bytes content = wordy_bytes(300'000, 9);
  for (const Bytes& dictionary : {trained_dictionary(), wordy_bytes(5000, 9)})
    for (const std::size_t bytes : {0, 50, 3000, 300'000}) {
      CompressOptions options = reference_writing();
      options.dictionary = dictionary;
      const Bytes part(content.begin(), content.begin() + static_cast<std::ptrdiff_t>(bytes));
      for (const std::size_t seekable : {0, 65536}) {
        options.seekable_bytes = seekable;
        options.block_bytes = seekable == 0 ? 1 << 20 : seekable;
        const Bytes frame = compress(part, options);
        RestoreOptions restoring;
        restoring.dictionary = dictionary;
        EXPECT_TRUE(restore(frame, restoring) == part);
        if (seekable == 0) {
          EXPECT_TRUE(read_by_libzstd(frame, dictionary).content == part);
        }
      }
    }
  // Matches reach into it.
  const Bytes noise = random_bytes(5000);
  CompressOptions options = reference_writing();
  options.dictionary = noise;
  EXPECT_LT(compress(std::span(noise).subspan(1000, 3000), options).size(), 50u);
}

// A chunk is such a frame, but for its checksum, and for the empty block that ends it.
TEST(ZstdEncoder, ChunksAreFramesOfSeekableFiles) {
  CompressOptions options;
  options.format = Format::kZstd;
  options.backend = "reference";
  options.seekable_bytes = options.block_bytes = std::size_t{1} << 20;
  for (const std::size_t size : {0, 1, 65'536, 200'000})
    for (const int level : {-3, 1, 3, 22}) {
      if (level == 22 && size > 1) continue;  // takes long
      const Bytes content = mixed_bytes(size, 3);
      options.level = level;
      const Bytes file = compress(content, options);
      Bytes chunk(zstd_chunk_bound(size));
      const EncodedBlock written = compress_zstd_chunk_reference(content, zstd_level(level), chunk);
      ASSERT_EQ(written.status, Status::kOk);
      chunk.resize(written.bytes);
      EXPECT_TRUE(read_by_libzstd(chunk).content == content) << size << " bytes, level " << level;
      Bytes restored(size);
      EXPECT_EQ(restore_zstd_chunk_reference(chunk, restored).output_bytes, size);
      EXPECT_EQ(
          compress_zstd_chunk_reference(content, zstd_level(level), std::span(chunk).first(written.bytes - 1))
              .status,
          Status::kOutputTooSmall);

      chunk[4] |= std::byte{4};
      if (size != 0) {
        unmark_last_zstd_block(std::span(chunk).subspan(kZstdChunkHeaderBytes));
        chunk.insert(chunk.end(), kZstdEndOfBlocks.begin(), kZstdEndOfBlocks.end());
      }
      ASSERT_LT(chunk.size(), file.size());
      EXPECT_TRUE(std::ranges::equal(chunk, std::span(file).first(chunk.size())))
          << size << " bytes, level " << level;
    }
}

// As save_frame() writes them.
TEST_WITH_THREADS(ZstdEncoder, ChunksWithASeekTableAreAFile) {
  constexpr std::size_t kChunkBytes = 64 << 10;
  CompressOptions options;
  options.format = Format::kZstd;
  options.seekable_bytes = options.block_bytes = kChunkBytes;
  const auto writer = FormatTable::instance().of(Format::kZstd).make_writer(options);
  for (const std::size_t size : {std::size_t{1}, kChunkBytes, 3 * kChunkBytes + 1}) {
    const Bytes content = mixed_bytes(size, 4);
    Bytes file;
    std::vector<FrameWriter::BlockBytes> blocks;
    for (std::size_t at = 0; at < size; at += kChunkBytes) {
      const auto part = std::span(content).subspan(at, std::min(kChunkBytes, size - at));
      Bytes chunk(zstd_chunk_bound(part.size()));
      chunk.resize(compress_zstd_chunk_reference(part, zstd_level(1), chunk).bytes);
      blocks.push_back({static_cast<std::uint32_t>(chunk.size()), static_cast<std::uint32_t>(part.size())});
      file = file + chunk;
    }
    Bytes table(writer->room().table_bytes_of(blocks.size()));
    table.resize(writer->write_table(blocks, table.data()));
    file = file + table;
    Bytes once(size + 1);
    EXPECT_EQ(ZSTD_decompress(once.data(), once.size(), file.data(), file.size()), size);
    for (const char* backend : {"cpu", "reference"}) {
      RestoreOptions restoring;
      restoring.backend = backend;
      restoring.threads = 2;
      EXPECT_TRUE(restore(file, restoring) == content) << backend << ", " << size << " bytes";
    }
  }
}

TEST(ZstdEncoder, LongWindowsAreRefused) {
  CompressOptions options = reference_writing();
  options.window_log = 24;
  for (const std::size_t seekable : {0, 1 << 20}) {
    options.seekable_bytes = seekable;
    options.block_bytes = seekable == 0 ? 1 << 20 : seekable;
    try {
      compress(wordy_bytes(5000), options);
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kInvalidOption);
      EXPECT_EQ(std::string(error.what()).rfind("window_log: ", 0), 0u) << error.what();
    }
  }
}

}  // namespace
}  // namespace hemstitch::testing
