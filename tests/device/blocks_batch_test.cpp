// The batch interface by format on a CUDA device: every format compresses and restores the same blocks. zlib,
// liblz4 and libzstd judge what is written.
#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "batch_pieces.hpp"
#include "format/checksum.hpp"
#include "format/formats.hpp"
#include "zlib_oracle.hpp"

namespace hemstitch {
namespace {

using namespace testing;

constexpr Format kFormats[] = {Format::kLz4,  Format::kGzip,    Format::kBgzf,
                               Format::kZlib, Format::kDeflate, Format::kZstd};
constexpr std::size_t kMostBytes = 65'280;  // a block that every format takes

std::string title_of(Format format) { return std::string(FormatTable::instance().of(format).title()); }

// Nothing if the format's usual reader refuses it.
std::optional<Bytes> restored_by_others(Format format, const Bytes& block) {
  switch (format) {
    case Format::kLz4: {
      Bytes content(kMostBytes);
      const int bytes = LZ4_decompress_safe(reinterpret_cast<const char*>(block.data()),
                                            reinterpret_cast<char*>(content.data()),
                                            static_cast<int>(block.size()), static_cast<int>(content.size()));
      if (bytes < 0) return std::nullopt;
      content.resize(static_cast<std::size_t>(bytes));
      return content;
    }
    case Format::kZstd: {
      Bytes content(kMostBytes);
      const std::size_t bytes = ZSTD_decompress(content.data(), content.size(), block.data(), block.size());
      if (ZSTD_isError(bytes) != 0) return std::nullopt;
      content.resize(bytes);
      return content;
    }
    case Format::kZlib:
      return inflated_by_zlib(block, ZlibKind::kZlib);
    case Format::kDeflate:
      return inflated_by_zlib(block, ZlibKind::kDeflate);
    default:
      return inflated_by_zlib(block, ZlibKind::kGzip);
  }
}

std::vector<Bytes> some_contents() {
  std::vector<Bytes> contents;
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{4096}, kMostBytes})
    for (Shape& shape : shapes_of(size)) contents.push_back(std::move(shape.bytes));
  return contents;
}

struct Written {
  std::vector<Bytes> blocks;
  std::vector<hemstitch_status> statuses;
};

class BlocksBatchDeviceTest : public BatchDeviceTest {
 protected:
  Written compress(Format format, const batch::Blocks& blocks, int level, bool as_graph) const {
    const std::size_t count = blocks.blocks.size();
    const Pieces output(
        std::vector<std::size_t>(count, batch::blocks_compress_bound(format, blocks.max_block_bytes)),
        stream());
    const Results results(count, stream());
    const TempMemory temp(batch::blocks_compress_temp_bytes(format, blocks, level), stream());
    run(as_graph, [&] {
      batch::blocks_compress(format, blocks, level,
                             {.outputs = output.rooms(),
                              .output_bytes = writable(results.d_bytes),
                              .statuses = writable(results.d_statuses)},
                             temp.span(), stream());
    });
    Written written{output.now(), download(results.d_statuses, stream())};
    const auto sizes = download(results.d_bytes, stream());
    for (std::size_t i = 0; i < count; ++i) written.blocks[i].resize(sizes[i]);
    return written;
  }

  struct Restored {
    std::vector<Bytes> contents;
    std::vector<std::size_t> sizes;
    std::vector<hemstitch_status> statuses;
  };
  Restored restore(Format format, const std::vector<Bytes>& blocks, const std::vector<std::size_t>& rooms,
                   bool sizes_alone, bool as_graph) const {
    const Pieces input(blocks, stream()), output(rooms, stream());
    batch::Compressed compressed{.blocks = input.addresses(), .block_bytes = input.sizes()};
    for (const Bytes& block : blocks)
      compressed.max_block_bytes = std::max(compressed.max_block_bytes, block.size());
    const std::size_t most = *std::max_element(rooms.begin(), rooms.end());
    const Results results(blocks.size(), stream());
    const TempMemory temp(batch::blocks_restore_temp_bytes(format, compressed, most), stream());
    run(as_graph, [&] {
      batch::blocks_restore(format, compressed,
                            {.outputs = sizes_alone ? std::span<void* const>() : output.rooms(),
                             .capacities = output.sizes(),
                             .output_bytes = writable(results.d_bytes),
                             .statuses = writable(results.d_statuses)},
                            most, {}, temp.span(), stream());
    });
    Restored restored{output.now(), download(results.d_bytes, stream()),
                      download(results.d_statuses, stream())};
    for (std::size_t i = 0; i < blocks.size(); ++i)
      if (!sizes_alone) {
        restored.contents[i].resize(restored.sizes[i]);
      } else {
        EXPECT_EQ(restored.contents[i], Bytes(rooms[i], Pieces::kGuard)) << "nothing may be written";
      }
    return restored;
  }
};

TEST_F(BlocksBatchDeviceTest, WhatIsWrittenIsReadByOthersAndRestoredHere) {
  const std::vector<Bytes> contents = some_contents();
  const Pieces input(contents, stream());
  std::vector<std::size_t> rooms;
  for (const Bytes& content : contents) rooms.push_back(content.size());
  for (const Format format : kFormats)
    for (const int level : {1, 6}) {
      const std::string what = title_of(format) + ", level " + std::to_string(level);
      const Written written = compress(format, blocks_of(input, contents), level, level == 6);
      for (std::size_t i = 0; i < contents.size(); ++i) {
        ASSERT_EQ(written.statuses[i], HEMSTITCH_OK) << what << ", block " << i;
        ASSERT_TRUE(restored_by_others(format, written.blocks[i]) == contents[i]) << what << ", block " << i;
      }
      for (const bool sizes_alone : {false, true}) {
        const Restored restored = restore(format, written.blocks, rooms, sizes_alone, level == 6);
        for (std::size_t i = 0; i < contents.size(); ++i) {
          ASSERT_EQ(restored.statuses[i], HEMSTITCH_OK) << what << ", block " << i;
          ASSERT_EQ(restored.sizes[i], contents[i].size()) << what << ", block " << i;
          if (!sizes_alone) {
            ASSERT_TRUE(restored.contents[i] == contents[i]) << what << ", block " << i;
          }
        }
      }
    }
}

TEST_F(BlocksBatchDeviceTest, WrongBlocksAreToldOfAndOthersAreRestored) {
  const std::vector<Bytes> contents = {wordy_bytes(20'000, 1), wordy_bytes(20'000, 2), wordy_bytes(20'000, 3),
                                       wordy_bytes(20'000, 4)};
  const Pieces input(contents, stream());
  for (const Format format : kFormats) {
    Written written = compress(format, blocks_of(input, contents), 6, false);
    written.blocks[1].pop_back();  // no format ends there
    written.blocks[3].clear();
    const Restored restored = restore(format, written.blocks, {20'000, 20'000, 19'999, 20'000}, false, false);
    EXPECT_EQ(restored.statuses[0], HEMSTITCH_OK) << title_of(format);
    EXPECT_EQ(restored.contents[0], contents[0]) << title_of(format);
    EXPECT_EQ(restored.statuses[2], HEMSTITCH_OUTPUT_TOO_SMALL) << title_of(format);
    for (const std::size_t i : {1, 3}) {
      EXPECT_NE(restored.statuses[i], HEMSTITCH_OK) << title_of(format) << ", block " << i;
      EXPECT_EQ(restored.sizes[i], 0u) << title_of(format) << ", block " << i;
    }
  }
}

TEST_F(BlocksBatchDeviceTest, ABlockThatBreaksABoundIsLeftOutAndToldOf) {
  const std::vector<Bytes> contents = {wordy_bytes(5000, 1), wordy_bytes(9000, 2), wordy_bytes(5000, 3),
                                       wordy_bytes(5000, 4)};
  const Pieces input(contents, stream());
  batch::Blocks blocks = blocks_of(input, contents);
  blocks.max_block_bytes = 5000;      // the second block is larger
  blocks.total_block_bytes = 14'999;  // a byte less than the other three need
  for (const Format format : kFormats) {
    const Written written = compress(format, blocks, 3, false);
    EXPECT_EQ(written.statuses, (std::vector<hemstitch_status>{HEMSTITCH_OK, HEMSTITCH_INVALID_OPTION,
                                                               HEMSTITCH_OK, HEMSTITCH_OUTPUT_TOO_SMALL}))
        << title_of(format);
    for (const std::size_t i : {0, 2})
      EXPECT_EQ(restored_by_others(format, written.blocks[i]), contents[i]) << title_of(format);
    for (const std::size_t i : {1, 3}) EXPECT_TRUE(written.blocks[i].empty()) << title_of(format);
  }
}

TEST_F(BlocksBatchDeviceTest, ZstandardOfOthersIsRestored) {
  const std::vector<Bytes> contents = some_contents();
  std::vector<Bytes> frames;
  std::vector<std::size_t> rooms;
  for (const Bytes& content : contents) {
    Bytes frame(ZSTD_compressBound(content.size()));
    frame.resize(ZSTD_compress(frame.data(), frame.size(), content.data(), content.size(), 3));
    frames.push_back(std::move(frame));
    rooms.push_back(content.size());
  }
  for (const bool sizes_alone : {false, true}) {
    const Restored restored = restore(Format::kZstd, frames, rooms, sizes_alone, !sizes_alone);
    for (std::size_t i = 0; i < contents.size(); ++i) {
      ASSERT_EQ(restored.statuses[i], HEMSTITCH_OK) << i;
      ASSERT_EQ(restored.sizes[i], contents[i].size()) << i;
      if (!sizes_alone) {
        ASSERT_TRUE(restored.contents[i] == contents[i]) << i;
      }
    }
  }
}

TEST_F(BlocksBatchDeviceTest, HistoriesServeTheFormatsThatHaveThem) {
  constexpr std::size_t kBlockBytes = 10'000, kHistoryBytes = 32'768;
  const Bytes text = wordy_bytes(100'000, 5);
  const TextBlocks cut(text, kBlockBytes, kHistoryBytes, stream());
  const std::size_t count = cut.histories.size();
  batch::Blocks without = cut.blocks;
  without.history_bytes = {};
  without.max_history_bytes = 0;
  for (const Format format : {Format::kLz4, Format::kDeflate}) {
    const Written alone = compress(format, without, 6, false);
    const Written written = compress(format, cut.blocks, 6, false);
    EXPECT_LT(written.blocks[count - 1].size(), alone.blocks[count - 1].size()) << title_of(format);

    const Pieces compressed(written.blocks, stream());
    batch::Compressed given{.blocks = compressed.addresses(), .block_bytes = compressed.sizes()};
    for (const Bytes& block : written.blocks)
      given.max_block_bytes = std::max(given.max_block_bytes, block.size());
    // Block after block, each behind the content of those before it.
    const Pieces output(std::vector<std::size_t>{text.size()}, stream());
    const Results results(1, stream());
    const TempMemory temp(batch::blocks_restore_temp_bytes(format, given, kBlockBytes), stream());
    for (std::size_t i = 0; i < count; ++i) {
      const auto d_room = upload<void*>({output.d_begin(0) + i * kBlockBytes}, stream());
      batch::blocks_restore(format,
                            {.blocks = given.blocks.subspan(i, 1),
                             .block_bytes = given.block_bytes.subspan(i, 1),
                             .max_block_bytes = given.max_block_bytes},
                            {.outputs = writable(d_room),
                             .capacities = cut.blocks.block_bytes.subspan(i, 1),
                             .output_bytes = writable(results.d_bytes),
                             .statuses = writable(results.d_statuses)},
                            kBlockBytes, cut.blocks.history_bytes.subspan(i, 1), temp.span(), stream());
      EXPECT_EQ(download(results.d_statuses, stream())[0], HEMSTITCH_OK)
          << title_of(format) << ", block " << i;
    }
    EXPECT_EQ(output.now()[0], text) << title_of(format);
  }
}

TEST_F(BlocksBatchDeviceTest, ChecksumsAreTheFormats) {
  const std::vector<Bytes> contents = some_contents();
  const Pieces input(contents, stream());
  const cuda::DeviceBuffer<std::uint32_t> d_checksums(contents.size(), stream());
  for (const Format format : kFormats) {
    const Checksum kind = FormatTable::instance().of(format).checksum();
    if (kind == Checksum::kNone) continue;
    batch::checksums(format, input.addresses(), input.sizes(), writable(d_checksums), stream());
    const auto checksums = download(d_checksums, stream());
    for (std::size_t i = 0; i < contents.size(); ++i)
      EXPECT_EQ(checksums[i], checksum_of(kind, contents[i])) << title_of(format) << ", span " << i;
  }
}

TEST_F(BlocksBatchDeviceTest, LongStreamsAreRestored) {
  const Bytes content = mixed_bytes(5'000'000);
  for (const Format format : {Format::kGzip, Format::kZlib, Format::kDeflate, Format::kZstd}) {
    CompressOptions options;
    options.format = format;
    const Bytes written = hemstitch::compress(content, options);
    const Pieces input(std::vector<Bytes>{written}, stream());
    const Pieces output(std::vector<std::size_t>{content.size()}, stream());
    const TempMemory temp(batch::long_stream_temp_bytes(format, written.size(), content.size()), stream());
    EXPECT_EQ(batch::long_stream_restore(format, {input.d_begin(0), written.size()},
                                         {output.d_begin(0), content.size()}, temp.span(), stream()),
              content.size())
        << title_of(format);
    EXPECT_EQ(output.now()[0], content) << title_of(format);
    try {
      batch::long_stream_restore(format, {input.d_begin(0), written.size() / 2},
                                 {output.d_begin(0), content.size()}, temp.span(), stream());
      ADD_FAILURE() << title_of(format) << ": a stream that is cut off";
    } catch (const Error& error) {
      EXPECT_TRUE(error.status() == Status::kCorruptBlock || error.status() == Status::kTruncated)
          << title_of(format) << ": " << error.what();
    }
  }
}

}  // namespace
}  // namespace hemstitch
