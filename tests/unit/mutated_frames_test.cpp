// Damaged and crafted frames, compared with liblz4 1.9.4 and its tool: all must restore the same content or
// refuse it, except for the differences in lz4_differences.hpp.
//
// The tool runs for 300 mutated frames, or for as many as HEMSTITCH_MUTATED_FRAMES says (20,000 are all),
// since each is a process.
#include <gtest/gtest.h>
#include <lz4.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include "collect_sink.hpp"
#include "core/bytes.hpp"
#include "format/lz4/frame/lz4_frame.hpp"
#include "lz4_differences.hpp"
#include "lz4f_oracle.hpp"
#include "pipeline/stream.hpp"
#include "shapes.hpp"

namespace hemstitch::testing {
namespace {

constexpr int kFrames = 20'000;

bool is_liblz4_1_9_4() { return LZ4_versionNumber() == 10904; }

// ---- Decoders ----

Lz4Outcome restored_by(const std::string& backend, std::span<const std::byte> data) {
  CollectSink sink;
  RestoreOptions options;
  options.threads = 1;
  options.backend = backend;
  MemorySource source(data);
  try {
    const StreamReport report = restore_stream(source, sink, options);
    return {report.trailing_garbage_at ? Status::kTrailingGarbage : Status::kOk, std::move(sink.content)};
  } catch (const Error& error) {
    return {error.status(), std::move(sink.content)};
  }
}

// The `lz4` tool of version 1.9.4, in a folder of its own.
class Tool {
 public:
  Tool() {
    std::string folder = (std::filesystem::temp_directory_path() / "hemstitch-lz4-XXXXXX").string();
    if (mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no folder for the tool");
    folder_ = folder;
  }
  ~Tool() { std::filesystem::remove_all(folder_); }
  Tool(const Tool&) = delete;
  Tool& operator=(const Tool&) = delete;

  static bool is_there() { return std::system("lz4 --version 2> /dev/null | grep -q 'v1\\.9\\.4'") == 0; }

  // Returns nothing if the tool failed.
  std::optional<Bytes> restore(std::span<const std::byte> data) const {
    std::ofstream(folder_ / "in", std::ios::binary)
        .write(reinterpret_cast<const char*>(data.data()), static_cast<std::streamsize>(data.size()));
    const std::string command = "cd " + folder_.string() + " && lz4 -dc < in > out 2> /dev/null";
    if (const int status = std::system(command.c_str()); !WIFEXITED(status) || WEXITSTATUS(status) != 0)
      return std::nullopt;
    return read_file(folder_ / "out");
  }

 private:
  std::filesystem::path folder_;
};

// ---- Crafted frames ----

// A frame with one block and correct checksums.
Bytes frame_of(const Bytes& block, FrameHeader header = {}) {
  header.block_bytes = 64 << 10;
  Bytes frame = write_lz4_frame_header(header);
  const auto add_word = [&](std::uint32_t word) {
    frame.resize(frame.size() + 4);
    store_le32(frame.data() + frame.size() - 4, word);
  };
  add_word(static_cast<std::uint32_t>(block.size()));
  frame = frame + block;
  if (header.block_checksums) add_word(lz4_checksum(block));
  add_word(0);
  return frame;
}

// Some literals, a match of 8 bytes, some literals.
Bytes block_of(unsigned offset, const std::string& end) {
  Bytes block = bytes_of(
      "\x84"
      "abcdefgh");
  block.push_back(static_cast<std::byte>(offset));
  block.push_back(std::byte{0});
  block.push_back(static_cast<std::byte>(end.size() << 4));
  return block + bytes_of(end);
}

// A run of bytes whose last match begins 11 bytes before the end.
Bytes late_match_block(std::size_t bytes) {
  Bytes block = bytes_of("\x1F");
  block = block + bytes_of("a") + Bytes{std::byte{1}, std::byte{0}};
  std::size_t length = bytes - 1 - 11 - 4 - 15;
  for (; length >= 255; length -= 255) block.push_back(std::byte{255});
  block.push_back(static_cast<std::byte>(length));
  return block + Bytes{std::byte{0x01}, std::byte{1}, std::byte{0}, std::byte{0x60}} + bytes_of("theend");
}

Bytes legacy_frame_of(const Bytes& block) {
  Bytes frame(8);
  store_le32(frame.data(), kLz4LegacyMagic);
  store_le32(frame.data() + 4, static_cast<std::uint32_t>(block.size()));
  return frame + block;
}

TEST(CraftedFrames, DifferAsTheTableSays) {
  if (!is_liblz4_1_9_4()) GTEST_SKIP() << "skipped: this is not liblz4 1.9.4";
  const Bytes sound = frame_of(block_of(8, "the end"));
  FrameHeader with_dictionary, with_size, checked;
  with_dictionary.dictionary_id = 7;
  with_size.content_bytes = 0;
  checked.block_checksums = true;
  LZ4F_preferences_t preferences{};
  preferences.frameInfo.blockSizeID = LZ4F_max64KB;
  preferences.frameInfo.blockChecksumFlag = LZ4F_blockChecksumEnabled;
  struct Case {
    Lz4Difference difference;
    Bytes data;
    Status ours;
    bool liblz4, tool;  // whether they restore it
  };
  const std::vector<Case> cases{
      {Lz4Difference::kNone, sound + sound, Status::kOk, true, true},
      {Lz4Difference::kNone, frame_of(block_of(9, "the end")), Status::kCorruptBlock, false, false},
      {Lz4Difference::kNone, frame_of(block_of(8, "ends.")), Status::kOk, true, true},
      {Lz4Difference::kNone, sound + bytes_of("garbage"), Status::kTrailingGarbage, false, false},
      {Lz4Difference::kOffsetZero, frame_of(block_of(0, "the end")), Status::kCorruptBlock, true, true},
      {Lz4Difference::kOffsetZero, frame_of(block_of(0, "the end"), checked), Status::kCorruptBlock, true,
       true},
      {Lz4Difference::kEndOfBlock, frame_of(block_of(8, "end.")), Status::kOk, false, false},
      {Lz4Difference::kEndOfBlock, frame_of(block_of(8, "")), Status::kOk, false, false},
      {Lz4Difference::kNone, frame_of(late_match_block((64 << 10) - 1)), Status::kOk, true, true},
      {Lz4Difference::kEndOfBlock, frame_of(late_match_block(64 << 10)), Status::kOk, false, false},
      {Lz4Difference::kDictionaryId, frame_of(block_of(8, "the end"), with_dictionary),
       Status::kDictionaryNeeded, true, true},
      {Lz4Difference::kContentSizeZero, frame_of(block_of(8, "the end"), with_size),
       Status::kContentSizeMismatch, true, true},
      {Lz4Difference::kFourBytesTooMany, lz4f_compress(wordy_bytes(200'000), preferences) + sound,
       Status::kOk, true, false},
      {Lz4Difference::kLegacyFrame, legacy_frame_of(block_of(8, "the end")), Status::kOk, false, true},
      {Lz4Difference::kNoBytes, {}, Status::kTruncated, true, true},
  };
  std::optional<Tool> tool;
  if (Tool::is_there()) tool.emplace();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Case& test = cases[i];
    const Lz4Outcome ours = restored_by("cpu", test.data);
    EXPECT_EQ(ours.status, test.ours) << i;
    EXPECT_TRUE(ours == restored_by("reference", test.data)) << i;
    const auto require_difference = [&](const std::optional<Bytes>& theirs, bool restores) {
      EXPECT_EQ(theirs.has_value(), restores) << i;
      EXPECT_EQ(lz4_difference_of(test.data, ours, theirs),
                restores == (test.ours == Status::kOk) ? Lz4Difference::kNone : test.difference)
          << i;
    };
    require_difference(lz4f_restore(test.data), test.liblz4);
    if (tool) require_difference(tool->restore(test.data), test.tool);
  }
  if (!tool) GTEST_SKIP() << "skipped in part: there is no lz4 tool of version 1.9.4";
}

// ---- Mutated frames ----

// Corrects the checksums of headers and blocks, like somebody who crafts a frame.
void repair(Bytes& data) {
  std::size_t at = 0;
  const auto left = [&] { return data.size() - at; };
  while (left() >= 7 && load_le32(data.data() + at) == kLz4FrameMagic) {
    const auto flags = static_cast<unsigned>(data[at + 4]);
    const std::size_t descriptor_bytes = 2 + (flags & 8 ? 8 : 0) + (flags & 1 ? 4 : 0);
    if (left() < 4 + descriptor_bytes + 1) return;
    data[at + 4 + descriptor_bytes] =
        static_cast<std::byte>(lz4_checksum(std::span(data).subspan(at + 4, descriptor_bytes)) >> 8);
    at += 4 + descriptor_bytes + 1;
    for (;;) {
      if (left() < 4) return;
      const std::size_t bytes = load_le32(data.data() + at) & ~kStoredBlockBit;
      const std::size_t checksum_bytes = flags & 16 && bytes != 0 ? 4 : 0;
      at += 4;
      if (left() < bytes + checksum_bytes) return;
      if (checksum_bytes != 0)
        store_le32(data.data() + at + bytes, lz4_checksum(std::span(data).subspan(at, bytes)));
      at += bytes + checksum_bytes;
      if (bytes == 0) break;
    }
    if (flags & 4) at += std::min<std::size_t>(4, left());
  }
}

std::vector<Bytes> sound_frames() {
  std::vector<Bytes> frames;
  for (unsigned variant = 0; variant < 64; ++variant) {
    LZ4F_preferences_t preferences{};
    preferences.frameInfo.blockSizeID = LZ4F_max64KB;
    preferences.frameInfo.blockMode = variant & 1 ? LZ4F_blockIndependent : LZ4F_blockLinked;
    preferences.frameInfo.blockChecksumFlag = variant & 2 ? LZ4F_blockChecksumEnabled : LZ4F_noBlockChecksum;
    preferences.frameInfo.contentChecksumFlag =
        variant & 4 ? LZ4F_contentChecksumEnabled : LZ4F_noContentChecksum;
    preferences.frameInfo.contentSize = variant & 8 ? 1 : 0;
    preferences.compressionLevel = variant & 16 ? 9 : 1;
    const Bytes content = variant & 32 ? wordy_bytes(400, variant) : periodic_bytes(700, 1 + variant);
    frames.push_back(variant % 3 == 0 ? lz4f_compress_flushed(content, 150, preferences)
                                      : lz4f_compress(content, preferences));
  }
  frames.push_back(compress(random_bytes(300)));
  frames.push_back(compress(wordy_bytes(62'000)));  // its last byte is apart
  return frames;
}

void mutate(Bytes& data, std::mt19937& random) {
  for (auto changes = 1 + random() % 3; changes > 0; --changes) {
    const std::size_t at = random() % data.size();
    switch (random() % 6) {
      case 0:
        data[at] ^= static_cast<std::byte>(1u << random() % 8);
        break;
      case 1:
      case 2:
        data[at] = static_cast<std::byte>(random());
        break;
      case 3:
        data[at] = std::byte{0};
        break;
      case 4:
        data.erase(data.begin() + static_cast<std::ptrdiff_t>(at));
        break;
      case 5:
        data.insert(data.begin() + static_cast<std::ptrdiff_t>(at), data[random() % data.size()]);
        break;
    }
  }
}

TEST(MutatedFrames, AreRestoredOrRefusedAsLiblz4AndItsToolDo) {
  if (!is_liblz4_1_9_4()) GTEST_SKIP() << "skipped: this is not liblz4 1.9.4";
  const char* const asked = std::getenv("HEMSTITCH_MUTATED_FRAMES");
  const int tool_frames = Tool::is_there() ? (asked != nullptr ? std::atoi(asked) : 300) : 0;
  const Tool tool;
  const std::vector<Bytes> sound = sound_frames();
  std::mt19937 random(7);
  std::map<Lz4Difference, int> differences;
  int restored = 0;
  for (int round = 0; round < kFrames; ++round) {
    Bytes data = sound[random() % sound.size()];
    if (random() % 8 == 0) data = data + sound[random() % sound.size()];
    mutate(data, random);
    if (random() % 2 == 0) repair(data);
    const Lz4Outcome ours = restored_by("cpu", data);
    ASSERT_TRUE(ours == restored_by("reference", data)) << "round " << round;
    const auto difference = lz4_difference_of(data, ours, lz4f_restore(data));
    ASSERT_TRUE(difference) << "round " << round << ", " << status_text(ours.status);
    differences[*difference]++;
    restored += ours.status == Status::kOk;
    if (round >= tool_frames) continue;
    ASSERT_TRUE(lz4_difference_of(data, ours, tool.restore(data)))
        << "round " << round << ", the tool, " << status_text(ours.status);
  }
  // Otherwise too little was compared.
  EXPECT_GT(restored, kFrames / 20);
  EXPECT_LT(restored, kFrames / 2);
  EXPECT_GT(differences[Lz4Difference::kOffsetZero], 5);
  EXPECT_GT(differences[Lz4Difference::kNone], kFrames * 9 / 10);
  if (tool_frames == 0) GTEST_SKIP() << "skipped in part: there is no lz4 tool of version 1.9.4";
}

}  // namespace
}  // namespace hemstitch::testing
