// LZ4's blocks and frames that no encoder writes: liblz4 and both of our backends restore each to its content; and all that the
// format allows is among them.
#include <gtest/gtest.h>

#include <string>

#include "format/lz4/restore/lz4_restore.hpp"
#include "format/lz4/restore/lz4_restore_reference.hpp"
#include "guarded_buffer.hpp"
#include "hemstitch/hemstitch.hpp"
#include "lz4_blocks.hpp"
#include "lz4_differences.hpp"
#include "threads.hpp"
#include "valid_data/trials.hpp"
#include "valid_data/valid_data.hpp"

namespace hemstitch::testing {
namespace {

void expect_block(const ValidData& made) {
  EXPECT_TRUE(lz4_block_facts(made.data).keeps_end_rules);
  EXPECT_TRUE(restored_by_liblz4(made.data, made.dictionary, made.content.size()) == made.content ||
              made.content.empty());
  for (const Against against : {Against::kUpperGuard, Against::kLowerGuard})
    for (const auto restore_block : {restore_lz4_block_reference, restore_lz4_block}) {
      GuardedBuffer data(made.data, against), history(made.dictionary, against),
          content(made.content.size(), against);
      const DecodedBlock decoded = restore_block(data.bytes(), history.bytes(), content.bytes());
      EXPECT_EQ(decoded.status, Status::kOk);
      EXPECT_EQ(decoded.bytes, made.content.size());
      EXPECT_TRUE(std::ranges::equal(content.bytes(), made.content));
    }
}

TEST(Lz4ValidData, BlocksAreRestored) { for_many_seeds(valid_lz4_block, expect_block); }

RestoreOptions by_threads(unsigned threads) {
  RestoreOptions options;
  options.threads = threads;
  options.accept_any_dictionary_id = true;
  return options;
}

TEST(Lz4ValidData, FramesAreRestored) {
  for_many_seeds(valid_lz4_frames, [](const ValidData& made) {
    EXPECT_TRUE(lz4f_restore(made.data, made.dictionary) == made.content);
    expect_by_backends(made, by_threads(1));
  });
}

TEST_WITH_THREADS(Lz4ValidData, FramesAreRestored) {
  for (std::uint64_t seed = 0; seed < 40; seed += kTriedOneOf)
    for (const unsigned threads : {2, 8}) {
      SCOPED_TRACE(seed);
      expect_by_backends(valid_lz4_frames(seed, kLargeBytes), by_threads(threads));
    }
}

// ---- What is among them ----

class SeenInLz4 : public SeenWords {
 public:
  void see_block(const ValidData& made) {
    std::span<const std::byte> data(made.data);
    if (!made.dictionary.empty()) see("a history");
    if (made.content.empty()) see("no content");
    std::size_t at = 0, content = 0;
    const auto extended = [&](std::size_t number, const std::string& kind) {
      const bool full = number == 15;
      for (std::size_t more = full ? 255 : 0; more == 255;) {
        more = static_cast<std::size_t>(data[at++]);
        number += more;
        if (more == 255) see(kind + " of several bytes more");
      }
      for (const std::size_t edge : {0, 14, 15, 16, 269, 270, 271, 524, 525})
        if (number == edge) see(kind + " " + std::to_string(edge));
      return number;
    };
    for (;;) {
      const auto token = static_cast<std::size_t>(data[at++]);
      const std::size_t literals = extended(token >> 4, "literals");
      at += literals;
      content += literals;
      if (at == data.size()) {
        if (literals == 5) see("5 literals at the end");
        return;
      }
      const std::size_t offset = static_cast<std::size_t>(data[at]) | static_cast<std::size_t>(data[at + 1])
                                                                          << 8;
      at += 2;
      const std::size_t match = 4 + extended(token & 15, "match");
      if (offset == 65535) see("the longest offset");
      if (offset == content + made.dictionary.size()) see("a match of the first byte");
      if (offset > content) see("a match in the history");
      if (offset < match) see("a match into itself");
      if (content + 12 == made.content.size()) see("a match that begins 12 bytes before the end");
      content += match;
    }
  }
  void see_frames(const ValidData& made) {
    Lz4FrameParser parser(true);
    const std::span<const std::byte> data(made.data);
    std::size_t frames = 0, blocks = 0;
    for (;;) {
      const auto at = static_cast<std::size_t>(parser.position() + parser.held_bytes());
      const auto bytes = data.subspan(at, std::min(parser.wanted_bytes(), data.size() - at));
      const auto event = parser.step(bytes);
      if (event == Lz4FrameParser::Event::kEnd) break;
      if (event == Lz4FrameParser::Event::kSkip) {
        see("a skippable frame");
        parser.skipped(parser.skip_bytes());
      }
      if (event == Lz4FrameParser::Event::kFrameBegin) {
        ++frames;
        blocks = 0;
        const auto& header = parser.header();
        const auto yes = [](bool is) { return is ? ": yes" : ": no"; };
        see(std::string("block checksums") + yes(header.block_checksums));
        see(std::string("a content checksum") + yes(header.content_checksum));
        see(std::string("independent blocks") + yes(header.block_kind == BlockKind::kIndependent));
        see(std::string("a size") + yes(header.content_bytes.has_value()));
        see(std::string("a dictionary's number") + yes(header.dictionary_id.has_value()));
        see("blocks of " + std::to_string(header.block_bytes));
      }
      if (event == Lz4FrameParser::Event::kFrameEnd && blocks == 0) see("a frame without blocks");
      if (event == Lz4FrameParser::Event::kBlockEnd) {
        ++blocks;
        see(parser.block().stored ? "a stored block" : "a compressed block");
        if (parser.block().data_bytes == 1 && !parser.block().stored) see("a block of nothing");
      }
    }
    if (frames > 1) see("several frames");
  }

 private:
};

TEST(Lz4ValidData, HasAllThatTheFormatAllows) {
  SeenInLz4 seen;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    seen.see_block(valid_lz4_block(seed, seed % 50 == 0 ? kLargeBytes : kSmallBytes));
    seen.see_frames(valid_lz4_frames(seed, seed % 50 == 0 ? kLargeBytes : kSmallBytes));
  }
  std::vector<std::string> all{"a history",
                               "no content",
                               "5 literals at the end",
                               "the longest offset",
                               "a match of the first byte",
                               "a match in the history",
                               "a match into itself",
                               "a match that begins 12 bytes before the end",
                               "a skippable frame",
                               "a frame without blocks",
                               "a stored block",
                               "a compressed block",
                               "a block of nothing",
                               "several frames"};
  for (const std::string kind : {"literals", "match"}) {
    for (const char* edge : {"0", "14", "15", "16", "269", "270", "271", "524", "525"})
      all.push_back(kind + " " + edge);
    all.push_back(kind + " of several bytes more");
  }
  for (const std::string what :
       {"block checksums", "a content checksum", "independent blocks", "a size", "a dictionary's number"})
    for (const char* is : {": yes", ": no"}) all.push_back(what + is);
  for (const char* bytes : {"65536", "262144", "1048576", "4194304"})
    all.push_back("blocks of " + std::string(bytes));
  EXPECT_EQ(seen.missing(all), std::vector<std::string>());
}

TEST(Lz4ValidData, IsTheSameEachTime) {
  for (ValidDataGenerator* make : {valid_lz4_block, valid_lz4_frames}) expect_the_same_each_time(*make);
}

}  // namespace
}  // namespace hemstitch::testing
