// Parts of Zstandard's frames that are written on the device must have the twin's bytes, with any level, size, history and room; and whole files.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <zstd.h>

#include "captured_graph.hpp"
#include "cuda_test.hpp"
#include "format/zstd/compress/zstd_compress_cuda.hpp"
#include "format/zstd/compress/zstd_compress_reference.hpp"
#include "format/zstd/zstd_limits.hpp"
#include "hemstitch/hemstitch.hpp"
#include "lz4_batch.hpp"

namespace hemstitch {
namespace {

using namespace testing;

using ZstdCompressCuda = CudaTest;

constexpr int kLevels[] = {1, 3, 5, 10, 16};
constexpr std::size_t kWindow = kFarWindowBytes;

std::vector<Bytes> twins(const std::vector<FinderCase>& cases, int level) {
  std::vector<Bytes> parts(cases.size());
  on_all_cores(cases.size(), [&](std::size_t i) {
    Bytes part(zstd_data_room(cases[i].input().block_bytes()));
    part.resize(compress_zstd_part_reference(cases[i].input(), zstd_level(level), part).bytes);
    parts[i] = part;
  });
  return parts;
}

template <class T>
std::vector<T> downloaded(const cuda::DeviceBuffer<T>& d_array, const cuda::Stream& stream) {
  std::vector<T> values(d_array.count());
  if (!values.empty()) d_array.download(values);
  stream.synchronize();
  return values;
}

// A span for a batch on the device, between guards, with what is written of it.
class SpanRoom {
 public:
  static constexpr std::size_t kGuard = 64;

  SpanRoom(std::size_t bytes, std::size_t parts, std::uint32_t around, const cuda::Stream& stream)
      : stream_(stream),
        bytes_(bytes),
        around_(around),
        d_span_(bytes + 2 * kGuard, stream.get()),
        d_offsets_(parts + 1, stream.get()),
        d_sizes_(parts, stream.get()),
        d_statuses_(parts, stream.get()) {
    cuda::check(cudaMemsetAsync(d_span_.get(), 0xA5, d_span_.bytes(), stream.get()), "cudaMemsetAsync");
  }

  cuda::DeviceSpan span(std::size_t missing = 0) const {
    return {.d_span = d_span_.get() + kGuard - 1,
            .capacity_bytes = bytes_ - missing,
            .lead_bytes = around_,
            .trail_bytes = around_,
            .d_offsets = d_offsets_.get(),
            .d_sizes = d_sizes_.get(),
            .d_statuses = d_statuses_.get()};
  }

  // All of `expected` behind each other, but for the last one where bytes are missing.
  void expect(const std::vector<Bytes>& expected, std::size_t missing, const std::string& what) const {
    Bytes span(d_span_.count(), std::byte{0xA5});
    std::size_t at = kGuard - 1;
    std::vector<hemstitch_status> statuses;
    std::vector<std::uint32_t> sizes;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const bool fits = missing == 0 || i + 1 != expected.size();
      statuses.push_back(fits ? HEMSTITCH_OK : HEMSTITCH_OUTPUT_TOO_SMALL);
      sizes.push_back(static_cast<std::uint32_t>(expected[i].size()));
      if (fits) std::ranges::copy(expected[i], span.begin() + static_cast<std::ptrdiff_t>(at + around_));
      at += expected[i].size() + 2 * around_;
    }
    EXPECT_EQ(downloaded(d_statuses_, stream_), statuses) << what;
    const std::vector<std::uint32_t> got = downloaded(d_sizes_, stream_);
    for (std::size_t i = 0; i < sizes.size(); ++i) ASSERT_EQ(got[i], sizes[i]) << what << ", part " << i;
    EXPECT_EQ(downloaded(d_offsets_, stream_).back(), bytes_) << what;
    ASSERT_EQ(block_difference(what, span, downloaded(d_span_, stream_)), "");
  }

 private:
  const cuda::Stream& stream_;
  std::size_t bytes_;
  std::uint32_t around_;
  cuda::DeviceBuffer<std::byte> d_span_;
  cuda::DeviceBuffer<std::uint64_t> d_offsets_;
  cuda::DeviceBuffer<std::uint32_t> d_sizes_;
  cuda::DeviceBuffer<hemstitch_status> d_statuses_;
};

void expect_twins(const FinderBatch& batch, const std::vector<FinderCase>& cases,
                  std::initializer_list<int> levels, const cuda::Stream& stream, std::uint32_t around = 0) {
  for (const int level : levels) {
    const std::vector<Bytes> expected = twins(cases, level);
    std::size_t bytes = 0;
    for (const Bytes& part : expected) bytes += part.size() + 2 * around;
    const DeviceBlocks& parts = batch.blocks();
    const Scratch scratch(cuda::compress_zstd_span_cuda_scratch_bytes(parts, zstd_level(level)),
                          stream.get());
    for (const std::size_t missing : {0, 1}) {
      if (missing > bytes) continue;
      const SpanRoom room(bytes, cases.size(), around, stream);
      cuda::compress_zstd_span_cuda(parts, zstd_level(level), room.span(missing), scratch.get(),
                                    scratch.bytes(), stream.get());
      ASSERT_NO_FATAL_FAILURE(room.expect(
          expected, missing, fmt::format("level {}, {} around, {} missing", level, around, missing)));
    }
  }
}

void expect_twins(const std::vector<FinderCase>& cases, std::initializer_list<int> levels) {
  const cuda::Stream stream;
  expect_twins(FinderBatch(cases, stream), cases, levels, stream);
}

// Parts of a file as the engine passes them: the history of each is what is before it.
void expect_twins(const Bytes& file, std::size_t part_bytes, std::initializer_list<int> levels,
                  std::uint32_t around = 0) {
  const cuda::Stream stream;
  const std::vector<FinderCase> cases = row_cases(file, part_bytes, kWindow);
  expect_twins(FinderBatch(file, cases, stream), cases, levels, stream, around);
}

TEST_F(ZstdCompressCuda, EqualsItsTwinOnSmallParts) {
  std::vector<FinderCase> cases;
  for (Shape& shape : boundary_shapes(4097))
    cases.push_back({std::move(shape.name), std::move(shape.bytes), 0});
  for (const FinderCase& one : small_cases()) cases.push_back(one);
  expect_twins(cases, {1, 3, 5});
  expect_twins({cases.begin(), cases.begin() + 100}, {10, 16});
}

TEST_F(ZstdCompressCuda, EqualsItsTwinAroundTheSizeOfABlock) {
  std::vector<FinderCase> cases;
  for (const std::size_t history : {0, 1000, 65'535})
    for (const std::size_t size : {32'767, 32'769, 65'535, 65'536, 65'537, 131'072, 200'000})
      for (Shape& shape : shapes_of(size + history))
        cases.push_back({std::move(shape.name), std::move(shape.bytes), history});
  for (const FinderCase& one : few_values_cases()) cases.push_back(one);
  expect_twins(cases, {1, 3, 5});
  expect_twins({cases.begin(), cases.begin() + 40}, {10, 16});
}

// Matches of a piece end with it, and later ones find what it has.
TEST_F(ZstdCompressCuda, EqualsItsTwinAroundTheSizeOfAPiece) {
  std::vector<FinderCase> cases;
  for (const std::size_t size : {(1u << 20) - 1, 1u << 20, (1u << 20) + 1, 3'000'000u}) {
    cases.push_back({"zeros", Bytes(size), 0});
    cases.push_back({"period 31", periodic_bytes(size, 31), 0});
    cases.push_back({"period 70,000", periodic_bytes(size, 70'000), 0});
    cases.push_back({"random", random_bytes(size), 0});
    cases.push_back({"few values", random_bytes(size, 3, 4), 0});
    cases.push_back({"mixed", mixed_bytes(size), 0});
    cases.push_back({"mixed", mixed_bytes(size + 900'001), 900'001});
  }
  expect_twins(cases, {1, 3, 5, 10});
  expect_twins({cases.begin(), cases.begin() + 14}, {16});
}

TEST_F(ZstdCompressCuda, SpansHoldTheTwinsPartsOneBehindTheOther) {
  expect_twins(mixed_bytes(5'000'000, 7), 1 << 20, {1, 3, 5}, 18);
  expect_twins(wordy_bytes(2'600'000, 7), 700'001, {1, 3, 10}, 1);
}

// Histories that are longer than the window of far.
TEST_F(ZstdCompressCuda, EqualsItsTwinBehindLongHistories) {
  const Bytes words = wordy_bytes(500'000, 3);
  Bytes file = words + random_bytes(kWindow - 700'000, 4) + words + random_bytes(kWindow / 2, 5) + words;
  expect_twins(file, 4 << 20, {3, 5});
}

TEST_F(ZstdCompressCuda, EqualsItsTwinOnRealFiles) {
  if (!corpora()) GTEST_SKIP() << "HEMSTITCH_CORPORA is not set";
  expect_twins(file_cases(1 << 20, 65'535, 2), {1, 3, 5, 10, 16});
  for (const char* const name : {"dickens", "nci", "samba", "x-ray"})
    expect_twins(read_file(*corpora() / "silesia" / name, 12 << 20), 4 << 20, {3, 5});
}

TEST_F(ZstdCompressCuda, MayBeCapturedInAGraph) {
  const cuda::Stream stream;
  std::vector<FinderCase> cases;
  for (Shape& shape : shapes_of(100'000)) cases.push_back({shape.name, shape.bytes, 0});
  const FinderBatch batch(cases, stream);
  for (const int level : {1, 5}) {
    const std::vector<Bytes> expected = twins(cases, level);
    std::size_t bytes = 0;
    for (const Bytes& part : expected) bytes += part.size();
    const SpanRoom room(bytes, cases.size(), 0, stream);
    const Scratch scratch(cuda::compress_zstd_span_cuda_scratch_bytes(batch.blocks(), zstd_level(level)),
                          stream.get());
    stream.synchronize();
    const CapturedGraph graph(stream.get(), [&] {
      cuda::compress_zstd_span_cuda(batch.blocks(), zstd_level(level), room.span(), scratch.get(),
                                    scratch.bytes(), stream.get());
    });
    graph.launch(2);
    room.expect(expected, 0, fmt::format("captured, level {}", level));
  }
}

TEST_F(ZstdCompressCuda, TooLittleScratchIsRefused) {
  const DeviceBlocks parts{.block_count = 1, .max_block_bytes = 1 << 20, .total_block_bytes = 1 << 20};
  for (const int level : kLevels) {
    const std::size_t bytes = cuda::compress_zstd_span_cuda_scratch_bytes(parts, zstd_level(level));
    EXPECT_THROW(cuda::compress_zstd_span_cuda(parts, zstd_level(level), {}, nullptr, bytes - 1, nullptr),
                 Error);
  }
}

// ---- Files ----

class ZstdFilesCuda : public EngineTest {};

TEST_F(ZstdFilesCuda, AreThoseOfTheReferenceAndLibzstdReadsThem) {
  const Bytes dictionary = wordy_bytes(20'000, 9);
  for (const std::size_t size : {0, 1, 65'536, 65'537, 1 << 20, 9'500'000}) {
    const Bytes text = mixed_bytes(size, 8);
    for (const int level : {-7, 1, 3, 5, 10, 19}) {
      if (size > 1 << 20 && level > 3) continue;  // the reference is slow
      for (const bool with_dictionary : {false, true})
        for (const std::size_t seekable : {0, 1 << 18}) {
          CompressOptions options;
          options.format = Format::kZstd;
          options.level = level;
          options.verify = level == 3;
          if (seekable != 0) options.seekable_bytes = options.block_bytes = seekable;
          if (with_dictionary) options.dictionary = dictionary;
          options.backend = "cuda";
          const Bytes ours = compress(text, options);
          options.backend = "reference";
          const std::string what = fmt::format("{} bytes, level {}, dictionary {}, seekable {}", size, level,
                                               with_dictionary, seekable);
          ASSERT_EQ(block_difference(what, compress(text, options), ours), "");
          if (with_dictionary || seekable != 0) continue;
          Bytes back(size + 1);
          ASSERT_EQ(ZSTD_decompress(back.data(), back.size(), ours.data(), ours.size()), size) << what;
          back.resize(size);
          ASSERT_TRUE(back == text) << what;
        }
    }
  }
}

// Several batches, each behind what the window reaches of those before.
TEST_F(ZstdFilesCuda, OfManyBatchesAreThoseOfTheReference) {
  const Bytes words = wordy_bytes(3'000'000, 5);
  Bytes text;
  for (std::uint32_t i = 0; i < 6; ++i) text = text + words + random_bytes(700'000, i);
  for (const std::size_t part_bytes : {1 << 20, 4 << 20}) {
    CompressOptions options;
    options.format = Format::kZstd;
    options.level = 3;
    options.block_bytes = part_bytes;
    options.backend = "cuda";
    options.memory_limit_bytes = 200 << 20;
    const Bytes ours = compress(text, options);
    options.backend = "reference";
    ASSERT_EQ(block_difference(fmt::format("parts of {}", part_bytes), compress(text, options), ours), "");
  }
}

}  // namespace
}  // namespace hemstitch
