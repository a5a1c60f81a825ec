// DEFLATE that is written on the device must have the twin's bytes, with any level, size, history and room.
// Also the stages after the parse, one by one; CRC-32 and Adler-32; and whole files of all four formats.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "captured_graph.hpp"
#include "cuda_test.hpp"
#include "format/checksum.hpp"
#include "format/deflate/block/deflate_stored.hpp"
#include "format/deflate/compress/deflate_chunk.hpp"
#include "format/deflate/compress/deflate_compress_cuda.hpp"
#include "format/deflate/compress/deflate_compress_reference.hpp"
#include "format/deflate/compress/deflate_stages_cuda.hpp"
#include "format/deflate/compress/parse/deflate_cost.hpp"
#include "format/deflate/frame/deflate_checksum_cuda.hpp"
#include "hemstitch/hemstitch.hpp"
#include "lz4_batch.hpp"
#include "zlib_oracle.hpp"

namespace hemstitch {
namespace {

using namespace testing;

using DeflateCompressCuda = CudaTest;

constexpr int kLevels[] = {1, 3, 6, 9, 12};
constexpr DeflateEnd kEnds[] = {DeflateEnd::kFlush, DeflateEnd::kFinal};

std::vector<Bytes> twins(const std::vector<FinderCase>& cases, int level, DeflateEnd end) {
  std::vector<Bytes> blocks(cases.size());
  on_all_cores(cases.size(), [&](std::size_t i) {
    Bytes block(deflate_data_room(cases[i].input().block_bytes()));
    const EncodedBlock encoded =
        compress_deflate_block_reference(cases[i].input(), deflate_level(level), end, block);
    block.resize(encoded.bytes);
    blocks[i] = block;
  });
  return blocks;
}

cuda::DeviceDeflateOutput output_of(const OutputRooms& rooms) {
  const cuda::DeviceLz4Output output = rooms.output();
  return {output.d_outputs, output.d_capacities, output.d_output_bytes, output.d_statuses};
}

void expect_blocks(const std::vector<FinderCase>& cases, const std::vector<Bytes>& expected,
                   const std::vector<std::size_t>& capacities, const OutputRooms::Result& got,
                   const std::string& what) {
  EXPECT_EQ(got.guards, "") << what;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const bool fits = capacities[i] >= expected[i].size();
    const std::string name =
        fmt::format("{}: block {} ({}, history {}, {} bytes{})", what, i, cases[i].name,
                    cases[i].history_bytes, cases[i].input().block_bytes(), fits ? "" : ", a byte short");
    ASSERT_EQ(got.statuses[i], fits ? HEMSTITCH_OK : HEMSTITCH_OUTPUT_TOO_SMALL) << name;
    ASSERT_EQ(block_difference(name, fits ? expected[i] : Bytes{}, got.blocks[i]), "");
  }
}

// Compresses into rooms of exactly the twin's sizes; then again, with every third room a byte short.
void expect_twins(const std::vector<FinderCase>& cases, std::initializer_list<int> levels) {
  const cuda::Stream stream;
  const FinderBatch batch(cases, stream);
  for (const int level : levels)
    for (const DeflateEnd end : kEnds) {
      const std::vector<Bytes> expected = twins(cases, level, end);
      std::vector<std::size_t> capacities;
      for (const Bytes& block : expected) capacities.push_back(block.size());
      for (const bool some_short : {false, true}) {
        if (some_short)
          for (std::size_t i = 0; i < capacities.size(); i += 3) --capacities[i];
        const OutputRooms rooms(capacities, stream.get());
        const DeflateLevel parameters = deflate_level(level);
        const Scratch scratch(cuda::compress_deflate_cuda_scratch_bytes(batch.blocks(), parameters),
                              stream.get());
        cuda::compress_deflate_cuda(batch.blocks(), parameters, end, output_of(rooms), scratch.get(),
                                    scratch.bytes(), stream.get());
        ASSERT_NO_FATAL_FAILURE(expect_blocks(
            cases, expected, capacities, rooms.result(),
            fmt::format("level {}, {}", level, end == DeflateEnd::kFinal ? "final" : "flushed")));
      }
    }
}

std::vector<FinderCase> cases_of(const std::vector<Shape>& shapes) {
  std::vector<FinderCase> cases;
  for (const Shape& shape : shapes) cases.push_back({shape.name, shape.bytes, 0});
  return cases;
}

// ---- Stages, from the twin's sequences ----

// A chunk of the twin.
struct TwinChunk {
  DeflateChunk chunk;
  std::vector<Sequence> sequences;
};

std::vector<Sequence> sequences_of(std::span<const DeflateToken> tokens) {
  std::vector<Sequence> sequences(1);
  for (const DeflateToken& token : tokens) {
    Sequence& last = sequences.back();
    if (token.match_length == 0) {
      ++last.literal_count;
      continue;
    }
    last.match_length = token.match_length;
    last.offset = token.value;
    sequences.emplace_back();
  }
  return sequences;
}

TwinChunk twin_chunk(const FinderCase& one, std::size_t begin, const DeflateLevel& level) {
  const FinderInput input = one.input();
  const MatchRecords records = find_hash_chain(input, level.finder);
  const NearOffsets near = find_near_three(input, level.near);
  const auto content = input.data.subspan(input.history_bytes);
  const std::size_t bytes = std::min(kDeflateChunkBytes, content.size() - begin);
  TwinChunk twin{make_deflate_chunk(content.subspan(begin, bytes), std::span(records).subspan(begin, bytes),
                                    std::span(near).subspan(begin, bytes), level),
                 {}};
  twin.sequences = sequences_of(twin.chunk.tokens);
  return twin;
}

template <class T>
std::vector<T> downloaded(const cuda::DeviceBuffer<T>& d_array, const cuda::Stream& stream) {
  std::vector<T> values(d_array.count());
  if (!values.empty()) d_array.download(values);
  stream.synchronize();
  return values;
}

std::vector<std::uint8_t> lengths_of(std::span<const std::uint32_t> codes) {
  std::vector<std::uint8_t> lengths;
  for (const std::uint32_t code : codes) lengths.push_back(static_cast<std::uint8_t>(code >> 16 & 0xFF));
  return lengths;
}

// The parts of every chunk, field by field, and the prices for a next pass.
void expect_twins_parts(const std::vector<FinderCase>& cases, int level_number) {
  const DeflateLevel level = deflate_level(level_number);
  const cuda::Stream stream;
  const FinderBatch batch(cases, stream);
  const DeviceBlocks& blocks = batch.blocks();
  const DeflateChunkPlaces places =
      *deflate_chunk_places(blocks.block_count, blocks.max_block_bytes, blocks.total_block_bytes);
  const std::size_t count = places.count, per_chunk = level.splits ? kDeflateChunkUnits : 1;

  cuda::DeviceBuffer<DeviceBlock> d_chunks(count, stream.get());
  cuda::DeviceBuffer<DeflateChunkOf> d_of(count, stream.get());
  cuda::DeviceChunks chunks;
  chunks.places = places;
  chunks.d_of = d_of.get();
  chunks.blocks = {d_chunks.get(), places.count, static_cast<std::uint32_t>(kDeflateChunkBytes),
                   kDeflateWindowBytes, blocks.total_block_bytes};
  cuda::cut_deflate_chunks_cuda(blocks, chunks, d_chunks.get(), d_of.get(), stream.get());

  std::vector<TwinChunk> expected(count);
  std::vector<Sequence> sequences(cuda::device_sequence_capacity(chunks.blocks, deflate_block_plan()));
  std::vector<std::uint32_t> counts(count, 0);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::size_t bytes = cases[i].input().block_bytes();
    for (std::size_t begin = 0; begin < bytes; begin += kDeflateChunkBytes) {
      const std::uint64_t position = batch.position(i);
      const auto place = places.first(position, static_cast<std::uint32_t>(i)) +
                         static_cast<std::uint32_t>(begin / kDeflateChunkBytes);
      expected[place] = twin_chunk(cases[i], begin, level);
      counts[place] = static_cast<std::uint32_t>(expected[place].sequences.size());
      std::ranges::copy(expected[place].sequences,
                        sequences.begin() + static_cast<std::ptrdiff_t>(first_sequence(
                                                position + begin, place, deflate_block_plan())));
    }
  }
  cuda::DeviceBuffer<Sequence> d_sequences(sequences.size(), stream.get());
  cuda::DeviceBuffer<std::uint32_t> d_sequence_counts(count, stream.get());
  d_sequences.upload(sequences);
  d_sequence_counts.upload(counts);

  cuda::DeviceBuffer<cuda::DeflateSymbolCounts> d_counts(count * per_chunk, stream.get());
  cuda::DeviceBuffer<cuda::DeflateUnitBegin> d_unit_begins(count * cuda::kDeflateUnitBegins, stream.get());
  cuda::DeviceBuffer<DeflateDeviceToken> d_tokens(blocks.total_block_bytes, stream.get());
  cuda::DeviceBuffer<std::uint32_t> d_span_bits(count * cuda::kDeflateSpanTable, stream.get());
  cuda::DeviceBuffer<cuda::DeflatePart> d_parts(count * per_chunk, stream.get());
  cuda::DeviceBuffer<std::uint32_t> d_part_counts(count, stream.get());
  cuda::DeviceBuffer<DeflateDeviceCosts> d_costs(count * per_chunk, stream.get());
  const cuda::DeviceTokens tokens{d_counts.get(), d_unit_begins.get(), d_tokens.get()};
  const cuda::DeviceParts parts{d_parts.get(), d_part_counts.get()};
  cuda::count_deflate_tokens_cuda(chunks, {d_sequences.get(), d_sequence_counts.get(), nullptr}, level.splits,
                                  tokens, stream.get());
  for (DeflateDeviceCosts* const costs : {d_costs.get(), static_cast<DeflateDeviceCosts*>(nullptr)})
    cuda::code_deflate_chunks_cuda(chunks, level.splits, tokens, d_span_bits.get(), parts, costs,
                                   stream.get());

  const auto got_counts = downloaded(d_part_counts, stream);
  const auto got_parts = downloaded(d_parts, stream);
  const auto got_costs = downloaded(d_costs, stream);
  const auto got_of = downloaded(d_of, stream);
  for (std::size_t place = 0; place < count; ++place) {
    const DeflateChunk& twin = expected[place].chunk;
    const std::string what = fmt::format("level {}, chunk {}, of block {} from {}", level_number, place,
                                         got_of[place].block, got_of[place].begin);
    ASSERT_EQ(got_counts[place], twin.parts.size()) << what;
    for (std::size_t p = 0; p < twin.parts.size(); ++p) {
      const DeflateChunkPart& part = twin.parts[p];
      const cuda::DeflatePart& got = got_parts[place * per_chunk + p];
      const std::string which = fmt::format("{}, part {}", what, p);
      EXPECT_EQ(got.token_begin, part.token_begin) << which;
      EXPECT_EQ(got.token_end, part.token_end) << which;
      EXPECT_EQ(got.content_begin, part.content_begin) << which;
      EXPECT_EQ(got.content_end, part.content_end) << which;
      ASSERT_EQ(got.type, static_cast<std::uint32_t>(part.block.type)) << which;
      EXPECT_EQ(got.bits, part.block.bits) << which;
      if (part.block.type == DeflateBlockType::kDynamic) {
        EXPECT_EQ(got.head_bits, kDeflateBlockHeadBits + part.block.header.bits) << which;
      }
      if (part.block.type != DeflateBlockType::kStored) {
        const std::vector<std::uint8_t> lengths = lengths_of(got.codes);
        const std::span<const std::uint8_t> all(lengths);
        EXPECT_TRUE(std::ranges::equal(all.first(kDeflateFixedLitlenCount), part.block.lengths.litlen))
            << which;
        EXPECT_TRUE(std::ranges::equal(all.subspan(kDeflateFixedLitlenCount), part.block.lengths.distance))
            << which;
      }
    }
    for (std::size_t unit = 0; unit < per_chunk && !twin.parts.empty(); ++unit) {
      std::size_t p = twin.parts.size() - 1;
      while (p > 0 && twin.parts[p].content_begin >= (unit + 1) * kDeflateSplitUnitBytes) --p;
      const DeflateCosts prices = deflate_costs_of(twin.parts[p].block.lengths);
      const DeflateDeviceCosts& got = got_costs[place * per_chunk + unit];
      const auto is_bits = [](std::uint8_t bits, std::uint32_t cost) {
        return bits * kCostUnitsPerBit == cost;
      };
      EXPECT_TRUE(std::ranges::equal(got.literals, prices.literals, is_bits)) << what << ", unit " << unit;
      EXPECT_TRUE(
          std::ranges::equal(std::span(got.lengths).first(prices.lengths.size()), prices.lengths, is_bits))
          << what << ", unit " << unit;
      EXPECT_TRUE(std::ranges::equal(got.distances, prices.distances, is_bits)) << what << ", unit " << unit;
    }
  }
}

TEST_F(DeflateCompressCuda, CodesAndPricesAreTheTwinsForItsSequences) {
  std::vector<FinderCase> cases = cases_of(boundary_shapes(4097));
  for (const std::size_t size : {8191, 16384, 20'000, 65280, 65536, 65537, 200'000})
    for (Shape& shape : shapes_of(size)) cases.push_back({std::move(shape.name), std::move(shape.bytes), 0});
  cases.push_back({"mixed", mixed_bytes(1 << 20, 3), 0});
  for (const int level : {1, 12}) ASSERT_NO_FATAL_FAILURE(expect_twins_parts(cases, level));
}

// ---- The whole encoder ----

TEST_F(DeflateCompressCuda, EqualsItsTwinOnSmallBlocks) {
  std::vector<FinderCase> cases = cases_of(boundary_shapes(4097));
  for (const FinderCase& one : small_cases()) cases.push_back(one);
  for (const std::size_t size : {0, 1, 2, 3}) cases.push_back({"few bytes", random_bytes(size), 0});
  expect_twins(cases, {1, 3, 6, 9, 12});
}

TEST_F(DeflateCompressCuda, EqualsItsTwinAroundTheSizeOfAChunk) {
  std::vector<FinderCase> cases;
  for (const std::size_t history : {0, 1000, 32768})
    for (const std::size_t size : {65279, 65280, 65535, 65536, 65537, 131'072, 200'000})
      for (Shape& shape : shapes_of(size + history))
        cases.push_back({std::move(shape.name), std::move(shape.bytes), history});
  expect_twins(cases, {1, 6});
  expect_twins({cases.begin(), cases.begin() + 40}, {9, 12});
}

TEST_F(DeflateCompressCuda, EqualsItsTwinOnLargeBlocks) {
  std::vector<FinderCase> cases;
  for (const std::size_t size : {(1u << 20) - 1, 1u << 20}) {
    cases.push_back({"zeros", Bytes(size), 0});
    cases.push_back({"period 2", periodic_bytes(size, 2), 0});
    cases.push_back({"period 31", periodic_bytes(size, 31), 0});
    cases.push_back({"random", random_bytes(size), 0});
    cases.push_back({"mixed", mixed_bytes(size), 0});
    cases.push_back({"runs", runs_bytes(size, 3), 0});
    cases.push_back({"random, then zeros", random_bytes(100'000) + Bytes(size - 100'000), 0});
    cases.push_back(
        {"long literals", random_bytes(70'000, 3, 90) + equal_bytes(300) + random_bytes(40'000, 5), 0});
  }
  expect_twins(cases, {1, 3, 6, 9, 12});
}

TEST_F(DeflateCompressCuda, EqualsItsTwinOnRealFiles) {
  if (!corpora()) GTEST_SKIP() << "HEMSTITCH_CORPORA is not set";
  expect_twins(file_cases(1 << 20, 32768, 2), {1, 6, 9, 12});
  expect_twins(file_cases(65280, 0, 16), {6});
}

// The blocks of a file, as the engine passes them: the history of each is the end of the one before.
TEST_F(DeflateCompressCuda, SpansHoldTheTwinsBlocksOneBehindTheOther) {
  const cuda::Stream stream;
  const Bytes file = mixed_bytes(5'000'000, 7);
  const std::vector<FinderCase> cases = row_cases(file, 1 << 20, 32768);
  const FinderBatch batch(file, cases, stream);
  for (const int level : kLevels)
    for (const std::uint32_t around : {0u, 1u, 18u}) {
      const std::vector<Bytes> expected = twins(cases, level, DeflateEnd::kFlush);
      std::size_t bytes = 0;
      for (const Bytes& block : expected) bytes += block.size() + 2 * around;
      for (const std::size_t missing : {0, 1}) {
        constexpr std::size_t kGuard = 64;
        cuda::DeviceBuffer<std::byte> d_span(bytes + 2 * kGuard, stream.get());
        cuda::DeviceBuffer<std::uint64_t> d_offsets(cases.size() + 1, stream.get());
        cuda::DeviceBuffer<std::uint32_t> d_sizes(cases.size(), stream.get());
        cuda::DeviceBuffer<hemstitch_status> d_statuses(cases.size(), stream.get());
        cuda::check(cudaMemsetAsync(d_span.get(), 0xA5, d_span.bytes(), stream.get()), "cudaMemsetAsync");
        const DeviceBlocks& blocks = batch.blocks();
        const Scratch scratch(cuda::compress_deflate_span_cuda_scratch_bytes(blocks, deflate_level(level)),
                              stream.get());
        cuda::compress_deflate_span_cuda(blocks, deflate_level(level), DeflateEnd::kFlush,
                                         {.d_span = d_span.get() + kGuard + 1,
                                          .capacity_bytes = bytes - missing,
                                          .lead_bytes = around,
                                          .trail_bytes = around,
                                          .d_offsets = d_offsets.get(),
                                          .d_sizes = d_sizes.get(),
                                          .d_statuses = d_statuses.get()},
                                         scratch.get(), scratch.bytes(), stream.get());
        Bytes span(d_span.count(), std::byte{0xA5});
        std::size_t at = kGuard + 1;
        std::vector<hemstitch_status> statuses;
        for (const Bytes& block : expected) {
          const bool fits = missing == 0 || &block != &expected.back();
          statuses.push_back(fits ? HEMSTITCH_OK : HEMSTITCH_OUTPUT_TOO_SMALL);
          if (fits) std::ranges::copy(block, span.begin() + static_cast<std::ptrdiff_t>(at + around));
          at += block.size() + 2 * around;
        }
        const std::string what = fmt::format("level {}, {} around, {} missing", level, around, missing);
        EXPECT_EQ(downloaded(d_statuses, stream), statuses) << what;
        EXPECT_EQ(downloaded(d_offsets, stream).back(), bytes) << what;
        EXPECT_EQ(block_difference(what, span, downloaded(d_span, stream)), "");
      }
    }
}

TEST_F(DeflateCompressCuda, MayBeCapturedInAGraph) {
  const cuda::Stream stream;
  const std::vector<FinderCase> cases = cases_of(shapes_of(100'000));
  const FinderBatch batch(cases, stream);
  const std::vector<Bytes> expected = twins(cases, 12, DeflateEnd::kFinal);
  std::vector<std::size_t> capacities;
  for (const Bytes& block : expected) capacities.push_back(block.size());
  const OutputRooms rooms(capacities, stream.get());
  const Scratch scratch(cuda::compress_deflate_cuda_scratch_bytes(batch.blocks(), deflate_level(12)),
                        stream.get());
  stream.synchronize();
  const CapturedGraph graph(stream.get(), [&] {
    cuda::compress_deflate_cuda(batch.blocks(), deflate_level(12), DeflateEnd::kFinal, output_of(rooms),
                                scratch.get(), scratch.bytes(), stream.get());
  });
  graph.launch(2);
  expect_blocks(cases, expected, capacities, rooms.result(), "captured");
}

TEST_F(DeflateCompressCuda, LargerBlocksAndTooLittleScratchAreRefused) {
  const DeviceBlocks too_large{.block_count = 1, .max_block_bytes = (1 << 20) + 1};
  EXPECT_THROW(cuda::compress_deflate_cuda_scratch_bytes(too_large, deflate_level(1)), Error);
  const DeviceBlocks blocks{.block_count = 1, .max_block_bytes = 1 << 20, .total_block_bytes = 1 << 20};
  const std::size_t bytes = cuda::compress_deflate_cuda_scratch_bytes(blocks, deflate_level(1));
  EXPECT_THROW(cuda::compress_deflate_cuda(blocks, deflate_level(1), DeflateEnd::kFinal, {}, nullptr,
                                           bytes - 1, nullptr),
               Error);
}

// ---- Checksums ----

TEST_F(DeflateCompressCuda, ChecksumsAreThoseOfTheHost) {
  const cuda::Stream stream;
  std::vector<Bytes> contents;
  for (std::size_t size = 0; size < 700; ++size)
    contents.push_back(random_bytes(size, static_cast<std::uint32_t>(size)));
  contents.push_back(mixed_bytes(1'000'003));
  contents.push_back(Bytes(5'000'001, std::byte{255}));
  contents.push_back(Bytes(300'000));
  Bytes all;
  std::vector<std::size_t> begins, sizes;
  for (const Bytes& content : contents) {
    all.resize(all.size() + begins.size() % 7);
    begins.push_back(all.size());
    sizes.push_back(content.size());
    all.insert(all.end(), content.begin(), content.end());
  }
  cuda::DeviceBuffer<std::byte> d_all(all.size(), stream.get());
  d_all.upload(all);
  std::vector<const std::byte*> spans;
  for (const std::size_t begin : begins) spans.push_back(d_all.get() + begin);
  cuda::DeviceBuffer<const std::byte*> d_spans(spans.size(), stream.get());
  cuda::DeviceBuffer<std::size_t> d_sizes(sizes.size(), stream.get());
  d_spans.upload(spans);
  d_sizes.upload(sizes);
  cuda::DeviceBuffer<std::uint32_t> d_checksums(spans.size(), stream.get());
  for (const Checksum kind : {Checksum::kCrc32, Checksum::kAdler32}) {
    (kind == Checksum::kCrc32 ? cuda::crc32_spans_cuda : cuda::adler32_spans_cuda)(
        d_spans.get(), d_sizes.get(), spans.size(), d_checksums.get(), stream.get());
    const std::vector<std::uint32_t> got = downloaded(d_checksums, stream);
    for (std::size_t i = 0; i < contents.size(); ++i)
      ASSERT_EQ(got[i], checksum_of(kind, contents[i]))
          << (kind == Checksum::kCrc32 ? "CRC-32" : "Adler-32") << " of " << sizes[i] << " bytes";
  }
}

// ---- Files ----

class DeflateFilesCuda : public EngineTest {};

TEST_F(DeflateFilesCuda, AreThoseOfTheReferenceAndOthersReadThem) {
  const Bytes dictionary = wordy_bytes(20'000, 9);
  for (const std::size_t size : {0, 1, 65280, 65281, 1 << 20, 3'500'000}) {
    const Bytes text = mixed_bytes(size, 8);
    for (const Format format : {Format::kGzip, Format::kBgzf, Format::kZlib, Format::kDeflate})
      for (const int level : {1, 6, 9}) {
        if (size > 1 << 20 && level == 9) continue;  // the reference is slow
        CompressOptions options;
        options.format = format;
        options.level = level;
        if (format == Format::kZlib && level == 6) options.dictionary = dictionary;
        options.backend = "reference";
        const Bytes expected = compress(text, options);
        options.backend = "cuda";
        const Bytes got = compress(text, options);
        const std::string what =
            fmt::format("format {}, level {}, {} bytes", static_cast<int>(format), level, size);
        ASSERT_EQ(block_difference(what, expected, got), "");
        if (format == Format::kBgzf) {
          RestoreOptions by_cpu;
          by_cpu.backend = "cpu";
          EXPECT_TRUE(restore(got, by_cpu) == text) << what;
          continue;
        }
        const ZlibKind kind = format == Format::kGzip   ? ZlibKind::kGzip
                              : format == Format::kZlib ? ZlibKind::kZlib
                                                        : ZlibKind::kDeflate;
        const auto restored = inflated_by_zlib(got, kind, options.dictionary);
        EXPECT_TRUE(restored && *restored == text) << what;
      }
  }
}

// The processor restores one long stream, with any backend.
TEST_F(DeflateFilesCuda, StreamsAreRestoredThough) {
  const Bytes text = wordy_bytes(3'000'000);
  CompressOptions options;
  options.format = Format::kGzip;
  options.backend = "cuda";
  const Bytes packed = compress(text, options);
  RestoreOptions by_device;
  by_device.format = Format::kGzip;
  by_device.backend = "cuda";
  EXPECT_TRUE(restore(packed, by_device) == text);
}

}  // namespace
}  // namespace hemstitch
