// The LZ4 part of the batch interface on a CUDA device, with its C++ spans and C functions: compared with the
// twins, the reference decoder and liblz4.
#include <lz4.h>
#include <xxhash.h>

#include <cstring>

#include "batch_pieces.hpp"
#include "captured_graph.hpp"
#include "format/lz4/compress/lz4_compress_reference.hpp"
#include "format/lz4/frame/lz4_frame.hpp"
#include "format/lz4/pages/lz4_pages.hpp"
#include "format/lz4/restore/lz4_restore_reference.hpp"
#include "lz4f_oracle.hpp"
#include "shapes.hpp"

namespace hemstitch {
namespace {

using namespace testing;
using cuda::check;
using cuda::DeviceBuffer;

using Lz4BatchDeviceTest = BatchDeviceTest;

std::vector<Bytes> some_blocks() {
  std::vector<Bytes> raw;
  for (Shape& shape : boundary_shapes(4097)) raw.push_back(std::move(shape.bytes));
  for (std::uint32_t i = 0; i < 10; ++i) raw.push_back(mixed_bytes(20'000 * (i + 1), i));
  return raw;
}

std::vector<Bytes> some_pages() {
  std::vector<Bytes> raw;
  for (Shape& shape : boundary_shapes(4096)) raw.push_back(std::move(shape.bytes));
  return raw;
}

Bytes twin(std::span<const std::byte> data, std::size_t history_bytes, int level,
           std::size_t max_block_bytes) {
  Bytes block(data.size() - history_bytes + data.size() / 255 + 16);
  const EncodedBlock encoded = compress_lz4_block_reference(
      {data, history_bytes}, lz4_level(level, max_block_bytes, history_bytes), block);
  block.resize(encoded.bytes);
  return block;
}

void expect_equal(const Bytes& got, const Bytes& expected, const std::string& what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  const auto wrong = std::mismatch(got.begin(), got.end(), expected.begin());
  ASSERT_EQ(wrong.first, got.end()) << what << ", byte " << wrong.first - got.begin() << ": "
                                    << static_cast<int>(*wrong.first) << ", should be "
                                    << static_cast<int>(*wrong.second);
}

TEST_F(Lz4BatchDeviceTest, BlocksAreTheTwins) {
  const std::vector<Bytes> raw = some_blocks();
  const Pieces input(raw, stream());
  const batch::Blocks blocks = blocks_of(input, raw);
  std::vector<std::size_t> bounds(raw.size(), hemstitch_lz4_compress_bound(blocks.max_block_bytes));
  for (const int level : {1, 3, 12}) {
    const Pieces output(bounds, stream());
    const Results results(raw.size(), stream());
    const TempMemory temp(batch::lz4_compress_temp_bytes(blocks, level), stream());
    run(level == 3, [&] {
      batch::lz4_compress(blocks, level,
                          {.outputs = output.rooms(),
                           .output_bytes = writable(results.d_bytes),
                           .statuses = writable(results.d_statuses)},
                          temp.span(), stream());
    });
    const auto sizes = download(results.d_bytes, stream());
    const auto statuses = download(results.d_statuses, stream());
    std::vector<Bytes> written = output.now();
    for (std::size_t i = 0; i < raw.size(); ++i) {
      ASSERT_EQ(statuses[i], HEMSTITCH_OK) << i;
      written[i].resize(sizes[i]);
      ASSERT_NO_FATAL_FAILURE(
          expect_equal(written[i], twin(raw[i], 0, level, blocks.max_block_bytes),
                       "level " + std::to_string(level) + ", block " + std::to_string(i)));
    }
  }
}

TEST_F(Lz4BatchDeviceTest, CapacitiesHoldToTheByte) {
  const std::vector<Bytes> raw = some_blocks();
  const Pieces input(raw, stream());
  const batch::Blocks blocks = blocks_of(input, raw);
  std::vector<Bytes> expected;
  std::vector<std::size_t> rooms;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    expected.push_back(twin(raw[i], 0, 1, blocks.max_block_bytes));
    rooms.push_back(expected.back().size() - i % 2);  // every second room is a byte short
  }
  const Pieces output(rooms, stream());
  const Results results(raw.size(), stream());
  const TempMemory temp(batch::lz4_compress_temp_bytes(blocks, 1), stream());
  batch::lz4_compress(blocks, 1,
                      {.outputs = output.rooms(),
                       .capacities = output.sizes(),
                       .output_bytes = writable(results.d_bytes),
                       .statuses = writable(results.d_statuses)},
                      temp.span(), stream());
  const auto sizes = download(results.d_bytes, stream());
  const auto statuses = download(results.d_statuses, stream());
  const std::vector<Bytes> written = output.now();
  for (std::size_t i = 0; i < raw.size(); ++i) {
    ASSERT_EQ(statuses[i], i % 2 == 0 ? HEMSTITCH_OK : HEMSTITCH_OUTPUT_TOO_SMALL) << i;
    ASSERT_EQ(sizes[i], i % 2 == 0 ? expected[i].size() : 0) << i;
    if (i % 2 == 0) {
      ASSERT_EQ(written[i], expected[i]) << i;
    }
  }
}

TEST_F(Lz4BatchDeviceTest, ABlockThatBreaksABoundIsLeftOutAndToldOf) {
  std::vector<Bytes> raw;
  for (std::uint32_t i = 0; i < 5; ++i) raw.push_back(wordy_bytes(i == 1 ? 9000 : 5000, i));
  const Pieces input(raw, stream());
  const DeviceBuffer<std::uint32_t> d_histories = upload<std::uint32_t>({0, 0, 0, 1000, 0}, stream());
  batch::Blocks blocks = blocks_of(input, raw);
  blocks.history_bytes = as_span(d_histories);
  blocks.max_block_bytes = 5000;      // the second block is larger
  blocks.max_history_bytes = 500;     // the fourth has more history
  blocks.total_block_bytes = 14'999;  // a byte less than the other three need
  const Pieces output(std::vector<std::size_t>(5, 6000), stream());
  const Results results(5, stream());
  const TempMemory temp(batch::lz4_compress_temp_bytes(blocks, 3), stream());
  batch::lz4_compress(blocks, 3,
                      {.outputs = output.rooms(),
                       .output_bytes = writable(results.d_bytes),
                       .statuses = writable(results.d_statuses)},
                      temp.span(), stream());
  const auto sizes = download(results.d_bytes, stream());
  EXPECT_EQ(download(results.d_statuses, stream()),
            (std::vector<hemstitch_status>{HEMSTITCH_OK, HEMSTITCH_INVALID_OPTION, HEMSTITCH_OK,
                                           HEMSTITCH_INVALID_OPTION, HEMSTITCH_OUTPUT_TOO_SMALL}));
  std::vector<Bytes> written = output.now();
  for (const std::size_t i : {0, 2}) {
    written[i].resize(sizes[i]);
    EXPECT_EQ(written[i], twin(raw[i], 0, 3, 5000)) << i;
  }
  for (const std::size_t i : {1, 3, 4}) EXPECT_EQ(sizes[i], 0u) << i;
}

TEST_F(Lz4BatchDeviceTest, HistoriesServeBothWays) {
  const Bytes text = wordy_bytes(500'000, 3);
  constexpr std::size_t kBlockBytes = 50'000;
  const TextBlocks cut(text, kBlockBytes, 65'536, stream());
  const batch::Blocks& blocks = cut.blocks;
  const std::vector<std::uint32_t>& histories = cut.histories;
  const std::size_t count = histories.size();
  const Pieces compressed(std::vector<std::size_t>(count, hemstitch_lz4_compress_bound(kBlockBytes)),
                          stream());
  const Results results(count, stream());
  const TempMemory temp(batch::lz4_compress_temp_bytes(blocks, 6), stream());
  batch::lz4_compress(blocks, 6,
                      {.outputs = compressed.rooms(),
                       .output_bytes = writable(results.d_bytes),
                       .statuses = writable(results.d_statuses)},
                      temp.span(), stream());
  const auto compressed_sizes = download(results.d_bytes, stream());
  std::vector<Bytes> written = compressed.now();
  for (std::size_t i = 0; i < count; ++i) {
    written[i].resize(compressed_sizes[i]);
    const auto data = std::span(text).subspan(i * kBlockBytes - histories[i], kBlockBytes + histories[i]);
    ASSERT_NO_FATAL_FAILURE(
        expect_equal(written[i], twin(data, histories[i], 6, kBlockBytes), "block " + std::to_string(i)));
  }

  // Each block goes into room after its history.
  std::vector<Bytes> rooms;
  for (std::size_t i = 0; i < count; ++i) {
    rooms.emplace_back(text.begin() + static_cast<std::ptrdiff_t>(i * kBlockBytes - histories[i]),
                       text.begin() + static_cast<std::ptrdiff_t>(i * kBlockBytes));
    rooms.back().resize(histories[i] + kBlockBytes, Pieces::kGuard);
  }
  const Pieces restored(rooms, stream());
  std::vector<void*> outputs;
  for (std::size_t i = 0; i < count; ++i) outputs.push_back(restored.d_begin(i) + histories[i]);
  const auto d_outputs = upload(outputs, stream());
  const batch::Compressed given{.blocks = compressed.addresses(),
                                .block_bytes = as_span(results.d_bytes),
                                .max_block_bytes = hemstitch_lz4_compress_bound(kBlockBytes)};
  const Results back(count, stream());
  const TempMemory restore_temp(batch::lz4_restore_temp_bytes(given, kBlockBytes), stream());
  batch::lz4_restore(given,
                     {.outputs = writable(d_outputs),
                      .capacities = blocks.block_bytes,
                      .output_bytes = writable(back.d_bytes),
                      .statuses = writable(back.d_statuses)},
                     kBlockBytes, blocks.history_bytes, restore_temp.span(), stream());
  EXPECT_EQ(download(back.d_statuses, stream()), std::vector<hemstitch_status>(count, HEMSTITCH_OK));
  const std::vector<Bytes> result = restored.now();
  for (std::size_t i = 0; i < count; ++i)
    ASSERT_TRUE(std::equal(result[i].begin() + histories[i], result[i].end(),
                           text.begin() + static_cast<std::ptrdiff_t>(i * kBlockBytes)))
        << i;
}

TEST_F(Lz4BatchDeviceTest, ASpanHoldsBlocksAndLeavesRoomAlone) {
  std::vector<Bytes> raw = some_blocks();
  raw.push_back(random_bytes(5000, 9));
  const Pieces input(raw, stream());
  const batch::Blocks blocks = blocks_of(input, raw);
  constexpr std::uint32_t kLead = 5, kTrail = 3;
  const std::size_t whole_bytes = blocks.total_block_bytes + raw.size() * (kLead + kTrail);
  for (const std::size_t capacity : {whole_bytes, whole_bytes / 3, std::size_t{0}}) {
    const Pieces room(std::vector<std::size_t>{capacity}, stream());
    const DeviceBuffer<std::uint64_t> d_offsets(raw.size() + 1, stream());
    const DeviceBuffer<std::uint32_t> d_sizes(raw.size(), stream());
    const Results results(raw.size(), stream());
    const TempMemory temp(batch::lz4_span_temp_bytes(blocks, 1), stream());
    run(capacity == whole_bytes, [&] {
      batch::lz4_span(blocks, 1,
                      {.span = {room.d_begin(0), capacity},
                       .offsets = writable(d_offsets),
                       .sizes = writable(d_sizes),
                       .statuses = writable(results.d_statuses),
                       .lead_bytes = kLead,
                       .trail_bytes = kTrail},
                      temp.span(), stream());
    });
    const auto offsets = download(d_offsets, stream());
    const auto sizes = download(d_sizes, stream());
    const auto statuses = download(results.d_statuses, stream());
    const Bytes written = room.now()[0];
    std::uint64_t at = 0;
    for (std::size_t i = 0; i < raw.size(); ++i) {
      Bytes expected = twin(raw[i], 0, 1, blocks.max_block_bytes);
      const bool stored = expected.size() >= raw[i].size();
      if (stored) expected = raw[i];
      ASSERT_EQ(offsets[i], at) << i;
      ASSERT_EQ(sizes[i], expected.size() | (stored ? HEMSTITCH_LZ4_STORED_BIT : 0)) << i;
      const std::uint64_t begin = at + kLead, end = begin + expected.size() + kTrail;
      ASSERT_EQ(statuses[i], end <= capacity ? HEMSTITCH_OK : HEMSTITCH_OUTPUT_TOO_SMALL) << i;
      if (end <= capacity) {
        ASSERT_TRUE(std::equal(expected.begin(), expected.end(),
                               written.begin() + static_cast<std::ptrdiff_t>(begin)))
            << i;
        for (std::uint64_t j = at; j < begin; ++j) ASSERT_EQ(written[j], Pieces::kGuard) << i;
        for (std::uint64_t j = begin + expected.size(); j < end; ++j)
          ASSERT_EQ(written[j], Pieces::kGuard) << i;
      }
      at = end;
    }
    EXPECT_EQ(offsets[raw.size()], at);
  }
}

Bytes lz4_block(const Bytes& raw) {
  Bytes block(static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(raw.size()))));
  block.resize(static_cast<std::size_t>(
      LZ4_compress_default(reinterpret_cast<const char*>(raw.data()), reinterpret_cast<char*>(block.data()),
                           static_cast<int>(raw.size()), static_cast<int>(block.size()))));
  return block;
}

TEST_F(Lz4BatchDeviceTest, RestoresAndCountsAsTheReferenceDoes) {
  for (const bool pages : {true, false}) {
    const std::vector<Bytes> raw = pages ? some_pages() : some_blocks();
    std::vector<Bytes> given;
    std::vector<std::size_t> rooms;
    std::size_t most_room = 0, most_block = 0;
    std::mt19937 random(7);
    for (const Bytes& block : raw) {
      const Bytes compressed = lz4_block(block);
      Bytes damaged = compressed;
      damaged[random() % damaged.size()] ^= static_cast<std::byte>(1 + random() % 255);
      const auto add = [&](const Bytes& bytes, std::size_t room) {
        given.push_back(bytes);
        rooms.push_back(room);
        most_room = std::max(most_room, room);
        most_block = std::max(most_block, bytes.size());
      };
      add(compressed, block.size());
      if (!block.empty()) add(compressed, block.size() - 1);
      add(damaged, block.size());
      add(Bytes(compressed.begin(), compressed.begin() + static_cast<std::ptrdiff_t>(compressed.size() / 2)),
          block.size());
    }
    const Pieces input(given, stream());
    const Pieces output(rooms, stream());
    const batch::Compressed compressed{
        .blocks = input.addresses(), .block_bytes = input.sizes(), .max_block_bytes = most_block};
    const Results results(given.size(), stream()), counted(given.size(), stream());
    const TempMemory temp(batch::lz4_restore_temp_bytes(compressed, most_room), stream());
    const TempMemory sizes_temp(batch::lz4_sizes_temp_bytes(compressed, most_room), stream());
    run(pages, [&] {
      batch::lz4_restore(compressed,
                         {.outputs = output.rooms(),
                          .capacities = output.sizes(),
                          .output_bytes = writable(results.d_bytes),
                          .statuses = writable(results.d_statuses)},
                         most_room, {}, temp.span(), stream());
      batch::lz4_sizes(compressed, most_room, writable(counted.d_bytes), writable(counted.d_statuses),
                       sizes_temp.span(), stream());
    });
    const auto sizes = download(results.d_bytes, stream());
    const auto statuses = download(results.d_statuses, stream());
    const auto counts = download(counted.d_bytes, stream());
    const auto count_statuses = download(counted.d_statuses, stream());
    const std::vector<Bytes> restored = output.now();
    Bytes room(most_room);
    for (std::size_t i = 0; i < given.size(); ++i) {
      const DecodedBlock expected =
          restore_lz4_block_reference(given[i], {}, std::span(room).first(rooms[i]));
      ASSERT_EQ(statuses[i], static_cast<hemstitch_status>(expected.status)) << i;
      ASSERT_EQ(sizes[i], expected.bytes) << i;
      ASSERT_TRUE(std::equal(room.begin(), room.begin() + static_cast<std::ptrdiff_t>(expected.bytes),
                             restored[i].begin()))
          << i;
      const DecodedBlock count = restore_lz4_block_reference(given[i], {}, room);
      ASSERT_EQ(count_statuses[i], static_cast<hemstitch_status>(count.status)) << i;
      ASSERT_EQ(counts[i], count.bytes) << i;
    }
  }
}

TEST_F(Lz4BatchDeviceTest, PagesAreTheReferencesBothWays) {
  const std::vector<Bytes> raw = some_pages();
  const Pieces input(raw, stream());
  const batch::Blocks pages = blocks_of(input, raw);
  for (const int level : {1, 6}) {
    std::vector<std::size_t> page_bytes;
    for (const Bytes& page : raw) page_bytes.push_back(page.size());
    const Pieces output(page_bytes, stream());
    const DeviceBuffer<hemstitch_lz4_page_entry> d_entries(raw.size(), stream());
    const Results results(raw.size(), stream()), back(raw.size(), stream());
    const TempMemory temp(batch::lz4_pages_compress_temp_bytes(pages, level), stream());
    const TempMemory restore_temp(batch::lz4_pages_restore_temp_bytes(raw.size()), stream());
    const Pieces restored(page_bytes, stream());
    run(level == 1, [&] {
      batch::lz4_pages_compress(pages, level, output.rooms(), writable(d_entries),
                                writable(results.d_statuses), temp.span(), stream());
      batch::lz4_pages_restore(output.addresses(), as_span(d_entries), restored.rooms(), restored.sizes(),
                               writable(back.d_statuses), restore_temp.span(), stream());
    });
    const auto entries = download(d_entries, stream());
    const std::vector<Bytes> written = output.now();
    Bytes kept(4096);
    for (std::size_t i = 0; i < raw.size(); ++i) {
      const Lz4PageEntry expected = compress_lz4_page_reference(
          raw[i], lz4_level(level, pages.max_block_bytes), std::span(kept).first(raw[i].size()));
      ASSERT_EQ(entries[i].bytes, expected.bytes) << i;
      ASSERT_EQ(entries[i].kind, static_cast<int>(expected.kind)) << i;
      ASSERT_TRUE(std::equal(kept.begin(), kept.begin() + expected.bytes, written[i].begin())) << i;
    }
    EXPECT_EQ(download(back.d_statuses, stream()), std::vector<hemstitch_status>(raw.size(), HEMSTITCH_OK));
    EXPECT_TRUE(restored.now() == raw);
  }
}

TEST_F(Lz4BatchDeviceTest, ChecksumsAreXxh32) {
  const std::vector<Bytes> raw = some_blocks();
  const Pieces input(raw, stream());
  const DeviceBuffer<std::uint32_t> d_checksums(raw.size(), stream());
  ASSERT_EQ(hemstitch_lz4_checksums_async(input.addresses().data(), input.sizes().data(), raw.size(),
                                          d_checksums.get(), stream()),
            HEMSTITCH_OK)
      << hemstitch_last_error_message();
  const auto checksums = download(d_checksums, stream());
  for (std::size_t i = 0; i < raw.size(); ++i)
    ASSERT_EQ(checksums[i], XXH32(raw[i].data(), raw[i].size(), 0)) << raw[i].size();
}

// ---- Frames ----

class Lz4FrameDeviceTest : public Lz4BatchDeviceTest {
 protected:
  // Compresses the whole frame on the device.
  Bytes compressed(const Bytes& content, const hemstitch_lz4_frame& frame, int level, bool as_graph,
                   hemstitch_status expected = HEMSTITCH_OK, std::optional<std::size_t> room = {}) const {
    const Pieces input(std::vector<Bytes>{content}, stream());
    const std::size_t capacity =
        room.value_or(static_cast<std::size_t>(batch::lz4_frame_bound(content.size(), frame)));
    const Pieces output(std::vector<std::size_t>{capacity}, stream());
    const DeviceBuffer<std::uint64_t> d_bytes(1, stream());
    const DeviceBuffer<hemstitch_status> d_status(1, stream());
    const TempMemory temp(batch::lz4_frame_compress_temp_bytes(content.size(), frame, level), stream());
    run(as_graph, [&] {
      batch::lz4_frame_compress({input.d_begin(0), content.size()}, frame, level,
                                {output.d_begin(0), capacity}, d_bytes.get(), d_status.get(), temp.span(),
                                stream());
    });
    EXPECT_EQ(download(d_status, stream())[0], expected);
    Bytes written = output.now()[0];
    written.resize(static_cast<std::size_t>(download(d_bytes, stream())[0]));
    return written;
  }

  struct Restored {
    hemstitch_status status;
    Bytes content;
  };
  Restored restored(const Bytes& data, std::size_t capacity, std::uint32_t max_blocks,
                    bool as_graph = false) const {
    hemstitch_lz4_frame frame = batch::lz4_frame_read_header(data);
    if (max_blocks != 0) frame.max_block_count = max_blocks;
    const Pieces input(std::vector<Bytes>{data}, stream());
    const Pieces output(std::vector<std::size_t>{capacity}, stream());
    const DeviceBuffer<std::uint64_t> d_bytes(1, stream());
    const DeviceBuffer<hemstitch_status> d_status(1, stream());
    const TempMemory temp(batch::lz4_frame_restore_temp_bytes(frame), stream());
    run(as_graph, [&] {
      batch::lz4_frame_restore({input.d_begin(0), data.size()}, frame, {output.d_begin(0), capacity},
                               d_bytes.get(), d_status.get(), temp.span(), stream());
    });
    Restored result{download(d_status, stream())[0], output.now()[0]};
    result.content.resize(static_cast<std::size_t>(download(d_bytes, stream())[0]));
    return result;
  }
};

TEST_F(Lz4FrameDeviceTest, AreTheReferences) {
  for (const std::size_t content_bytes : {0, 1, 4096, 61'440, 61'441, 65'535, 65'536, 65'537, 65'538, 131'072,
                                          131'073, 262'144, 262'145, 1'000'000})
    for (const std::uint32_t block_bytes : {64u << 10, 256u << 10, 4u << 20})
      for (const bool linked : {false, true})
        for (const bool checksums : {false, true}) {
          const Bytes content = mixed_bytes(content_bytes, block_bytes);
          hemstitch_lz4_frame frame{};
          frame.block_bytes = block_bytes;
          frame.linked_blocks = linked;
          frame.block_checksums = checksums;
          CompressOptions options;
          options.level = linked ? 3 : 1;
          options.block_bytes = block_bytes;
          options.linked_blocks = linked;
          options.block_checksums = checksums;
          options.backend = "reference";
          const Bytes expected = compress(content, options);
          const Bytes written = compressed(content, frame, options.level, checksums);
          ASSERT_NO_FATAL_FAILURE(expect_equal(written, expected,
                                               std::to_string(content_bytes) + " bytes, blocks of " +
                                                   std::to_string(block_bytes) + (linked ? ", linked" : "")));
          EXPECT_EQ(lz4f_restore(written), content);
        }
}

// Consecutive frames, for a reader that takes exactly what liblz4 asks for (lz4_frame_layout.hpp).
TEST_F(Lz4FrameDeviceTest, AreLeftWhereTheyEnd) {
  for (const bool linked : {false, true})
    for (const int level : {1, 6}) {
      hemstitch_lz4_frame frame{};
      frame.block_bytes = 64 << 10;
      frame.linked_blocks = linked;
      frame.block_checksums = 1;
      Bytes frames, contents;
      for (const std::size_t content_bytes : {1, 61'440, 61'441, 65'535, 65'536, 65'537, 131'071, 131'072,
                                              131'073, 150'000, 196'607, 196'608, 196'609}) {
        const Bytes content =
            random_bytes(content_bytes / 3, 1) + wordy_bytes(content_bytes - content_bytes / 3, 2);
        const Bytes written = compressed(content, frame, level, linked);
        const Restored back = restored(written, content.size(), 0);
        ASSERT_EQ(back.status, HEMSTITCH_OK) << content_bytes;
        EXPECT_TRUE(back.content == content) << content_bytes;
        frames = frames + written;
        contents = contents + content;
        EXPECT_TRUE(lz4f_restore_as_asked(frames) == contents) << content_bytes << (linked ? ", linked" : "");
      }
    }
}

TEST_F(Lz4FrameDeviceTest, NeedTheirRoomToTheByte) {
  const Bytes content = mixed_bytes(300'000, 5);
  hemstitch_lz4_frame frame{};
  frame.block_bytes = 64 << 10;
  frame.block_checksums = 1;
  const Bytes whole = compressed(content, frame, 1, false);
  EXPECT_EQ(compressed(content, frame, 1, false, HEMSTITCH_OK, whole.size()), whole);
  for (const std::size_t room : {whole.size() - 1, whole.size() - 4, whole.size() / 2, std::size_t{15},
                                 std::size_t{3}, std::size_t{0}})
    EXPECT_TRUE(compressed(content, frame, 1, false, HEMSTITCH_OUTPUT_TOO_SMALL, room).empty()) << room;
}

TEST_F(Lz4FrameDeviceTest, AreRestored) {
  const Bytes content = random_bytes(100'000) + mixed_bytes(1'500'000, 6);
  for (const LZ4F_blockMode_t mode : {LZ4F_blockIndependent, LZ4F_blockLinked}) {
    const std::string linked = mode == LZ4F_blockLinked ? ", linked" : "";
    for (const LZ4F_blockSizeID_t block_size : {LZ4F_max64KB, LZ4F_max256KB, LZ4F_max1MB, LZ4F_max4MB})
      for (const bool checksums : {false, true})
        for (const int level : {1, 9}) {
          LZ4F_preferences_t preferences{};
          preferences.frameInfo.blockSizeID = block_size;
          preferences.frameInfo.blockMode = mode;
          preferences.frameInfo.blockChecksumFlag =
              checksums ? LZ4F_blockChecksumEnabled : LZ4F_noBlockChecksum;
          preferences.frameInfo.contentSize = checksums ? 1 : 0;
          preferences.compressionLevel = level;
          const Restored result =
              restored(lz4f_compress(content, preferences), content.size(), 100, checksums);
          ASSERT_EQ(result.status, HEMSTITCH_OK) << block_size << linked;
          ASSERT_NO_FATAL_FAILURE(
              expect_equal(result.content, content, "block size " + std::to_string(block_size) + linked));
        }
    // Blocks that are not full, and bytes after the frame.
    LZ4F_preferences_t preferences{};
    preferences.frameInfo.blockSizeID = LZ4F_max64KB;
    preferences.frameInfo.blockMode = mode;
    for (const std::size_t piece_bytes : {std::size_t{700}, std::size_t{12'345}}) {
      Bytes flushed = lz4f_compress_flushed(content, piece_bytes, preferences);
      flushed.resize(flushed.size() + 100);
      const Restored result = restored(flushed, content.size() + 7, 3000);
      ASSERT_EQ(result.status, HEMSTITCH_OK) << linked;
      EXPECT_TRUE(result.content == content) << linked;
    }
  }
  const Restored empty = restored(compress({}), 0, 1);
  EXPECT_EQ(empty.status, HEMSTITCH_OK);
  EXPECT_TRUE(empty.content.empty());
}

// A stored block of 10 bytes, then a block that begins with a match.
TEST_F(Lz4FrameDeviceTest, OfLinkedBlocksReachNoFartherThanTheContent) {
  for (const bool linked : {false, true})
    for (const unsigned offset : {1u, 9u, 10u, 11u, 65'535u}) {
      FrameHeader header;
      if (linked) header.block_kind = BlockKind::kLinked;
      header.block_bytes = 64 << 10;
      Bytes frame = write_lz4_frame_header(header);
      const Bytes first = random_bytes(10), last = random_bytes(5);
      const auto append = [&](std::initializer_list<unsigned> bytes) {
        for (const unsigned byte : bytes) frame.push_back(static_cast<std::byte>(byte));
      };
      append({10, 0, 0, 0x80});
      frame.insert(frame.end(), first.begin(), first.end());
      append({9, 0, 0, 0, 0x0A, offset & 0xFF, offset >> 8, 0x50});
      frame.insert(frame.end(), last.begin(), last.end());
      append({0, 0, 0, 0});
      const Restored result = restored(frame, 100, 2);
      const bool is_sound = linked && offset <= 10;
      ASSERT_EQ(result.status, is_sound ? HEMSTITCH_OK : HEMSTITCH_CORRUPT_BLOCK) << linked << ' ' << offset;
      if (!is_sound) continue;
      Bytes content = first;
      for (int i = 0; i < 14; ++i) content.push_back(content[content.size() - offset]);
      EXPECT_TRUE(result.content == content + last) << offset;
    }
}

TEST_F(Lz4FrameDeviceTest, SayWhatIsWrongWithThem) {
  for (const bool linked : {false, true}) {
    SCOPED_TRACE(linked ? "linked" : "independent");
    const Bytes content = wordy_bytes(300'000, 7);
    CompressOptions options;
    options.block_bytes = 64 << 10;
    options.linked_blocks = linked;
    const Bytes frame = compress(content, options);
    const auto status = [&](const Bytes& data, std::size_t capacity, std::uint32_t max_blocks) {
      const Restored result = restored(data, capacity, max_blocks);
      EXPECT_EQ(result.content.empty(), result.status != HEMSTITCH_OK);
      return result.status;
    };
    EXPECT_EQ(status(frame, content.size(), 0), HEMSTITCH_OK);
    EXPECT_EQ(status(frame, content.size() - 1, 0), HEMSTITCH_OUTPUT_TOO_SMALL);
    EXPECT_EQ(status(frame, 0, 0), HEMSTITCH_OUTPUT_TOO_SMALL);
    EXPECT_EQ(status(frame, content.size(), 4), HEMSTITCH_MEMORY_LIMIT);
    for (const std::size_t bytes : {frame.size() - 1, frame.size() - 4, frame.size() - 5, frame.size() / 2,
                                    std::size_t{16}, std::size_t{15}})
      EXPECT_EQ(
          status(Bytes(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(bytes)), content.size(), 0),
          HEMSTITCH_TRUNCATED)
          << bytes;
    Bytes damaged = frame;
    damaged[frame.size() / 2] ^= std::byte{1};
    EXPECT_EQ(status(damaged, content.size(), 0), HEMSTITCH_BLOCK_CHECKSUM_MISMATCH);
    options.block_checksums = false;
    Bytes plain = compress(content, options);
    plain[19] = std::byte{0x0F};  // the first token of the first block: a match before there is any content
    plain[20] = plain[21] = std::byte{0xFF};
    EXPECT_EQ(status(plain, content.size(), 0), HEMSTITCH_CORRUPT_BLOCK);
    // A frame that states less than it holds: its header is written again, since it has a checksum.
    Bytes other = compress(wordy_bytes(299'999, 7), options);
    Bytes longer = compress(content, options);
    std::copy(other.begin(), other.begin() + 15, longer.begin());
    EXPECT_EQ(status(longer, content.size(), 0), HEMSTITCH_CONTENT_SIZE_MISMATCH);
  }
}

// ---- Shapes of batches ----

TEST_F(Lz4BatchDeviceTest, EmptyBatchesAreNothing) {
  const batch::Blocks blocks;
  const TempMemory temp(batch::lz4_compress_temp_bytes(blocks, 1), stream());
  batch::lz4_compress(blocks, 1, {}, temp.span(), stream());
  const DeviceBuffer<std::uint64_t> d_offsets(1, stream());
  const TempMemory span_temp(batch::lz4_span_temp_bytes(blocks, 12), stream());
  batch::lz4_span(blocks, 12, {.span = {}, .offsets = writable(d_offsets), .sizes = {}, .statuses = {}},
                  span_temp.span(), stream());
  EXPECT_EQ(download(d_offsets, stream())[0], 0u);
  const batch::Compressed compressed;
  const TempMemory restore_temp(batch::lz4_restore_temp_bytes(compressed, 4096), stream());
  batch::lz4_restore(compressed, {}, 4096, {}, restore_temp.span(), stream());
  const TempMemory page_temp(batch::lz4_pages_restore_temp_bytes(0), stream());
  batch::lz4_pages_restore({}, {}, {}, {}, {}, page_temp.span(), stream());
  synchronize();
}

TEST_F(Lz4BatchDeviceTest, AMillionBlocksAndBlocksOfNothing) {
  constexpr std::size_t kCount = std::size_t{1} << 20;
  const Bytes text = wordy_bytes(1 << 16, 8);
  const Pieces input(std::vector<Bytes>{text}, stream());
  std::vector<const void*> addresses(kCount);
  std::vector<std::size_t> sizes(kCount);
  std::vector<void*> rooms(kCount), restored_rooms(kCount);
  constexpr std::size_t kRoom = 96;
  const DeviceBuffer<std::byte> d_room(kCount * kRoom, stream()), d_restored(kCount * kRoom, stream());
  batch::Blocks blocks;
  blocks.max_block_bytes = 63;
  for (std::size_t i = 0; i < kCount; ++i) {
    addresses[i] = input.d_begin(0) + i % 60'000;
    sizes[i] = i % 64;
    rooms[i] = d_room.get() + i * kRoom;
    restored_rooms[i] = d_restored.get() + i * kRoom;
    blocks.total_block_bytes += sizes[i];
  }
  const auto d_addresses = upload(addresses, stream());
  const auto d_sizes = upload(sizes, stream());
  const auto d_rooms = upload(rooms, stream());
  const auto d_restored_rooms = upload(restored_rooms, stream());
  blocks.blocks = as_span(d_addresses);
  blocks.block_bytes = as_span(d_sizes);
  const Results results(kCount, stream()), back(kCount, stream());
  const TempMemory temp(batch::lz4_compress_temp_bytes(blocks, 1), stream());
  batch::lz4_compress(blocks, 1,
                      {.outputs = writable(d_rooms),
                       .output_bytes = writable(results.d_bytes),
                       .statuses = writable(results.d_statuses)},
                      temp.span(), stream());
  std::vector<const void*> compressed_addresses(rooms.begin(), rooms.end());
  const auto d_compressed = upload(compressed_addresses, stream());
  const batch::Compressed compressed{
      .blocks = as_span(d_compressed), .block_bytes = as_span(results.d_bytes), .max_block_bytes = kRoom};
  const TempMemory restore_temp(batch::lz4_restore_temp_bytes(compressed, 63), stream());
  batch::lz4_restore(compressed,
                     {.outputs = writable(d_restored_rooms),
                      .capacities = as_span(d_sizes),
                      .output_bytes = writable(back.d_bytes),
                      .statuses = writable(back.d_statuses)},
                     63, {}, restore_temp.span(), stream());
  const auto statuses = download(back.d_statuses, stream());
  const auto restored_sizes = download(back.d_bytes, stream());
  const Bytes restored = download(d_restored, stream());
  for (std::size_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(statuses[i], HEMSTITCH_OK) << i;
    ASSERT_EQ(restored_sizes[i], sizes[i]) << i;
    ASSERT_EQ(std::memcmp(restored.data() + i * kRoom, text.data() + i % 60'000, sizes[i]), 0) << i;
  }
}

TEST_F(Lz4BatchDeviceTest, AGraphIsReplayedAHundredTimesWithOtherData) {
  constexpr std::size_t kCount = 40, kBlockBytes = 10'000;
  const Bytes text = mixed_bytes(1'000'000, 9);
  const Pieces input(std::vector<std::size_t>(kCount, kBlockBytes), stream());
  const Pieces output(std::vector<std::size_t>(kCount, hemstitch_lz4_compress_bound(kBlockBytes)), stream());
  const Pieces restored(std::vector<std::size_t>(kCount, kBlockBytes), stream());
  DeviceBuffer<std::size_t> d_sizes(kCount, stream());
  const batch::Blocks blocks{.blocks = input.addresses(),
                             .block_bytes = as_span(d_sizes),
                             .max_block_bytes = kBlockBytes,
                             .total_block_bytes = kCount * kBlockBytes};
  const Results results(kCount, stream()), back(kCount, stream());
  const batch::Compressed compressed{.blocks = output.addresses(),
                                     .block_bytes = as_span(results.d_bytes),
                                     .max_block_bytes = hemstitch_lz4_compress_bound(kBlockBytes)};
  const TempMemory temp(batch::lz4_compress_temp_bytes(blocks, 1), stream());
  const TempMemory restore_temp(batch::lz4_restore_temp_bytes(compressed, kBlockBytes), stream());
  const CapturedGraph graph(stream(), [&] {
    batch::lz4_compress(blocks, 1,
                        {.outputs = output.rooms(),
                         .output_bytes = writable(results.d_bytes),
                         .statuses = writable(results.d_statuses)},
                        temp.span(), stream());
    batch::lz4_restore(compressed,
                       {.outputs = restored.rooms(),
                        .capacities = as_span(d_sizes),
                        .output_bytes = writable(back.d_bytes),
                        .statuses = writable(back.d_statuses)},
                       kBlockBytes, {}, restore_temp.span(), stream());
  });
  std::mt19937 random(1);
  for (int replay = 0; replay < 100; ++replay) {
    std::vector<std::size_t> sizes(kCount), begins(kCount);
    for (std::size_t i = 0; i < kCount; ++i) {
      sizes[i] = random() % (kBlockBytes + 1);
      begins[i] = random() % (text.size() - kBlockBytes);
      check(cudaMemcpyAsync(input.d_begin(i), text.data() + begins[i], sizes[i], cudaMemcpyHostToDevice,
                            stream()),
            "cudaMemcpyAsync");
    }
    d_sizes.upload(sizes);
    graph.launch();
    const auto statuses = download(back.d_statuses, stream());
    const auto compressed_sizes = download(results.d_bytes, stream());
    const std::vector<Bytes> written = output.now(), now = restored.now();
    for (std::size_t i = 0; i < kCount; ++i) {
      const auto raw = std::span(text).subspan(begins[i], sizes[i]);
      ASSERT_EQ(statuses[i], HEMSTITCH_OK) << "replay " << replay << ", block " << i;
      ASSERT_TRUE(std::equal(raw.begin(), raw.end(), now[i].begin()))
          << "replay " << replay << ", block " << i;
      if (replay % 20 == 0) {
        const Bytes expected = twin(raw, 0, 1, kBlockBytes);
        ASSERT_EQ(compressed_sizes[i], expected.size()) << "replay " << replay << ", block " << i;
        ASSERT_TRUE(std::equal(expected.begin(), expected.end(), written[i].begin()))
            << "replay " << replay << ", block " << i;
      }
    }
  }
}

TEST_F(Lz4BatchDeviceTest, TwoStreamsAtOnce) {
  const std::vector<Bytes> raw = some_blocks();
  const cuda::Stream other;
  const cudaStream_t streams[] = {stream(), other.get()};
  const Pieces input(raw, stream());
  const batch::Blocks blocks = blocks_of(input, raw);
  std::vector<std::size_t> bounds(raw.size(), hemstitch_lz4_compress_bound(blocks.max_block_bytes));
  struct Job {
    Pieces output;
    Results results;
    TempMemory temp;
  };
  std::vector<Job> jobs;
  for (int i = 0; i < 6; ++i)
    jobs.push_back({Pieces(bounds, stream()), Results(raw.size(), stream()),
                    TempMemory(batch::lz4_compress_temp_bytes(blocks, i < 3 ? 1 : 3), stream())});
  for (int i = 0; i < 6; ++i)
    batch::lz4_compress(blocks, i < 3 ? 1 : 3,
                        {.outputs = jobs[i].output.rooms(),
                         .output_bytes = writable(jobs[i].results.d_bytes),
                         .statuses = writable(jobs[i].results.d_statuses)},
                        jobs[i].temp.span(), streams[i % 2]);
  for (cudaStream_t each : streams) check(cudaStreamSynchronize(each), "cudaStreamSynchronize");
  for (int i = 0; i < 6; ++i) {
    const auto sizes = download(jobs[i].results.d_bytes, stream());
    const std::vector<Bytes> written = jobs[i].output.now();
    const auto first_sizes = download(jobs[i < 3 ? 0 : 3].results.d_bytes, stream());
    EXPECT_EQ(sizes, first_sizes) << i;
    for (std::size_t b = 0; b < raw.size(); b += 17) {
      const Bytes expected = twin(raw[b], 0, i < 3 ? 1 : 3, blocks.max_block_bytes);
      ASSERT_EQ(sizes[b], expected.size()) << i << ", block " << b;
      ASSERT_TRUE(std::equal(expected.begin(), expected.end(), written[b].begin())) << i << ", block " << b;
    }
  }
}

TEST_F(Lz4BatchDeviceTest, TooLittleTemporaryMemoryAndUnequalSpansAreErrors) {
  const std::vector<Bytes> raw = {wordy_bytes(5000, 1)};
  const Pieces input(raw, stream());
  const batch::Blocks blocks = blocks_of(input, raw);
  const Pieces output(std::vector<std::size_t>{6000}, stream());
  const Results results(1, stream()), two(2, stream());
  const std::size_t bytes = batch::lz4_compress_temp_bytes(blocks, 1);
  const TempMemory temp(bytes, stream());
  const auto status = [&](std::size_t temp_bytes, std::span<hemstitch_status> statuses) {
    try {
      batch::lz4_compress(
          blocks, 1,
          {.outputs = output.rooms(), .output_bytes = writable(results.d_bytes), .statuses = statuses},
          temp.span().first(temp_bytes), stream());
      return Status::kOk;
    } catch (const Error& error) {
      return error.status();
    }
  };
  EXPECT_EQ(status(bytes, writable(results.d_statuses)), Status::kOk);
  EXPECT_EQ(status(bytes - 1, writable(results.d_statuses)), Status::kInvalidOption);
  EXPECT_EQ(status(bytes, writable(two.d_statuses)), Status::kInvalidOption);
  synchronize();
}

}  // namespace
}  // namespace hemstitch
