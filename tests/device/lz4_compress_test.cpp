// LZ4 blocks that are written on the device must have the twin's bytes, with any level, size, history and
// room.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <lz4.h>
#include <xxhash.h>

#include "captured_graph.hpp"
#include "core/status.hpp"
#include "cuda_test.hpp"
#include "format/lz4/compress/lz4_compress_cuda.hpp"
#include "format/lz4/frame/lz4_checksum_cuda.hpp"
#include "format/lz4/pages/lz4_pages_cuda.hpp"
#include "lz4_batch.hpp"

namespace hemstitch {
namespace {

using namespace testing;

using Lz4CompressCuda = CudaTest;

constexpr int kLevels[] = {1, 3, 6, 9, 12};

struct Run {
  const std::vector<FinderCase>& cases;
  const FinderBatch& batch;
  Lz4Level level;
  std::string what;
};

OutputRooms::Result compress(const Run& run, const std::vector<std::size_t>& capacities,
                             const cuda::Stream& stream) {
  const OutputRooms rooms(capacities, stream.get());
  const Scratch scratch(cuda::compress_lz4_cuda_scratch_bytes(run.batch.blocks(), run.level), stream.get());
  cuda::compress_lz4_cuda(run.batch.blocks(), run.level, rooms.output(), scratch.get(), scratch.bytes(),
                          stream.get());
  return rooms.result();
}

// Compresses into rooms of exactly the twin's sizes; then again, with every third room a byte short.
void expect_twins(const Run& run, const cuda::Stream& stream) {
  const std::vector<Bytes> expected = twins_blocks(run.cases, run.level);
  std::vector<std::size_t> capacities;
  for (const Bytes& block : expected) capacities.push_back(block.size());
  for (const bool some_short : {false, true}) {
    if (some_short)
      for (std::size_t i = 0; i < capacities.size(); i += 3) --capacities[i];
    const OutputRooms::Result got = compress(run, capacities, stream);
    EXPECT_EQ(got.guards, "") << run.what;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const bool fits = capacities[i] == expected[i].size();
      const std::string name = fmt::format("{}: block {} ({}, history {}, {} bytes{})", run.what, i,
                                           run.cases[i].name, run.cases[i].history_bytes,
                                           run.cases[i].input().block_bytes(), fits ? "" : ", a byte short");
      ASSERT_EQ(got.statuses[i], fits ? HEMSTITCH_OK : HEMSTITCH_OUTPUT_TOO_SMALL) << name;
      ASSERT_EQ(block_difference(name, fits ? expected[i] : Bytes{}, got.blocks[i]), "");
    }
  }
}

void expect_twins(const std::vector<FinderCase>& cases, const FinderBatch& batch, std::size_t block_bytes,
                  std::initializer_list<int> levels, const cuda::Stream& stream) {
  std::size_t history_bytes = 0;
  for (const FinderCase& one : cases) history_bytes = std::max(history_bytes, one.history_bytes);
  for (const int level : levels)
    expect_twins({cases, batch, lz4_level(level, block_bytes, history_bytes),
                  fmt::format("level {} at {}", level, block_bytes)},
                 stream);
}

void expect_twins(const std::vector<FinderCase>& cases, std::size_t block_bytes,
                  std::initializer_list<int> levels) {
  const cuda::Stream stream;
  expect_twins(cases, FinderBatch(cases, stream), block_bytes, levels, stream);
}

std::vector<FinderCase> without_history(const std::vector<Shape>& shapes) {
  std::vector<FinderCase> cases;
  for (const Shape& shape : shapes) cases.push_back({shape.name, shape.bytes, 0});
  return cases;
}

TEST_F(Lz4CompressCuda, EqualsItsTwinOnPages) {
  std::vector<FinderCase> cases = without_history(boundary_shapes(4096));
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    cases.push_back({fmt::format("mixed {}", seed), wordy_bytes(1 + seed * 7919 % 4096, seed), 0});
    cases.push_back(
        {fmt::format("few letters {}", seed), random_bytes(seed * 6007 % 4097, seed, 2 + seed % 7), 0});
    cases.push_back({fmt::format("runs {}", seed), runs_bytes(4096 - seed % 40, seed), 0});
    cases.push_back({fmt::format("period {}", seed), periodic_bytes(4096, 1 + seed * 11), 0});
  }
  expect_twins(cases, 4096, {1, 3, 12});
}

TEST_F(Lz4CompressCuda, EqualsItsTwinOnSmallBlocksWithAndWithoutHistory) {
  expect_twins(small_cases(), 65536, {1, 3, 6, 9, 12});
}

TEST_F(Lz4CompressCuda, EqualsItsTwinOnLargeBlocks) {
  std::vector<FinderCase> cases;
  for (const std::size_t history : {0, 65536})
    for (const std::size_t size : {65535, 65536, 65537, 200'000})
      for (Shape& shape : shapes_of(size + history))
        cases.push_back({std::move(shape.name), std::move(shape.bytes), history});
  expect_twins(cases, 65536, {1, 9});
  expect_twins(cases, 262'144, {3});
}

// Matches of more than 65535 bytes are joined from several records, and runs of literals cross many tiles.
TEST_F(Lz4CompressCuda, EqualsItsTwinOnBlocksOfMegabytes) {
  std::vector<FinderCase> cases;
  for (const std::size_t size : {1'048'576, 4'194'304, 4'194'303}) {
    cases.push_back({"zeros", Bytes(size), 0});
    cases.push_back({"period 31", periodic_bytes(size, 31), 0});
    cases.push_back({"random", random_bytes(size), 0});
    cases.push_back({"mixed", mixed_bytes(size), 0});
    cases.push_back({"random, then zeros", random_bytes(100'000) + Bytes(size - 100'000), 0});
    cases.push_back({"zeros, then random", Bytes(size - 100'000) + random_bytes(100'000), 0});
  }
  expect_twins(cases, 4'194'304, {1, 6});
}

// Level 1 divides blocks into tiles of 64 KB, and segments of a tenth of that. Sizes are around the
// boundaries; matches cross them, end at them, or are longer than a record can express while another
// candidate hides them.
TEST_F(Lz4CompressCuda, TilesAreJoinedAsTheTwinHasThem) {
  std::vector<FinderCase> cases;
  std::uint32_t seed = 0;
  for (const std::size_t tiles : {1, 2, 3, 7})
    for (const int beyond : {-13, -5, -1, 0, 1, 4, 12, 13, 6591, 6592, 6593, 59328, 59341}) {
      const std::size_t size = tiles * 65536 + beyond;
      ++seed;
      cases.push_back({fmt::format("wordy {}", size), wordy_bytes(size, seed), 0});
      cases.push_back({fmt::format("few letters {}", size), random_bytes(size, seed, 2 + seed % 3), 0});
      cases.push_back({fmt::format("runs {}", size), runs_bytes(size, seed), 0});
      cases.push_back({fmt::format("period {}", size), periodic_bytes(size, 1 + seed * 1009 % 65535), 0});
    }
  for (const std::size_t lead : {0, 1, 500, 65535, 65536, 65537, 70'000})
    for (const std::size_t run : {65'530, 65'539, 65'540, 65'541, 131'074, 200'000}) {
      const Bytes start = random_bytes(lead, static_cast<std::uint32_t>(lead + run));
      cases.push_back({fmt::format("{} and a run of {}", lead, run), start + Bytes(run) + start, 0});
      // A period with a letter changed in the first of three repeats: the match that it hides continues after
      // it.
      Bytes hidden = random_bytes(30'000, 7, 3);
      const Bytes repeat = hidden;
      for (int i = 0; i < 5; ++i) hidden = hidden + repeat;
      hidden[45'000] = std::byte{'x'};
      hidden.resize(hidden.size() - lead % 1000);
      cases.push_back({fmt::format("{} and hidden repeats", lead), start + hidden, 0});
    }
  expect_twins(cases, 262'144, {1});
  // Blocks with more tiles than most others.
  cases = without_history(boundary_shapes(70'000));
  cases.push_back({"large", mixed_bytes(3'000'000, 3), 0});
  expect_twins(cases, 4'194'304, {1});
  for (std::uint32_t i = 0; i < 3000; ++i) cases.push_back({"small", wordy_bytes(i % 700, i), 0});
  expect_twins(cases, 4'194'304, {1});
}

TEST_F(Lz4CompressCuda, EqualsItsTwinOnFiles) {
  if (!corpora()) GTEST_SKIP() << "skipped: HEMSTITCH_CORPORA is not set";
  expect_twins(file_cases(4096, 0, 250), 4096, {1, 3, 12});
  expect_twins(file_cases(65536, 0, 12), 65536, {1, 3, 6, 9, 12});
  expect_twins(file_cases(262'144, 0, 3), 262'144, {1, 6});
  expect_twins(file_cases(1'048'576, 0, 4), 1'048'576, {1});
}

// The blocks of a file, each with the end of the one before as its history: linked blocks.
TEST_F(Lz4CompressCuda, EqualsItsTwinOnLinkedBlocks) {
  const cuda::Stream stream;
  const Bytes file = mixed_bytes(1'500'000, 5);
  for (const std::size_t block_bytes : {4096, 65536, 262'144}) {
    const std::vector<FinderCase> cases = row_cases(file, block_bytes, 65536);
    expect_twins(cases, FinderBatch(file, cases, stream), block_bytes, {1, 9}, stream);
  }
}

TEST_F(Lz4CompressCuda, LiblzRestoresWhatItWrites) {
  const cuda::Stream stream;
  std::vector<FinderCase> cases = without_history(shapes_of(65536));
  for (FinderCase& one : without_history(shapes_of(4096))) cases.push_back(std::move(one));
  const FinderBatch batch(cases, stream);
  std::vector<std::size_t> capacities;
  for (const FinderCase& one : cases) capacities.push_back(cuda::max_lz4_block_bytes(one.data.size()));
  for (const int level : kLevels) {
    const OutputRooms::Result got = compress({cases, batch, lz4_level(level, 65536), ""}, capacities, stream);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      Bytes restored(cases[i].data.size());
      ASSERT_EQ(
          LZ4_decompress_safe(reinterpret_cast<const char*>(got.blocks[i].data()),
                              reinterpret_cast<char*>(restored.data()),
                              static_cast<int>(got.blocks[i].size()), static_cast<int>(restored.size())),
          static_cast<int>(restored.size()))
          << cases[i].name << ", level " << level;
      ASSERT_EQ(restored, cases[i].data) << cases[i].name << ", level " << level;
    }
  }
}

TEST_F(Lz4CompressCuda, TakesEmptyBatchesAndEmptyBlocks) {
  expect_twins({}, 65536, {1, 3});
  expect_twins({{"empty", {}, 0}}, 65536, {1, 3});
  expect_twins({{"empty", {}, 0}, {"empty behind history", random_bytes(100), 100}, {"empty", {}, 0}}, 4096,
               {1, 3});
}

TEST_F(Lz4CompressCuda, TakesAMillionBlocks) {
  std::vector<FinderCase> cases;
  const Bytes words = wordy_bytes(1 << 20, 4);
  for (std::size_t i = 0; i < 1 << 20; ++i) {
    const std::size_t begin = i * 31 % (words.size() - 64), size = i % 48;
    cases.push_back({"piece",
                     Bytes(words.begin() + static_cast<std::ptrdiff_t>(begin),
                           words.begin() + static_cast<std::ptrdiff_t>(begin + size)),
                     0});
  }
  expect_twins(cases, 4096, {1});
}

// ---- One span ----

struct SpanRun {
  std::vector<std::uint64_t> offsets;
  std::vector<std::uint32_t> sizes;
  std::vector<hemstitch_status> statuses;
  Bytes bytes;
};

constexpr std::uint32_t kLeadBytes = 4, kTrailBytes = 5;
constexpr std::size_t kSpanBegin = 3;  // not aligned

SpanRun compress_to_span(const FinderBatch& batch, const Lz4Level& level, std::uint64_t capacity,
                         const cuda::Stream& stream) {
  const std::size_t count = batch.blocks().block_count;
  cuda::DeviceBuffer<std::byte> d_span(kSpanBegin + capacity + 16, stream.get());
  cuda::check(cudaMemsetAsync(d_span.get(), 0xA5, d_span.bytes(), stream.get()), "cudaMemsetAsync");
  cuda::DeviceBuffer<std::uint64_t> d_offsets(count + 1, stream.get());
  cuda::DeviceBuffer<std::uint32_t> d_sizes(count, stream.get());
  cuda::DeviceBuffer<hemstitch_status> d_statuses(count, stream.get());
  const Scratch scratch(cuda::compress_lz4_span_cuda_scratch_bytes(batch.blocks(), level), stream.get());
  cuda::compress_lz4_span_cuda(batch.blocks(), level,
                               {d_span.get() + kSpanBegin, capacity, kLeadBytes, kTrailBytes, d_offsets.get(),
                                d_sizes.get(), d_statuses.get()},
                               scratch.get(), scratch.bytes(), stream.get());
  SpanRun run{std::vector<std::uint64_t>(count + 1), std::vector<std::uint32_t>(count),
              std::vector<hemstitch_status>(count), Bytes(d_span.count())};
  d_offsets.download(run.offsets);
  d_sizes.download(run.sizes);
  d_statuses.download(run.statuses);
  d_span.download(run.bytes);
  stream.synchronize();
  return run;
}

void expect_twins_in_a_span(const std::vector<FinderCase>& cases, std::size_t block_bytes, int level_number) {
  const cuda::Stream stream;
  const FinderBatch batch(cases, stream);
  const Lz4Level level = lz4_level(level_number, block_bytes);
  const std::vector<Bytes> twins = twins_blocks(cases, level);

  Bytes expected(kSpanBegin, std::byte{0xA5});
  std::vector<std::uint64_t> offsets = {0};
  std::vector<std::uint32_t> sizes;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Bytes block(cases[i].data.begin() + static_cast<std::ptrdiff_t>(cases[i].history_bytes),
                      cases[i].data.end());
    const bool stored = twins[i].size() >= block.size();
    const Bytes& kept = stored ? block : twins[i];
    sizes.push_back(static_cast<std::uint32_t>(kept.size()) | (stored ? cuda::kStoredBit : 0));
    expected.insert(expected.end(), kLeadBytes, std::byte{0xA5});
    expected.insert(expected.end(), kept.begin(), kept.end());
    expected.insert(expected.end(), kTrailBytes, std::byte{0xA5});
    offsets.push_back(expected.size() - kSpanBegin);
  }
  expected.insert(expected.end(), 16, std::byte{0xA5});

  SpanRun got = compress_to_span(batch, level, offsets.back(), stream);
  EXPECT_EQ(got.offsets, offsets);
  EXPECT_EQ(got.sizes, sizes);
  EXPECT_EQ(got.statuses, std::vector<hemstitch_status>(cases.size(), HEMSTITCH_OK));
  EXPECT_EQ(block_difference("the span", expected, got.bytes), "");
  if (cases.empty()) return;

  // With a byte too little, the last block is missing; all others are there, and the sizes are the same.
  got = compress_to_span(batch, level, offsets.back() - 1, stream);
  EXPECT_EQ(got.offsets, offsets);
  EXPECT_EQ(got.sizes, sizes);
  EXPECT_EQ(got.statuses.back(), HEMSTITCH_OUTPUT_TOO_SMALL);
  const std::size_t last_begin = kSpanBegin + offsets[cases.size() - 1];
  std::fill(expected.begin() + static_cast<std::ptrdiff_t>(last_begin), expected.end(), std::byte{0xA5});
  expected.pop_back();
  EXPECT_EQ(block_difference("the span, a byte short", expected, got.bytes), "");
}

TEST_F(Lz4CompressCuda, BringsBlocksTogetherInASpan) {
  expect_twins_in_a_span(small_cases(), 65536, 1);
  std::vector<FinderCase> cases = without_history(boundary_shapes(65537));
  for (const int level : {1, 3}) expect_twins_in_a_span(cases, 65536, level);
  expect_twins_in_a_span(without_history(boundary_shapes(65536)), 65536, 1);
  expect_twins_in_a_span(without_history(boundary_shapes(4096)), 4096, 1);
  expect_twins_in_a_span(without_history({{"random", random_bytes(3'000'000)}, {"zeros", Bytes(300'000)}}),
                         4'194'304, 1);
  expect_twins_in_a_span({}, 65536, 1);
}

// ---- Checksums ----

TEST_F(Lz4CompressCuda, ChecksumsAreXxhashs) {
  const cuda::Stream stream;
  const Bytes bytes = random_bytes(3'000'000, 6);
  cuda::DeviceBuffer<std::byte> d_bytes(bytes.size(), stream.get());
  d_bytes.upload(bytes);
  std::vector<std::size_t> begins, sizes;
  for (std::size_t size = 0; size <= 200; ++size)
    for (std::size_t alignment = 0; alignment < 4; ++alignment) {
      begins.push_back(size * 1001 + alignment);
      sizes.push_back(size);
    }
  for (const std::size_t size : {4095, 4096, 4097, 65536, 262'144, 1'000'001})
    for (std::size_t alignment = 0; alignment < 4; ++alignment) {
      begins.push_back(alignment);
      sizes.push_back(size);
      begins.push_back(bytes.size() - size);  // ends with the allocation
      sizes.push_back(size);
    }
  std::vector<const std::byte*> spans;
  for (const std::size_t begin : begins) spans.push_back(d_bytes.get() + begin);
  cuda::DeviceBuffer<const std::byte*> d_spans(spans.size(), stream.get());
  cuda::DeviceBuffer<std::size_t> d_sizes(sizes.size(), stream.get());
  cuda::DeviceBuffer<std::uint32_t> d_hashes(sizes.size(), stream.get());
  d_spans.upload(spans);
  d_sizes.upload(sizes);
  for (const std::size_t count : {sizes.size(), std::size_t{1}, std::size_t{0}, std::size_t{33}}) {
    cuda::checksum_lz4_cuda(d_spans.get(), d_sizes.get(), count, d_hashes.get(), stream.get());
    std::vector<std::uint32_t> hashes(sizes.size());
    d_hashes.download(hashes);
    stream.synchronize();
    for (std::size_t i = 0; i < count; ++i)
      ASSERT_EQ(hashes[i], XXH32(bytes.data() + begins[i], sizes[i], 0))
          << sizes[i] << " bytes at " << begins[i];
  }
}

// ---- Pages ----

struct KeptPages {
  std::vector<Lz4PageEntry> entries;
  std::vector<Bytes> pages;
};

// Restores `kept` as pages of `sizes` bytes, between guard bytes.
std::vector<hemstitch_status> restore_pages(const KeptPages& kept, const std::vector<std::size_t>& sizes,
                                            std::vector<Bytes>& restored, std::string& guards,
                                            const cuda::Stream& stream) {
  Bytes all;
  std::vector<std::size_t> begins;
  for (const Bytes& page : kept.pages) {
    begins.push_back(all.size());
    all.insert(all.end(), page.begin(), page.end());
  }
  cuda::DeviceBuffer<std::byte> d_all(all.size(), stream.get());
  d_all.upload(all);
  std::vector<const std::byte*> pointers;
  for (const std::size_t begin : begins) pointers.push_back(d_all.get() + begin);
  cuda::DeviceBuffer<const std::byte*> d_kept(pointers.size(), stream.get());
  cuda::DeviceBuffer<Lz4PageEntry> d_entries(pointers.size(), stream.get());
  d_kept.upload(pointers);
  d_entries.upload(kept.entries);
  const OutputRooms rooms(sizes, stream.get());
  const cuda::DeviceLz4Output out = rooms.output();
  const cuda::DeviceLz4PageRestore pages{d_kept.get(),     d_entries.get(), out.d_outputs,
                                         out.d_capacities, out.d_statuses,  sizes.size()};
  const Scratch scratch(cuda::restore_lz4_pages_cuda_scratch_bytes(pages), stream.get());
  cuda::restore_lz4_pages_cuda(pages, scratch.get(), scratch.bytes(), stream.get());
  // The rooms become the result's sizes, so that it has all of each page.
  cuda::check(cudaMemcpyAsync(out.d_output_bytes, out.d_capacities, sizes.size() * sizeof(std::size_t),
                              cudaMemcpyDeviceToDevice, stream.get()),
              "cudaMemcpyAsync");
  const OutputRooms::Result result = rooms.result();
  restored = result.blocks;
  guards = result.guards;
  return result.statuses;
}

TEST_F(Lz4CompressCuda, KeepsPagesAsTheTwinDoesAndRestoresThem) {
  std::vector<FinderCase> cases = without_history(boundary_shapes(4096));
  for (std::size_t size = 0; size < 100; ++size)
    for (const std::size_t period : {1, 3, 8, 9})
      cases.push_back({fmt::format("period {}, {} bytes", period, size), periodic_bytes(size, period), 0});
  for (std::size_t i = 0; i < 400; ++i) {
    // Pages that would be same-filled but for one byte, anywhere.
    cases.push_back({fmt::format("but for byte {}", i), periodic_bytes(4096 - i % 7, 8), 0});
    Bytes& page = cases.back().data;
    page[(i < 64 ? i : i < 128 ? page.size() - 1 - (i - 64) : i * 2477) % page.size()] ^= std::byte{1};
  }
  const cuda::Stream stream;
  const FinderBatch batch(cases, stream);
  std::vector<std::size_t> sizes;
  for (const FinderCase& one : cases) sizes.push_back(one.data.size());
  for (const int level_number : {1, 3, 9}) {
    const Lz4Level level = lz4_level(level_number, kPageBytes);
    const OutputRooms rooms(sizes, stream.get());
    cuda::DeviceBuffer<Lz4PageEntry> d_entries(cases.size(), stream.get());
    const Scratch scratch(cuda::compress_lz4_pages_cuda_scratch_bytes(batch.blocks(), level), stream.get());
    cuda::compress_lz4_pages_cuda(batch.blocks(), level, {rooms.output().d_outputs, d_entries.get()},
                                  scratch.get(), scratch.bytes(), stream.get());
    cuda::check(cudaMemcpyAsync(rooms.output().d_output_bytes, rooms.output().d_capacities,
                                sizes.size() * sizeof(std::size_t), cudaMemcpyDeviceToDevice, stream.get()),
                "cudaMemcpyAsync");
    KeptPages kept{std::vector<Lz4PageEntry>(cases.size()), {}};
    d_entries.download(kept.entries);
    const OutputRooms::Result result = rooms.result();
    ASSERT_EQ(result.guards, "");
    for (std::size_t i = 0; i < cases.size(); ++i) {
      Bytes expected(sizes[i]);
      const Lz4PageEntry entry = compress_lz4_page_reference(cases[i].data, level, expected);
      expected.resize(entry.bytes);
      ASSERT_EQ(kept.entries[i].kind, entry.kind) << cases[i].name << ", level " << level_number;
      ASSERT_EQ(kept.entries[i].bytes, entry.bytes) << cases[i].name << ", level " << level_number;
      Bytes page = result.blocks[i];
      page.resize(entry.bytes);
      ASSERT_EQ(block_difference(cases[i].name, expected, page), "");
      kept.pages.push_back(page);
    }
    std::vector<Bytes> restored;
    std::string guards;
    const std::vector<hemstitch_status> statuses = restore_pages(kept, sizes, restored, guards, stream);
    ASSERT_EQ(guards, "");
    for (std::size_t i = 0; i < cases.size(); ++i) {
      ASSERT_EQ(statuses[i], HEMSTITCH_OK) << cases[i].name << ", level " << level_number;
      ASSERT_EQ(block_difference(cases[i].name, cases[i].data, restored[i]), "");
    }
  }
}

// Every illegal entry must be refused, as by the twin; nothing may be written outside the pages.
TEST_F(Lz4CompressCuda, RefusesHostilePageEntries) {
  const cuda::Stream stream;
  KeptPages kept;
  std::vector<std::size_t> sizes;
  std::mt19937 random(3);
  for (std::size_t i = 0; i < 3000; ++i) {
    const Bytes page = i % 3 == 0   ? periodic_bytes(random() % 4097, 8)
                       : i % 3 == 1 ? wordy_bytes(random() % 4097, static_cast<std::uint32_t>(i))
                                    : random_bytes(random() % 4097, static_cast<std::uint32_t>(i));
    Bytes room(page.size());
    Lz4PageEntry entry = compress_lz4_page_reference(page, lz4_level(1, kPageBytes), room);
    std::size_t page_bytes = page.size();
    switch (random() % 5) {
      case 0:
        entry.kind = static_cast<PageKind>(random() % 6);
        break;
      case 1:
        entry.bytes = static_cast<std::uint32_t>(random() % (room.size() + 1));
        break;
      case 2:
        page_bytes = random() % 4097;
        break;
      case 3:
        if (entry.bytes > 0) room[random() % entry.bytes] ^= static_cast<std::byte>(1 + random() % 255);
        break;
      default:
        break;
    }
    room.resize(entry.bytes);
    kept.pages.push_back(room);
    kept.entries.push_back(entry);
    sizes.push_back(page_bytes);
  }
  std::vector<Bytes> restored;
  std::string guards;
  const std::vector<hemstitch_status> statuses = restore_pages(kept, sizes, restored, guards, stream);
  EXPECT_EQ(guards, "");
  std::size_t refused = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    Bytes expected(sizes[i]);
    const Status status = restore_lz4_page_reference(kept.entries[i], kept.pages[i], expected);
    ASSERT_EQ(statuses[i], static_cast<hemstitch_status>(status)) << "page " << i;
    if (status == Status::kOk) {
      ASSERT_EQ(restored[i], expected) << "page " << i;
    }
    refused += status != Status::kOk;
  }
  EXPECT_GT(refused, 1000u);
}

// ---- Streams, graphs, scratch ----

TEST_F(Lz4CompressCuda, MayBeCapturedAndReplayedWithOtherData) {
  struct Kind {
    int level;
    std::uint32_t blocks, block_bytes;
  };
  for (const auto [level_number, count, block_bytes] :
       {Kind{1, 40, 4096}, Kind{6, 40, 4096}, Kind{1, 4, 65536}}) {
    const Lz4Level level = lz4_level(level_number, block_bytes);
    const cuda::Stream stream;
    cuda::DeviceBuffer<std::byte> d_input(std::size_t{count} * block_bytes, stream.get());
    std::vector<DeviceBlock> blocks;
    for (std::uint32_t i = 0; i < count; ++i)
      blocks.push_back(
          {d_input.get() + std::size_t{i} * block_bytes, block_bytes, 0, std::uint64_t{i} * block_bytes});
    cuda::DeviceBuffer<DeviceBlock> d_blocks(count, stream.get());
    d_blocks.upload(blocks);
    const DeviceBlocks batch{d_blocks.get(), count, block_bytes, 0, std::uint64_t{count} * block_bytes};
    const OutputRooms rooms(std::vector<std::size_t>(count, cuda::max_lz4_block_bytes(block_bytes)),
                            stream.get());
    const Scratch scratch(cuda::compress_lz4_cuda_scratch_bytes(batch, level), stream.get());
    stream.synchronize();

    const CapturedGraph graph(stream.get(), [&] {
      cuda::compress_lz4_cuda(batch, level, rooms.output(), scratch.get(), scratch.bytes(), stream.get());
    });
    for (std::uint32_t round = 0; round < 100; ++round) {
      const Bytes input = round % 3 == 0   ? wordy_bytes(count * block_bytes, round)
                          : round % 3 == 1 ? runs_bytes(count * block_bytes, round)
                                           : random_bytes(count * block_bytes, round, 3);
      d_input.upload(input);
      graph.launch();
      const OutputRooms::Result got = rooms.result();
      ASSERT_EQ(got.guards, "");
      const std::vector<FinderCase> cases = row_cases(input, block_bytes, 0);
      const std::vector<Bytes> expected = twins_blocks(cases, level);
      for (std::uint32_t i = 0; i < count; ++i)
        ASSERT_EQ(
            block_difference(fmt::format("round {}, {}", round, cases[i].name), expected[i], got.blocks[i]),
            "");
    }
  }
}

TEST_F(Lz4CompressCuda, WorksOnTwoStreamsAtOnceAndAlikeEveryTime) {
  for (const std::size_t block_bytes : {4096, 65536}) {
    const std::vector<FinderCase> cases = row_cases(mixed_bytes(3'000'000, 8), block_bytes, 0);
    const Lz4Level level = lz4_level(1, block_bytes);
    const std::vector<Bytes> expected = twins_blocks(cases, level);
    const std::vector<std::size_t> capacities(cases.size(), cuda::max_lz4_block_bytes(block_bytes));
    const cuda::Stream streams[2];
    const FinderBatch batch(cases, streams[0]);
    const std::size_t scratch_bytes = cuda::compress_lz4_cuda_scratch_bytes(batch.blocks(), level);
    const OutputRooms rooms[2] = {{capacities, streams[0].get()}, {capacities, streams[1].get()}};
    const Scratch scratch[2] = {{scratch_bytes, streams[0].get()}, {scratch_bytes, streams[1].get()}};
    for (int round = 0; round < 5; ++round) {
      for (int s = 0; s < 2; ++s)
        cuda::compress_lz4_cuda(batch.blocks(), level, rooms[s].output(), scratch[s].get(), scratch_bytes,
                                streams[s].get());
      for (int s = 0; s < 2; ++s)
        ASSERT_TRUE(rooms[s].result().blocks == expected) << "round " << round << ", stream " << s;
    }
  }
}

// This needs no device.
TEST(Lz4CompressCudaScratch, IsRefusedWhereItIsTooLittle) {
  const DeviceBlocks batch{
      .d_blocks = nullptr, .block_count = 1, .max_block_bytes = 10'000, .total_block_bytes = 10'000};
  std::byte some;
  const Lz4Level level = lz4_level(3, 65536);
  EXPECT_THROW(cuda::compress_lz4_cuda(batch, level, {}, &some,
                                       cuda::compress_lz4_cuda_scratch_bytes(batch, level) - 1, nullptr),
               Error);
}

}  // namespace
}  // namespace hemstitch
