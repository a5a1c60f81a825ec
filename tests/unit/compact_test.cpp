// scan, gather and scatter on the CPU, compared with serial sums and copies; and the words in which devices
// copy.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "compact/gather/gather.hpp"
#include "compact/pieces/piece_words.hpp"
#include "compact/scan/scan.hpp"
#include "compact/scan/scan_in_parts.hpp"
#include "compact/scatter/scatter.hpp"
#include "compact/shuffle/shuffle.hpp"
#include "core/status.hpp"
#include "threads.hpp"

namespace hemstitch {
namespace {

std::vector<std::uint32_t> random_sizes(std::size_t count, std::uint32_t seed, std::uint32_t below) {
  std::mt19937 random(seed);
  std::vector<std::uint32_t> sizes(count);
  for (std::uint32_t& size : sizes) size = static_cast<std::uint32_t>(random() % below);
  return sizes;
}

Status status_of(const auto& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.status();
  }
  return Status::kOk;
}

TEST_WITH_THREADS(Scan, AddsUpAnyNumberOfSizes) {
  constexpr std::size_t kMost = (1 << 17) + 1;
  const std::vector<std::uint32_t> sizes =
      random_sizes(kMost, 1, 0xFFFFFFFFu);  // the total is far above 32 bits
  std::vector<std::uint64_t> expected(kMost + 1, 0);
  for (std::size_t i = 0; i < kMost; ++i) expected[i + 1] = expected[i] + sizes[i];

  std::vector<std::size_t> counts;
  for (std::size_t count = 0; count <= 5000; ++count) counts.push_back(count);
  for (std::size_t power = 8192; power < kMost; power *= 2)
    counts.insert(counts.end(), {power - 1, power, power + 1});
  for (const std::size_t count : counts) {
    std::vector<std::uint64_t> offsets(count + 1, 0xA5);
    ASSERT_EQ(scan_sizes(std::span(sizes).first(count), offsets), expected[count]);
    ASSERT_TRUE(std::equal(offsets.begin(), offsets.end(), expected.begin())) << count << " sizes";
    if (count % 1000 > 1 && count < 8000) continue;
    std::fill(offsets.begin(), offsets.end(), 0xA5);
    ASSERT_EQ(scan_in_parts(std::span(sizes).first(count), offsets), expected[count]);
    ASSERT_TRUE(std::equal(offsets.begin(), offsets.end(), expected.begin())) << count << " sizes, in parts";
  }
}

TEST(Scan, NeedsOneOffsetMoreThanSizes) {
  const std::vector<std::uint32_t> sizes(5, 1);
  std::vector<std::uint64_t> offsets(5);
  EXPECT_EQ(status_of([&] { scan_sizes(sizes, offsets); }), Status::kInvalidOption);
}

// Gathers pieces of `sizes`, `gap` bytes apart in the output, and compares the whole output.
void expect_gathered(const std::vector<std::uint32_t>& sizes, std::size_t source_step, std::size_t gap) {
  std::size_t source_bytes = 0, output_bytes = gap;
  std::vector<std::size_t> begins;
  std::vector<std::uint64_t> offsets;
  for (const std::uint32_t size : sizes) {
    source_bytes += source_step;
    begins.push_back(source_bytes);
    source_bytes += size;
    offsets.push_back(output_bytes);
    output_bytes += size + gap;
  }
  std::mt19937 random(static_cast<std::uint32_t>(source_bytes));
  std::vector<std::byte> source(source_bytes), expected(output_bytes, std::byte{0xA5}), output = expected;
  for (std::byte& byte : source) byte = static_cast<std::byte>(random() % 0xA5);
  std::vector<const std::byte*> sources;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    sources.push_back(source.data() + begins[i]);
    if (sizes[i] != 0) std::memcpy(expected.data() + offsets[i], sources[i], sizes[i]);
  }
  gather_pieces(sources, sizes, offsets, output);
  ASSERT_TRUE(output == expected) << sizes.size() << " pieces, " << gap << " bytes apart";
}

TEST(Gather, CopiesAnyNumberOfPieces) {
  for (const std::size_t count : {0u, 1u, 2u, 3u, 33u, 1000u, 20'000u})
    for (const std::size_t gap : {0u, 1u, 7u}) expect_gathered(random_sizes(count, 2, 300), 3, gap);
}

TEST_WITH_THREADS(Gather, CopiesPiecesThatManyThreadsShare) {
  std::vector<std::uint32_t> sizes = random_sizes(300, 3, 1000);
  sizes[100] = 3'000'001;
  sizes[101] = 0;
  expect_gathered(sizes, 1, 0);
  expect_gathered(sizes, 1, 5);
}

TEST(Gather, RefusesWhatDoesNotFit) {
  const std::vector<std::byte> source(100);
  const std::vector<const std::byte*> sources = {source.data(), source.data()};
  const std::vector<std::uint32_t> sizes = {40, 60};
  std::vector<std::byte> output(100, std::byte{0xA5});
  const auto gather = [&](std::vector<std::uint64_t> offsets, std::size_t output_bytes) {
    return status_of([&] { gather_pieces(sources, sizes, offsets, std::span(output).first(output_bytes)); });
  };
  EXPECT_EQ(gather({0, 40}, 100), Status::kOk);
  EXPECT_EQ(gather({0, 41}, 100), Status::kOutputTooSmall);
  EXPECT_EQ(gather({0, 40}, 99), Status::kOutputTooSmall);
  EXPECT_EQ(gather({0, 0xFFFFFFFFFFFFFFFFu}, 100), Status::kOutputTooSmall);
  EXPECT_EQ(gather({0}, 100), Status::kInvalidOption);
  EXPECT_EQ(gather({40, 0}, 100), Status::kInvalidOption);
}

TEST_WITH_THREADS(Scatter, GivesBackWhatGatherBroughtTogether) {
  for (const std::size_t count : {0u, 1u, 2u, 33u, 5000u}) {
    std::vector<std::uint32_t> sizes = random_sizes(count, 5, 700);
    if (count > 10) sizes[7] = 2'000'003;
    std::vector<std::uint64_t> offsets(count + 1);
    std::vector<std::byte> span(scan_sizes(sizes, offsets));
    std::mt19937 random(6);
    for (std::byte& byte : span) byte = static_cast<std::byte>(random() % 0xA5);
    // A guard byte around every target.
    std::vector<std::byte> memory(span.size() + count + 1, std::byte{0xA5}), expected = memory;
    std::vector<std::byte*> targets;
    for (std::size_t i = 0; i < count; ++i) {
      targets.push_back(memory.data() + offsets[i] + i + 1);
      std::copy_n(span.begin() + static_cast<std::ptrdiff_t>(offsets[i]), sizes[i],
                  expected.begin() + static_cast<std::ptrdiff_t>(offsets[i] + i + 1));
    }
    offsets.pop_back();
    scatter_pieces(span, offsets, sizes, targets);
    ASSERT_TRUE(memory == expected) << count << " pieces";
    std::vector<std::byte> again(span.size());
    gather_pieces(std::vector<const std::byte*>(targets.begin(), targets.end()), sizes, offsets, again);
    ASSERT_TRUE(again == span) << count << " pieces";
  }
}

TEST(Scatter, RefusesWhatIsNotInTheInput) {
  std::vector<std::byte> target(100);
  const std::vector<std::byte*> targets = {target.data(), target.data() + 40};
  const std::vector<std::uint32_t> sizes = {40, 60};
  const std::vector<std::byte> input(100);
  const auto scatter = [&](std::vector<std::uint64_t> offsets, std::size_t input_bytes) {
    return status_of([&] { scatter_pieces(std::span(input).first(input_bytes), offsets, sizes, targets); });
  };
  EXPECT_EQ(scatter({0, 40}, 100), Status::kOk);
  EXPECT_EQ(scatter({0, 40}, 99), Status::kOutputTooSmall);
  EXPECT_EQ(scatter({0, 41}, 100), Status::kOutputTooSmall);
  EXPECT_EQ(scatter({40, 0}, 100), Status::kInvalidOption);
  EXPECT_EQ(scatter({0}, 100), Status::kInvalidOption);
}

// The three tests of founding document 002 (docs/founding.md), with sums beyond 32 bits.
TEST_WITH_THREADS(Compaction, DoesWhatItsDocumentTests) {
  const std::vector<std::uint32_t> five = {100, 200, 150, 300, 50};
  std::vector<std::uint64_t> offsets(6);
  EXPECT_EQ(scan_sizes(five, offsets), 800u);
  EXPECT_EQ(offsets, (std::vector<std::uint64_t>{0, 100, 300, 450, 750, 800}));

  std::vector<std::uint32_t> many(10'000);
  std::vector<std::uint64_t> many_offsets(10'001), expected(10'001, 0);
  for (std::uint32_t i = 0; i < 10'000; ++i) {
    many[i] = i % 1000 + 100;
    expected[i + 1] = expected[i] + many[i];
  }
  scan_sizes(many, many_offsets);
  EXPECT_EQ(many_offsets, expected);

  std::vector<std::vector<std::byte>> files;
  std::vector<const std::byte*> sources;
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    files.emplace_back(100 + i, static_cast<std::byte>(i));
    sources.push_back(files.back().data());
    sizes.push_back(100 + i);
  }
  offsets.resize(1001);
  std::vector<std::byte> span(scan_sizes(sizes, offsets));
  gather_pieces(sources, sizes, std::span(offsets).first(1000), span);
  for (std::size_t i = 0; i < 1000; ++i)
    ASSERT_TRUE(
        std::equal(files[i].begin(), files[i].end(), span.begin() + static_cast<std::ptrdiff_t>(offsets[i])))
        << "file " << i;
}

// Every way to cut a piece of every small size, from every alignment to every other. The source ends where
// its memory ends, so AddressSanitizer sees any access beyond it.
TEST(PieceWords, CopyBetweenAllAlignments) {
  std::mt19937 random(7);
  std::size_t inner_words = 0;
  for (std::uint32_t bytes : {1u, 2u, 3u, 4u, 5u, 15u, 16u, 17u, 31u, 33u, 48u, 70u, 150u})
    for (unsigned from = 0; from < 16; ++from)
      for (unsigned to = 0; to < 16; ++to) {
        std::vector<std::byte> source(from + bytes);
        for (std::byte& byte : source) byte = static_cast<std::byte>(random() % 0xA5);
        std::vector<std::byte> target(to + bytes + 33, std::byte{0xA5}), expected = target;
        std::copy_n(source.begin() + from, bytes, expected.begin() + 16 + to);
        const std::uint32_t cut = static_cast<std::uint32_t>(random()) % (bytes + 1);
        for (const auto& [begin, end] : {std::pair{0u, cut}, std::pair{cut, bytes}}) {
          const PiecePart part{source.data() + from, target.data() + 16 + to, begin, end};
          if (begin == end) continue;
          const std::uint32_t first = static_cast<std::uint32_t>(random()) % 2000;
          const PiecePlan plan = plan_piece(part, first);
          for (std::uint32_t word = first; word < first + word_count(part); ++word) {
            const SourceEnds ends = source_ends(plan, word);
            const MaskedWord made = load_word(plan, ends, word, word == first);
            if (is_inner_word(ends)) {
              const PieceWord inner = load_inner_word(plan, word);
              ASSERT_TRUE(std::equal(inner.part, inner.part + 4, made.bytes.part));
              ASSERT_EQ(made.mask, kWholeWordMask);
              ++inner_words;
            }
            for (unsigned i = 0; i < 16; ++i)
              if ((made.mask >> i & 1) == 0) {
                ASSERT_EQ(made.bytes.part[i / 4] >> (8 * (i % 4)) & 0xFF, 0u);
              }
            store_word(reinterpret_cast<std::byte*>(plan.target + word * kPieceWordBytes), made);
          }
        }
        ASSERT_TRUE(target == expected)
            << bytes << " bytes from " << from << " to " << to << ", cut at " << cut;
      }
  EXPECT_GT(inner_words, 1000u);
}

TEST(PieceWords, SharesHaveEveryByteOnce) {
  for (const std::uint64_t at : {0u, 5u, 100u})
    for (const std::uint32_t bytes : {0u, 1u, 7u, 64u, 1000u})
      for (const std::uint64_t share : {1u, 3u, 64u, 5000u}) {
        std::uint32_t expected_begin = 0;
        for (std::uint64_t begin = 0; begin < 2000; begin += share) {
          const ByteInterval part = part_in_share(at, bytes, begin, begin + share);
          if (part.begin == part.end) continue;
          ASSERT_EQ(part.begin, expected_begin);
          ASSERT_TRUE(at + part.begin >= begin && at + part.end <= begin + share);
          expected_begin = part.end;
        }
        ASSERT_EQ(expected_begin, bytes);
      }
}

TEST(Shuffle, PutsTheBytesOfElementsInPlanes) {
  const auto bytes_of = [](std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  };
  std::vector<std::byte> result(11);
  shuffle_bytes(bytes_of("abcdefghijk"), 4, result);
  EXPECT_EQ(result, bytes_of("aebfcgdhijk"));
  unshuffle_bytes(bytes_of("aebfcgdhijk"), 4, result);
  EXPECT_EQ(result, bytes_of("abcdefghijk"));
}

// In numpy: source[:n * S].reshape(n, S).T.tobytes() + source[n * S:]
TEST(Shuffle, IsATransposedTable) {
  std::mt19937 random(4);
  for (std::uint32_t element_bytes = 1; element_bytes <= kMostElementBytes;
       element_bytes += element_bytes / 9 + 1)
    for (const std::size_t bytes :
         {std::size_t{0}, std::size_t{1}, std::size_t{element_bytes} - 1, std::size_t{element_bytes},
          std::size_t{element_bytes} + 1, std::size_t{5003}}) {
      std::vector<std::byte> source(bytes), expected(bytes), result(bytes);
      for (std::byte& byte : source) byte = static_cast<std::byte>(random());
      expected = source;
      const std::size_t elements = bytes / element_bytes;
      for (std::size_t i = 0; i < elements * element_bytes; ++i)
        expected[i % element_bytes * elements + i / element_bytes] = source[i];
      shuffle_bytes(source, element_bytes, result);
      ASSERT_EQ(result, expected) << bytes << " bytes, elements of " << element_bytes;
      unshuffle_bytes(expected, element_bytes, result);
      ASSERT_EQ(result, source) << bytes << " bytes, elements of " << element_bytes;
    }
}

TEST(Shuffle, RefusesOtherSizes) {
  std::vector<std::byte> bytes(8), other(9);
  EXPECT_EQ(status_of([&] { shuffle_bytes(bytes, 4, other); }), Status::kInvalidOption);
  EXPECT_EQ(status_of([&] { unshuffle_bytes(bytes, 4, other); }), Status::kInvalidOption);
  EXPECT_EQ(status_of([&] { shuffle_bytes(bytes, 0, bytes); }), Status::kInvalidOption);
  EXPECT_EQ(status_of([&] { unshuffle_bytes(bytes, 257, bytes); }), Status::kInvalidOption);
}

template <class Number>
void expect_differences() {
  std::mt19937_64 random(5);
  for (const std::size_t bytes : {0, 1, 7, 8, 9, 64, 5003}) {
    std::vector<std::byte> source(bytes), result(bytes), back(bytes);
    for (std::byte& byte : source) byte = static_cast<std::byte>(random());
    delta_bytes(source, sizeof(Number), result);
    undelta_bytes(result, sizeof(Number), back);
    ASSERT_EQ(back, source) << bytes << " bytes, elements of " << sizeof(Number);
    Number before = 0;
    std::size_t at = 0;
    for (; at + sizeof(Number) <= bytes; at += sizeof(Number)) {
      Number number, difference;
      std::memcpy(&number, &source[at], sizeof number);
      std::memcpy(&difference, &result[at], sizeof difference);
      ASSERT_EQ(difference, static_cast<Number>(number - before));
      before = number;
    }
    for (; at < bytes; ++at) ASSERT_EQ(result[at], source[at]);
  }
}

TEST(Delta, MakesDifferencesAndSumsThem) {
  expect_differences<std::uint8_t>();
  expect_differences<std::uint16_t>();
  expect_differences<std::uint32_t>();
  expect_differences<std::uint64_t>();
}

TEST(Delta, RefusesOtherSizes) {
  std::vector<std::byte> bytes(8), other(9), same(8);
  for (const auto call : {delta_bytes, undelta_bytes}) {
    EXPECT_EQ(status_of([&] { call(bytes, 4, other); }), Status::kInvalidOption);
    EXPECT_EQ(status_of([&] { call(bytes, 4, bytes); }), Status::kInvalidOption);
    for (const std::uint32_t element_bytes : {0U, 3U, 16U})
      EXPECT_EQ(status_of([&] { call(bytes, element_bytes, same); }), Status::kInvalidOption);
  }
}

}  // namespace
}  // namespace hemstitch
