// Loading compressed files to a device, without a device: pieces, groups and places are planned as for a
// device, and the blocks are restored here, in buffers like the device's. Files are cut at every boundary.
#include "files/load/frame_groups.hpp"

#include <gtest/gtest.h>

#include "core/bytes.hpp"
#include "files/save/frame_batches.hpp"
#include "format/deflate/restore/deflate_restore_reference.hpp"
#include "format/formats.hpp"
#include "format/lz4/compress/lz4_compress_reference.hpp"
#include "format/lz4/frame/lz4_frame.hpp"
#include "format/lz4/lz4_levels.hpp"
#include "format/lz4/restore/lz4_restore_reference.hpp"
#include "gzip_members.hpp"
#include "hemstitch/hemstitch.hpp"
#include "shapes.hpp"
#include "skippable_frames.hpp"

namespace hemstitch {
namespace {

using testing::Bytes;

// Works like frame_load_cuda.cpp. Returns nothing for files that are left to a stream.
std::vector<std::optional<Bytes>> load(const std::vector<Bytes>& files, const PieceSizes& sizes) {
  std::vector<std::uint64_t> file_bytes;
  for (const Bytes& file : files) file_bytes.push_back(file.size());
  const FilePiecePlan plan = plan_pieces(file_bytes, sizes);
  GroupPlanner planner(plan, file_bytes, true);
  std::vector<Bytes> contents(files.size());
  std::vector<RestoredParts> restored(files.size());
  Bytes buffer(BlockGroup::kLeadBytes + sizes.group_bytes), next(buffer.size());
  for (std::size_t i = 0; i < plan.pieces.size(); ++i) {
    const FilePiece& piece = plan.pieces[i];
    if (piece.group_number == 0) {
      EXPECT_EQ(piece.group_at, 0u);
      std::swap(buffer, next);
    }
    const auto bytes = std::span(buffer).subspan(BlockGroup::kLeadBytes + piece.group_at, piece.bytes);
    auto at = bytes.begin();
    for (const FilePart& part : plan.parts_of(piece))
      at = std::copy_n(files[part.file].begin() + static_cast<std::ptrdiff_t>(part.at), part.bytes, at);
    EXPECT_EQ(at, bytes.end());
    if (!planner.take(i, bytes)) continue;
    const BlockGroup& group = planner.group();
    EXPECT_LE(group.carry_bytes, BlockGroup::kLeadBytes);
    std::copy_n(buffer.begin() + static_cast<std::ptrdiff_t>(group.carry_at), group.carry_bytes,
                next.begin() + static_cast<std::ptrdiff_t>(BlockGroup::kLeadBytes - group.carry_bytes));
    std::uint64_t reached = 0;
    for (const GroupBlock& one : group.blocks) {
      EXPECT_GE(one.buffer_at, reached);
      reached = one.buffer_at + one.block.data_bytes;
      EXPECT_LE(reached, buffer.size());
      const std::span<const std::byte> data = std::span(buffer).subspan(one.buffer_at, one.block.data_bytes);
      EXPECT_TRUE(std::equal(data.begin(), data.end(),
                             files[one.file].begin() + static_cast<std::ptrdiff_t>(one.block.at)));
      EXPECT_LE(one.block.content_at + one.block.room_bytes, planner.file(one.file).content_end());
      Bytes& content = contents[one.file];
      content.resize(std::max<std::size_t>(content.size(), one.block.content_at + one.block.room_bytes));
      const std::span<std::byte> room =
          std::span(content).subspan(one.block.content_at, one.block.room_bytes);
      if (one.block.checksum && *one.block.checksum != lz4_checksum(data)) planner.leave(one.file);
      if (one.block.stored) {
        EXPECT_EQ(room.size(), data.size());
        std::copy(data.begin(), data.end(), room.begin());
        restored[one.file].add(one.block, data.size());
        continue;
      }
      if (one.block.format == Format::kGzip) {
        const DeflateRestored block = deflate_restore_reference(data, {}, room);
        EXPECT_EQ(room.size(), one.block.content_bytes);
        if (deflate_block_status(block, data.size()) != Status::kOk || block.output_bytes != room.size() ||
            checksum_of(Checksum::kCrc32, room) != one.block.content_checksum)
          planner.leave(one.file);
        restored[one.file].add(one.block, block.output_bytes);
        continue;
      }
      const DecodedBlock block = restore_lz4_block_reference(data, {}, room);
      if (block.status != Status::kOk) planner.leave(one.file);
      restored[one.file].add(one.block, block.bytes);
    }
  }
  std::vector<std::optional<Bytes>> results(files.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (files[i].empty() || planner.left(i)) continue;
    Bytes content;
    for (const RestoredParts::Run& run : restored[i].runs()) {
      const auto begin = contents[i].begin() + static_cast<std::ptrdiff_t>(run.at);
      content.insert(content.end(), begin, begin + static_cast<std::ptrdiff_t>(run.bytes));
    }
    EXPECT_EQ(content.size(), restored[i].bytes());
    if (restored[i].agrees_with(planner.file(i).frames())) results[i] = std::move(content);
  }
  return results;
}

CompressOptions sized(std::size_t bytes, int level = 1) {
  CompressOptions options;
  options.backend = "reference";
  options.level = level;
  options.block_bytes = 64 << 10;
  options.content_bytes = bytes;
  return options;
}

Bytes joined(std::initializer_list<Bytes> parts) {
  Bytes all;
  for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

// A frame whose blocks have the given contents, of any size, as from a writer that flushes.
Bytes flushed_frame(const std::vector<Bytes>& blocks, std::optional<std::uint64_t> content_bytes) {
  FrameHeader header;
  header.block_bytes = 64 << 10;
  header.content_bytes = content_bytes;
  Bytes frame = write_lz4_frame_header(header);
  const auto append_word = [&](std::uint32_t word) {
    frame.resize(frame.size() + 4);
    store_le32(frame.data() + frame.size() - 4, word);
  };
  for (const Bytes& block : blocks) {
    Bytes room(block.size() + 64);
    const EncodedBlock encoded = compress_lz4_block_reference({block, 0}, lz4_level(1, 64 << 10), room);
    append_word(static_cast<std::uint32_t>(encoded.bytes));
    frame.insert(frame.end(), room.begin(), room.begin() + static_cast<std::ptrdiff_t>(encoded.bytes));
  }
  append_word(0);
  return frame;
}

TEST(FilePiecePlan, CoversEveryByteOnceInOrder) {
  const std::vector<std::uint64_t> files{0, 1, 99, 100, 0, 101, 1000, 3, 3, 3, 3, 3, 0};
  for (const std::size_t piece_bytes : {1u, 7u, 100u, 5000u})
    for (const std::size_t piece_files : {1u, 2u, 100u})
      for (const std::size_t group_pieces : {1u, 3u}) {
        const PieceSizes sizes{piece_bytes, piece_files, 2 * piece_bytes + 1, group_pieces};
        const FilePiecePlan plan = plan_pieces(files, sizes);
        std::vector<std::uint64_t> reached(files.size());
        std::size_t file = 0;
        for (const FilePiece& piece : plan.pieces) {
          std::size_t bytes = 0;
          EXPECT_LE(piece.part_count, piece_files);
          EXPECT_LT(piece.group_number, group_pieces);
          for (const FilePart& part : plan.parts_of(piece)) {
            EXPECT_GE(part.file, file);
            file = part.file;
            EXPECT_EQ(part.at, reached[part.file]);
            EXPECT_GT(part.bytes, 0u);
            reached[part.file] += part.bytes;
            bytes += part.bytes;
          }
          EXPECT_EQ(bytes, piece.bytes);
          EXPECT_LE(bytes, piece_bytes);
        }
        EXPECT_EQ(reached, files);
        EXPECT_EQ(plan.group_ends.back(), plan.pieces.size());
      }
  EXPECT_TRUE(plan_pieces(std::vector<std::uint64_t>{0, 0}, {1, 1, 1, 1}).pieces.empty());
}

// Frames of all kinds, and their contents.
struct KindsOfFiles {
  KindsOfFiles(const Bytes& text, const Bytes& noise) {
    CompressOptions unsized = sized(0);
    unsized.content_bytes.reset();
    CompressOptions with_content_checksum = sized(text.size());
    with_content_checksum.content_checksum = true;
    CompressOptions bare = sized(noise.size());
    bare.block_checksums = false;
    const Bytes both = joined({noise, text});
    contents = {text, noise, text, text, joined({text, both, {}, noise}), {}, both};
    files = {
        compress(text, sized(text.size())),
        compress(noise, bare),
        compress(text, unsized),
        compress(text, with_content_checksum),
        joined({compress(text, unsized), skippable_frame(500), compress(both, sized(both.size())),
                compress({}, unsized), skippable_frame(0), compress(noise, bare), skippable_frame(3)}),
        compress({}, unsized),
        compress(both, sized(both.size(), 9)),
    };
  }
  void expect_loaded_in_pieces(std::size_t i, std::size_t piece_bytes) const {
    const auto loaded = load({files[i]}, {piece_bytes, 1, piece_bytes, 1});
    ASSERT_TRUE(loaded[0]) << i << " in pieces of " << piece_bytes;
    ASSERT_EQ(*loaded[0], contents[i]) << i << " in pieces of " << piece_bytes;
  }

  std::vector<Bytes> contents, files;
};

TEST(FrameGroups, FilesMayBeCutAnywhere) {
  const KindsOfFiles small(testing::wordy_bytes(2000), testing::random_bytes(700));
  for (std::size_t i = 0; i < small.files.size(); ++i)
    for (std::size_t cut = 1; cut < small.files[i].size(); cut += cut < 100 ? 1 : 13)
      ASSERT_NO_FATAL_FAILURE(small.expect_loaded_in_pieces(i, cut));

  const KindsOfFiles large(testing::wordy_bytes(200'000), testing::random_bytes(70'000));
  for (std::size_t i = 0; i < large.files.size(); ++i)
    for (std::size_t cut = 4999; cut < large.files[i].size();
         cut += large.files[i].size() - cut < 30 ? 1 : 4999)
      ASSERT_NO_FATAL_FAILURE(large.expect_loaded_in_pieces(i, cut));
  // All of them together, in pieces of several files and groups of several pieces.
  for (const std::size_t piece_bytes : {1000u, 30'001u, 1'000'000u})
    for (const std::size_t group_bytes : {1'000'000u, 3'000'000u}) {
      const auto loaded = load(large.files, {piece_bytes, 3, group_bytes, 5});
      for (std::size_t i = 0; i < large.files.size(); ++i) {
        ASSERT_TRUE(loaded[i]) << i;
        ASSERT_EQ(*loaded[i], large.contents[i]) << i;
      }
    }
}

TEST(FrameGroups, BlocksMayBeOfAnySize) {
  const std::vector<Bytes> blocks{testing::wordy_bytes(1000), testing::wordy_bytes(65536, 2),
                                  testing::wordy_bytes(3, 3), testing::wordy_bytes(30'000, 4)};
  const Bytes content = joined({blocks[0], blocks[1], blocks[2], blocks[3]});
  for (const auto& content_bytes :
       {std::optional<std::uint64_t>(content.size()), std::optional<std::uint64_t>()}) {
    const Bytes frame = flushed_frame(blocks, content_bytes);
    for (const std::size_t cut : {1u, 100u, 4096u, 1'000'000u}) {
      const auto loaded = load({frame}, {cut, 1, cut, 1});
      // If the frame states its size, that leaves too little room for what it seems to hold; a stream
      // restores it.
      ASSERT_EQ(loaded[0].has_value(), !content_bytes) << cut;
      if (loaded[0]) {
        ASSERT_EQ(*loaded[0], content);
      }
    }
  }
}

// Also among files of LZ4, and cut anywhere.
TEST(FrameGroups, BgzfIsLoadedBlockByBlock) {
  const Bytes text = testing::wordy_bytes(200'000), zeros(300'000);
  const Bytes odd = joined(
      {testing::bgzf_member(testing::wordy_bytes(100),
                            joined({testing::bytes_of("ab"), testing::le(1, 2), testing::bytes_of("c")})),
       testing::bgzf_member({}), testing::bgzf_file(testing::wordy_bytes(70'000)), testing::bgzf_file(text)});
  const std::vector<Bytes> files{testing::bgzf_file(text), compress(text, sized(text.size())),
                                 testing::bgzf_marker(), testing::bgzf_file(zeros, 65'536), odd};
  const std::vector<Bytes> contents{
      text, text, {}, zeros, joined({testing::wordy_bytes(100), testing::wordy_bytes(70'000), text})};
  for (const std::size_t cut : {1u, 7u, 27u, 28u, 1000u, 30'001u, 1'000'000u}) {
    const auto loaded = load(files, {cut, 1, cut, 1});
    for (std::size_t i = 0; i < files.size(); ++i) {
      ASSERT_TRUE(loaded[i]) << i << " in pieces of " << cut;
      ASSERT_TRUE(*loaded[i] == contents[i]) << i << " in pieces of " << cut;
    }
  }
  for (const std::size_t group_bytes : {100'000u, 3'000'000u}) {
    const auto loaded = load(files, {50'000, 3, group_bytes, 5});
    for (std::size_t i = 0; i < files.size(); ++i) ASSERT_TRUE(loaded[i] && *loaded[i] == contents[i]) << i;
  }
}

TEST(FrameGroups, LeavesToStreamsWhatIsNoWholeBgzf) {
  const Bytes text = testing::wordy_bytes(100'000), good = testing::bgzf_file(text);
  const Bytes marker = testing::bgzf_marker(), member = testing::bgzf_member(Bytes(1000));
  std::vector<Bytes> files{joined({good, testing::gzip_member(text)}),
                           Bytes(good.begin(), good.end() - static_cast<std::ptrdiff_t>(marker.size())),
                           joined({good, Bytes(3)}), joined({good, testing::bytes_of("more")}),
                           // A wrong size or checksum in a member.
                           joined({testing::changed_at(member, member.size() - 4), marker}),
                           joined({testing::changed_at(member, member.size() - 8), marker}),
                           joined({testing::changed_at(member, member.size() - 1), marker}),
                           // More than so little data can have.
                           joined({testing::changed_at(member, member.size() - 2), marker})};
  for (std::size_t bytes = 1; bytes < good.size(); bytes += bytes < 100 ? 1 : 1009)
    files.push_back(Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(bytes)));
  files.push_back(testing::changed_at(good, 3000));
  files.push_back(good);
  const auto loaded = load(files, {50'000, 2, 200'000, 4});
  for (std::size_t i = 0; i + 1 < files.size(); ++i) EXPECT_FALSE(loaded[i]) << i;
  ASSERT_TRUE(loaded.back());
  EXPECT_TRUE(*loaded.back() == text);
}

// A file with one short gzip member counts as a block, whatever its header has.
TEST(FrameGroups, ShortStreamsAreLoadedAsBlocks) {
  const Bytes text = testing::wordy_bytes(30'000), noise = testing::random_bytes(1 << 20);
  const testing::GzipFields all{.extra = testing::bytes_of("abcd"),
                                .name = std::string(300, 'n'),
                                .comment = "a comment",
                                .header_checksum = true};
  const std::vector<Bytes> contents{text, text, {}, testing::wordy_bytes(1), text, noise, Bytes(1 << 20)};
  const std::vector<Bytes> files{testing::gzip_member(text),
                                 testing::gzip_member(text, all),
                                 testing::gzip_member({}),
                                 testing::gzip_member(contents[3]),
                                 testing::bgzf_file(text),
                                 testing::gzip_member(noise),
                                 testing::gzip_member(contents.back(), {.name = ""})};
  for (const std::size_t cut : {1u, 7u, 1000u, 30'001u, 5'000'000u}) {
    const std::vector<Bytes> small(files.begin(), files.end() - (cut < 10'000 ? 2 : 0));
    const auto loaded = load(small, {cut, 1, cut, 1});
    for (std::size_t i = 0; i < small.size(); ++i)
      ASSERT_TRUE(loaded[i] && *loaded[i] == contents[i]) << i << " in pieces of " << cut;
  }
  const auto loaded = load(files, {50'000, 3, 3'000'000, 5});
  for (std::size_t i = 0; i < files.size(); ++i) ASSERT_TRUE(loaded[i] && *loaded[i] == contents[i]) << i;
}

TEST(FrameGroups, LeavesToStreamsWhatIsNoShortStream) {
  const Bytes text = testing::wordy_bytes(3000), good = testing::gzip_member(text, {.header_checksum = true});
  const Bytes empty = testing::gzip_member({});
  std::vector<Bytes> files{testing::gzip_member(testing::wordy_bytes((1 << 20) + 1)),
                           testing::gzip_member(testing::random_bytes(3 << 20)),
                           joined({good, good}),
                           joined({good, empty}),
                           joined({empty, good}),
                           joined({good, Bytes(1)}),
                           joined({good, Bytes(8)}),
                           joined({empty, Bytes(8)}),
                           joined({good, testing::bgzf_file(text)}),
                           joined({good, testing::bytes_of("more")}),
                           testing::changed_at(good, 10),                // checksum of the header
                           testing::changed_at(good, good.size() - 8),   // checksum of the content
                           testing::changed_at(good, good.size() - 4),   // its size
                           testing::changed_at(good, good.size() - 1),   // more than it can be
                           testing::changed_at(good, good.size() / 2)};  // the data
  for (std::size_t bytes = 1; bytes < good.size(); bytes += bytes < 40 ? 1 : 7)
    files.push_back(Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(bytes)));
  files.push_back(good);
  for (const std::size_t cut : {11u, 1000u, 5'000'000u}) {
    const auto loaded = load(files, {cut, 1, cut, 1});
    for (std::size_t i = 0; i + 1 < files.size(); ++i)
      EXPECT_FALSE(loaded[i]) << i << " in pieces of " << cut;
    ASSERT_TRUE(loaded.back() && *loaded.back() == text);
  }
  // Of a long file, only the header is read.
  const std::vector<std::uint64_t> sizes{std::uint64_t{1} << 30};
  const FilePiecePlan plan = plan_pieces(sizes, {4096, 1, 4096, 1});
  GroupPlanner planner(plan, sizes, true);
  planner.take(0, std::span(files[0]).first(4096));
  EXPECT_TRUE(planner.left(0));
}

TEST(FrameGroups, LeavesToStreamsWhatIsNotPlain) {
  const Bytes text = testing::wordy_bytes(200'000);
  CompressOptions linked = sized(text.size()), with_dictionary = sized(text.size());
  linked.linked_blocks = true;
  const Bytes dictionary = testing::wordy_bytes(5000, 7);
  with_dictionary.dictionary = dictionary;
  const Bytes good = compress(text, sized(text.size()));
  Bytes legacy(4);
  store_le32(legacy.data(), kLz4LegacyMagic);
  const Bytes block = flushed_frame({text}, std::nullopt);
  legacy.insert(legacy.end(), block.begin() + 7, block.end() - 4);
  std::vector<Bytes> files{compress(text, linked),
                           compress(text, with_dictionary),
                           legacy,
                           joined({good, Bytes(4, std::byte{1})}),
                           joined({good, Bytes(1)}),
                           Bytes(1),
                           testing::random_bytes(10'000)};
  for (std::size_t bytes = 1; bytes < good.size(); bytes += bytes < 100 ? 1 : 1009)
    files.push_back(Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(bytes)));
  Bytes wrong = good;
  wrong[good.size() / 2] ^= std::byte{4};  // in a block
  files.push_back(wrong);
  wrong = good;
  wrong[14] ^= std::byte{4};  // checksum of the header
  files.push_back(wrong);
  files.push_back(good);
  // Linked blocks, a dictionary and a legacy frame are refused before anything is restored.
  const std::vector<std::uint64_t> sizes{files[0].size(), files[1].size(), files[2].size()};
  const FilePiecePlan plan = plan_pieces(sizes, {1 << 20, 1, 1 << 20, 1});
  GroupPlanner planner(plan, sizes, true);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    planner.take(i, files[i]);
    EXPECT_TRUE(planner.left(i)) << i;
  }
  for (const std::size_t piece_bytes : {50'000u, 10'000'000u}) {
    const auto loaded = load(files, {piece_bytes, 2, 4 * piece_bytes, 4});
    for (std::size_t i = 0; i + 1 < files.size(); ++i) EXPECT_FALSE(loaded[i]) << i;
    ASSERT_TRUE(loaded.back());  // its neighbours do not affect it
    EXPECT_EQ(*loaded.back(), text);
  }
  // A linked frame with one block does not depend on others.
  const Bytes little(text.begin(), text.begin() + 1000);
  linked.content_bytes = little.size();
  EXPECT_EQ(load({compress(little, linked)}, {100, 1, 100, 1})[0], little);
}

TEST(FrameGroups, HostileSizesDecideNothing) {
  const Bytes text = testing::wordy_bytes(100'000);
  FrameHeader header;
  header.block_bytes = 4 << 20;
  header.block_checksums = true;
  const Bytes good = compress(text, sized(text.size()));
  for (const std::uint64_t promised :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{text.size() - 1}, std::uint64_t{text.size() + 1},
        std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
    header.content_bytes = promised;
    Bytes file = write_lz4_frame_header(header);
    file.insert(file.end(), good.begin() + 15, good.end());
    const std::vector<std::uint64_t> file_bytes{file.size()};
    const FilePiecePlan plan = plan_pieces(file_bytes, {1 << 20, 1, 1 << 20, 1});
    GroupPlanner planner(plan, file_bytes, true);
    planner.take(0, file);
    EXPECT_LE(planner.file(0).content_end(), 255 * file.size());
    EXPECT_LE(planner.file(0).promised_end().value_or(0), 256 * file.size());
    EXPECT_FALSE(load({file}, {1 << 20, 1, 1 << 20, 1})[0]) << promised;
  }

  // Without a size, rooms are what blocks can restore to, not what the frame allows.
  header.content_bytes.reset();
  header.block_checksums = false;
  Bytes tiny = write_lz4_frame_header(header);
  const Bytes block{std::byte{1}, {}, {}, {}, {}};  // restores to nothing
  for (int i = 0; i < 1000; ++i) tiny.insert(tiny.end(), block.begin(), block.end());
  tiny.resize(tiny.size() + 4);
  const std::vector<std::uint64_t> tiny_bytes{tiny.size()};
  const FilePiecePlan plan = plan_pieces(tiny_bytes, {1 << 20, 1, 1 << 20, 1});
  GroupPlanner planner(plan, tiny_bytes, true);
  planner.take(0, tiny);
  EXPECT_EQ(planner.group().blocks.size(), 1000u);
  EXPECT_EQ(planner.file(0).content_end(), 255'000u);
  EXPECT_EQ(load({tiny}, {1 << 20, 1, 1 << 20, 1})[0], Bytes{});

  // More blocks than such a file should have.
  tiny.resize(tiny.size() - 4);
  for (int i = 0; i < 100; ++i) tiny.insert(tiny.end(), block.begin(), block.end());
  tiny.resize(tiny.size() + 4);
  EXPECT_FALSE(load({tiny}, {1 << 20, 1, 1 << 20, 1})[0]);
}

TEST(FrameGroups, RealFilesAtAnyBlockSize) {
  const auto folder = testing::corpora();
  if (!folder) GTEST_SKIP() << "HEMSTITCH_CORPORA is not set";
  for (const auto& file : std::filesystem::directory_iterator(*folder / "canterbury")) {
    const std::filesystem::path& path = file.path();
    const Bytes content = testing::read_file(path);
    CompressOptions options;
    options.content_bytes = content.size();
    for (const std::size_t block_bytes : {std::size_t{64} << 10, std::size_t{4} << 20}) {
      options.block_bytes = block_bytes;
      const auto loaded = load({compress(content, options)}, {300'001, 1, 700'000, 9});
      ASSERT_TRUE(loaded[0]) << path;
      ASSERT_EQ(*loaded[0], content) << path;
    }
  }
}

// The blocks of batches, one after the other, must be those of the frame.
TEST(FrameBatches, MakeTheFrameOfTheWhole) {
  constexpr std::uint64_t kBlock = 64 << 10, kUnsplit = 60 << 10;
  const Bytes text = testing::wordy_bytes(5 * kBlock);
  for (const bool checksums : {true, false})
    for (const std::uint64_t base : {std::uint64_t{1}, kUnsplit, kBlock, 2 * kBlock, 2 * kBlock + kUnsplit,
                                     3 * kBlock, 4 * kBlock + 1000})
      for (const std::int64_t more : {-1, 0, 1, 2})
        for (const std::uint64_t batch_bytes : {kBlock, 2 * kBlock, 100 * kBlock}) {
          const auto content = std::span(text).first(base + static_cast<std::uint64_t>(more));
          if (content.empty()) continue;
          CompressOptions options = sized(content.size());
          options.block_checksums = checksums;
          const auto writer = FormatTable::instance().of(Format::kLz4).make_writer(options);
          Bytes frame(writer->room().header_bytes);
          const std::size_t header_bytes = writer->write_header(content.size(), frame.data());
          frame.resize(header_bytes);
          for (const FrameBatch& batch : plan_frame_batches(*writer, content.size(), batch_bytes)) {
            ASSERT_LE(batch.at + batch.given_bytes, content.size());
            const auto given = content.subspan(batch.at, batch.given_bytes);
            options.content_bytes = given.size();
            const Bytes part = compress(given, options);
            frame.insert(frame.end(), part.begin() + static_cast<std::ptrdiff_t>(header_bytes),
                         part.end() - static_cast<std::ptrdiff_t>(batch.cut_bytes));
          }
          const bool apart = writer->layout(content.size()).last_byte_apart;
          const Bytes end =
              write_frame_end(*writer, content.size(), apart ? std::optional(content.back()) : std::nullopt);
          options.content_bytes = content.size();
          ASSERT_EQ(joined({frame, end}), compress(content, options))
              << content.size() << " bytes in batches of " << batch_bytes;
        }
}

}  // namespace
}  // namespace hemstitch
