// LZ4 frames, compared with liblz4 in both directions, and damaged ones.
#include "format/lz4/frame/lz4_frame.hpp"

#include <gtest/gtest.h>
#include <lz4.h>

#include "collect_sink.hpp"
#include "core/bytes.hpp"
#include "core/status.hpp"
#include "engine/registry.hpp"
#include "format/frame_index.hpp"
#include "format/identify.hpp"
#include "format/lz4/block/lz4_block_size.hpp"
#include "guarded_buffer.hpp"
#include "lz4f_oracle.hpp"
#include "pipeline/stream.hpp"
#include "shapes.hpp"
#include "skippable_frames.hpp"

namespace hemstitch::testing {
namespace {

constexpr std::size_t kKB = 1024;

template <class Call>
std::optional<Error> error_of(Call call) {
  try {
    call();
    return std::nullopt;
  } catch (const Error& error) {
    return error;
  }
}

Status status_of_restoring(std::span<const std::byte> frames, const RestoreOptions& options = {}) {
  const auto error = error_of([&] { restore(frames, options); });
  return error ? error->status() : Status::kOk;
}

std::vector<Bytes> edge_contents() {
  std::vector<Bytes> contents{
      {}, equal_bytes(1), random_bytes(1), equal_bytes(1000000), periodic_bytes(300000, 65535)};
  for (const std::size_t bytes :
       {4, 5, 12, 13, 4095, 4096, 65535, 65536, 65537, 131072, 262143, 262144, 262145})
    contents.push_back(wordy_bytes(bytes));
  contents.push_back(random_bytes(300000));
  contents.push_back(mixed_bytes(1500000));
  return contents;
}

LZ4F_preferences_t preferences_of(int variant) {
  LZ4F_preferences_t preferences{};
  preferences.frameInfo.blockSizeID = static_cast<LZ4F_blockSizeID_t>(4 + variant % 4);
  preferences.frameInfo.blockMode = variant & 4 ? LZ4F_blockIndependent : LZ4F_blockLinked;
  preferences.frameInfo.blockChecksumFlag = variant & 8 ? LZ4F_blockChecksumEnabled : LZ4F_noBlockChecksum;
  preferences.frameInfo.contentChecksumFlag =
      variant & 16 ? LZ4F_contentChecksumEnabled : LZ4F_noContentChecksum;
  preferences.frameInfo.contentSize = variant & 32 ? 1 : 0;
  preferences.compressionLevel = variant & 64 ? 9 : 1;
  return preferences;
}

TEST(Lz4Frame, RestoresWhatLiblz4Writes) {
  for (const Bytes& content : edge_contents())
    for (int variant = 0; variant<128; variant += content.size()> 100000 ? 5 : 1) {
      const Bytes frame = lz4f_compress(content, preferences_of(variant));
      EXPECT_EQ(restore(frame), content) << "variant " << variant << ", " << content.size() << " bytes";
      EXPECT_EQ(restored_bytes(frame), content.size());
    }
}

TEST(Lz4Frame, Liblz4RestoresWhatWeWrite) {
  for (const Bytes& content : edge_contents())
    for (int variant = 0; variant<64; variant += content.size()> 100000 ? 5 : 1) {
      CompressOptions options;
      options.block_bytes = std::size_t{64 * kKB} << (2 * (variant % 4));
      options.linked_blocks = variant & 4;
      options.block_checksums = variant & 8;
      options.content_checksum = variant & 16;
      options.level = variant & 32 ? 9 : 1;
      const Bytes frame = compress(content, options);
      EXPECT_EQ(lz4f_restore(frame), content) << "variant " << variant << ", " << content.size() << " bytes";
      EXPECT_EQ(restore(frame), content);
    }
}

TEST(Lz4Frame, EveryLevelRestores) {
  const Bytes content = mixed_bytes(700000);
  std::size_t level_1_bytes = 0;
  for (int level = kMinLevel; level <= kMaxLevel; level++) {
    CompressOptions options;
    options.level = level;
    const Bytes frame = compress(content, options);
    EXPECT_EQ(lz4f_restore(frame), content) << level;
    if (level == 1) level_1_bytes = frame.size();
    if (level == 12) {
      EXPECT_LT(frame.size(), level_1_bytes);
    }
  }
  CompressOptions fast;
  fast.acceleration = 50;
  const Bytes frame = compress(content, fast);
  EXPECT_EQ(lz4f_restore(frame), content);
  EXPECT_GT(frame.size(), level_1_bytes);
}

TEST(Lz4Frame, HeaderSaysWhatWasAsked) {
  FrameHeader header;
  header.block_bytes = 1 << 20;
  header.block_kind = BlockKind::kLinked;
  header.block_checksums = true;
  header.content_checksum = true;
  header.content_bytes = 0x123456789ull;
  header.dictionary_id = 0xCAFEBABE;
  const Bytes bytes = write_lz4_frame_header(header);
  EXPECT_EQ(bytes.size(), kMaxFrameHeaderBytes);

  LZ4F_dctx* context = nullptr;
  LZ4F_createDecompressionContext(&context, LZ4F_VERSION);
  LZ4F_frameInfo_t info{};
  std::size_t taken = bytes.size();
  ASSERT_FALSE(LZ4F_isError(LZ4F_getFrameInfo(context, &info, bytes.data(), &taken)));
  LZ4F_freeDecompressionContext(context);
  EXPECT_EQ(info.blockSizeID, LZ4F_max1MB);
  EXPECT_EQ(info.blockMode, LZ4F_blockLinked);
  EXPECT_EQ(info.blockChecksumFlag, LZ4F_blockChecksumEnabled);
  EXPECT_EQ(info.contentChecksumFlag, LZ4F_contentChecksumEnabled);
  EXPECT_EQ(info.contentSize, 0x123456789ull);
  EXPECT_EQ(info.dictID, 0xCAFEBABE);
}

Bytes legacy_frame(const Bytes& content) {
  Bytes frame(4);
  store_le32(frame.data(), kLz4LegacyMagic);
  for (std::size_t at = 0; at < content.size(); at += kLz4LegacyBlockBytes) {
    const std::size_t bytes = std::min(kLz4LegacyBlockBytes, content.size() - at);
    Bytes block(4 + static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(bytes))));
    const int written = LZ4_compress_default(reinterpret_cast<const char*>(content.data() + at),
                                             reinterpret_cast<char*>(block.data() + 4),
                                             static_cast<int>(bytes), static_cast<int>(block.size() - 4));
    store_le32(block.data(), static_cast<std::uint32_t>(written));
    block.resize(4 + static_cast<std::size_t>(written));
    frame = frame + block;
  }
  return frame;
}

TEST(Lz4Frame, ConcatenatedSkippableAndLegacyFramesRestore) {
  const Bytes a = wordy_bytes(100000, 1), b = random_bytes(70000), c = wordy_bytes(9000000, 2);
  const Bytes all = skippable_frame(10) + compress(a) + skippable_frame(0, 15) + legacy_frame(c) +
                    lz4f_compress(b) + compress({}) + legacy_frame(a) + skippable_frame(100000);
  EXPECT_EQ(restore(all), a + c + b + a);
  EXPECT_EQ(restored_bytes(all), (a + c + b + a).size());
  EXPECT_EQ(restore(legacy_frame({})), Bytes{});
  EXPECT_EQ(restore(skippable_frame(3)), Bytes{});

  MemorySource source(all);
  const FrameIndex summary = index_frames(source);
  ASSERT_EQ(summary.frames.size(), 8u);
  EXPECT_TRUE(summary.frames[0].skippable);
  EXPECT_EQ(summary.frames[0].bytes, 18u);
  EXPECT_EQ(summary.frames[3].header.kind, "lz4-legacy");
  EXPECT_EQ(summary.frames[3].block_count, 2u);
  EXPECT_EQ(summary.frames[4].stored_block_count, 2u);
  std::uint64_t compressed = 0;
  for (const IndexedFrame& frame : summary.frames) compressed += frame.bytes;
  EXPECT_EQ(compressed, all.size());
}

TEST(Lz4Frame, TrailingGarbageIsFoundWhereItBegins) {
  const Bytes content = wordy_bytes(1000), frame = compress(content);
  for (const Bytes& garbage :
       {Bytes(1), Bytes(3), Bytes(100), bytes_of("some text after it"), bytes_of("four")})
    for (const Bytes& whole : {frame, legacy_frame(content)}) {
      if (whole.size() != frame.size() && garbage != bytes_of("four"))
        continue;  // see LegacyFramesEndWhereTheyMay
      const Bytes data = whole + garbage;
      MemorySource source(data);
      CollectSink sink;
      const StreamReport report = restore_stream(source, sink, {});
      EXPECT_EQ(report.trailing_garbage_at, whole.size());
      EXPECT_EQ(sink.content, content);
      EXPECT_EQ(status_of_restoring(data), Status::kTrailingGarbage);
      MemorySource again(data);
      EXPECT_EQ(index_frames(again).trailing_garbage_at, whole.size());
    }
}

// The statuses of a stream that comes at once, and of one that comes in pieces of one byte.
std::array<Status, 2> statuses_of(const Bytes& data, const Bytes& content) {
  std::array<Status, 2> statuses{Status::kOk, Status::kOk};
  MemorySource source(data);
  CollectSink sink;
  const auto error = error_of([&] {
    if (restore_stream(source, sink, {}).trailing_garbage_at) statuses[0] = Status::kTrailingGarbage;
  });
  if (error) statuses[0] = error->status();
  Bytes pushed;
  Decompressor decompressor(
      {}, [&](std::span<const std::byte> bytes) { pushed.insert(pushed.end(), bytes.begin(), bytes.end()); });
  const auto pushed_error = error_of([&] {
    for (const std::byte& byte : data) decompressor.write({&byte, 1});
    decompressor.finish();
  });
  if (pushed_error) statuses[1] = pushed_error->status();
  EXPECT_EQ(sink.content, content);
  EXPECT_EQ(pushed, content);
  return statuses;
}

TEST(Lz4Frame, AFrameThatIsCutOffInItsMagicNumberIsNoGarbage) {
  const Bytes content = wordy_bytes(1000);
  const std::array<Bytes, 4> nexts{compress(content), legacy_frame(content), skippable_frame(3),
                                   skippable_frame(0)};
  for (const Bytes& before : {compress(content), legacy_frame(content), legacy_frame(content) + Bytes(6)})
    for (const Bytes& next : nexts)
      for (std::size_t bytes = 1; bytes < 6; ++bytes) {
        const Bytes data = before + Bytes(next.begin(), next.begin() + bytes);
        constexpr std::array kCut{Status::kTruncated, Status::kTruncated};
        // A legacy frame may be empty.
        if (bytes == 4 && &next == &nexts[1]) continue;
        EXPECT_EQ(statuses_of(data, content), kCut) << before.size() << ' ' << bytes;
        MemorySource source(data);
        EXPECT_EQ(error_of([&] { index_frames(source); })->status(), Status::kTruncated);
      }
}

// Which format follows is not known there.
TEST(Lz4Frame, ACutMagicNumberBehindTheFirstSkippableFramesIsNoGarbage) {
  for (const Bytes& first : {skippable_frame(10), skippable_frame(0) + skippable_frame(70'000, 15)})
    for (const std::string_view magic :
         {"\x04\x22\x4D\x18", "\x02\x21\x4C\x18", "\x5A\x2A\x4D\x18", "\x1F\x8B"})
      for (std::size_t bytes = 1; bytes < magic.size(); ++bytes) {
        const Bytes data = first + bytes_of(magic.substr(0, bytes));
        constexpr std::array kCut{Status::kTruncated, Status::kTruncated};
        EXPECT_EQ(statuses_of(data, {}), kCut) << magic << ' ' << bytes;
      }
  constexpr std::array kGarbage{Status::kTrailingGarbage, Status::kTrailingGarbage};
  for (const std::string_view garbage : {"f", "fo", "\x5A\x2B", "four", "four and more"})
    EXPECT_EQ(statuses_of(skippable_frame(10) + bytes_of(garbage), {}), kGarbage) << garbage;
}

// As the kernel reads an initial RAM disk: archives one behind the other, with zeros between and behind them.
TEST(Lz4Frame, ZerosBehindLegacyFramesArePadding) {
  const Bytes content = wordy_bytes(1000), legacy = legacy_frame(content), frame = compress(content);
  for (const std::size_t zeros : {1, 2, 3, 4, 5, 7, 8, 511, 4096, 10'001}) {
    constexpr std::array kOk{Status::kOk, Status::kOk},
        kCorrupt{Status::kCorruptBlock, Status::kCorruptBlock};
    EXPECT_EQ(statuses_of(legacy + Bytes(zeros), content), kOk) << zeros;
    const Bytes text = legacy + Bytes(zeros + 3) + bytes_of("text");
    EXPECT_EQ(statuses_of(text, content), kCorrupt) << zeros;
    EXPECT_EQ(error_of([&] { restore(text); })->place().byte_offset, legacy.size() + zeros + 3);
    if (zeros < 4) continue;  // they would be a part of a block's size
    for (const Bytes& next : {legacy, frame, skippable_frame(5) + frame}) {
      const Bytes data = legacy + Bytes(zeros) + next;
      EXPECT_EQ(statuses_of(data, content + content), kOk) << zeros;
      EXPECT_EQ(statuses_of(data + Bytes(zeros), content + content)[0],
                next == legacy ? Status::kOk : Status::kTrailingGarbage);
      MemorySource source(data);
      const FrameIndex index = index_frames(source);
      EXPECT_EQ(index.frames[0].bytes, legacy.size());
      EXPECT_EQ(index.frames[1].at, legacy.size() + zeros);
      EXPECT_EQ(index.content_bytes(), 2 * content.size());
    }
  }
}

TEST(Lz4Frame, LegacyFramesEndWhereTheyMay) {
  const Bytes content = wordy_bytes(9'000'000);
  const Bytes image = legacy_frame(content);
  const auto word = [](std::uint32_t value) {
    Bytes bytes(4);
    store_le32(bytes.data(), value);
    return bytes;
  };
  // An image of Linux ends with the size of its content, which gives a warning. So does any other last word
  // that is not the size of a block.
  for (const Bytes& size : {word(static_cast<std::uint32_t>(content.size())), word(0xFFFFFFFF)}) {
    EXPECT_EQ(status_of_restoring(image + size), Status::kTrailingGarbage);
    const Bytes whole = image + size;
    MemorySource source(whole);
    NullSink sink;
    const StreamReport report = restore_stream(source, sink, {});
    EXPECT_EQ(report.output_bytes, content.size());
    EXPECT_EQ(report.trailing_garbage_at, image.size());
    MemorySource again(whole);
    EXPECT_EQ(index_frames(again).trailing_garbage_at, image.size());
  }
  // If more follows, the word is the damaged size of a block: of the second one, or of one after the last.
  const std::size_t second_at = 8 + load_le32(image.data() + 4);
  Bytes damaged = image;
  store_le32(damaged.data() + second_at, kMaxLegacyBlockDataBytes + 1);
  for (const Bytes& data :
       {damaged, image + word(0xFFFFFFFF) + Bytes(1), image + bytes_of("some text after it")}) {
    const auto error = error_of([&] { restore(data); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->status(), Status::kCorruptBlock);
    EXPECT_EQ(error->place().byte_offset, data == damaged ? second_at : image.size());
    EXPECT_NE(std::string(error->what()).find(data == damaged ? "block 2 has" : "block 3 has"),
              std::string::npos);
    MemorySource source(data);
    EXPECT_TRUE(error_of([&] { index_frames(source); }));
  }
  for (std::size_t bytes = 1; bytes < 4; ++bytes)
    EXPECT_EQ(status_of_restoring(image + Bytes(bytes, std::byte{0xFF})), Status::kTruncated);
  // In pieces of one byte.
  std::uint64_t restored_bytes = 0;
  Decompressor decompressor({}, [&](std::span<const std::byte> bytes) { restored_bytes += bytes.size(); });
  const Bytes small = legacy_frame(wordy_bytes(1000)) + word(0xFFFFFFFF);
  for (const std::byte& byte : small) decompressor.write({&byte, 1});
  EXPECT_EQ(error_of([&] { decompressor.finish(); })->status(), Status::kTrailingGarbage);
  EXPECT_EQ(restored_bytes, 1000u);
}

TEST(Lz4Frame, DictionariesWorkBothWays) {
  const Bytes dictionary = wordy_bytes(100000, 7);
  const Bytes content = Bytes(dictionary.end() - 60000, dictionary.end()) + wordy_bytes(140000, 9);
  for (const bool linked : {false, true})
    for (const int level : {1, 9}) {
      CompressOptions options;
      options.block_bytes = 64 * kKB;
      options.linked_blocks = linked;
      options.level = level;
      const Bytes plain = compress(content, options);
      options.dictionary = dictionary;
      const Bytes frame = compress(content, options);
      EXPECT_LT(frame.size(), plain.size());
      EXPECT_EQ(lz4f_restore(frame, Bytes(dictionary.end() - 65536, dictionary.end())), content);
      RestoreOptions with;
      with.dictionary = dictionary;
      EXPECT_EQ(restore(frame, with), content);

      EXPECT_EQ(status_of_restoring(frame), Status::kDictionaryNeeded);
      const Bytes other = wordy_bytes(100000, 8);
      with.dictionary = other;
      EXPECT_EQ(status_of_restoring(frame, with), Status::kDictionaryMismatch);
      with.accept_any_dictionary_id = true;
      EXPECT_NE(status_of_restoring(frame, with), Status::kDictionaryMismatch);
    }
}

TEST(Lz4Frame, RestoresLiblz4sDictionaryFrames) {
  const Bytes dictionary = wordy_bytes(65536, 7), content = wordy_bytes(200000, 7);
  for (const int variant : {0, 4}) {
    LZ4F_preferences_t preferences = preferences_of(variant);
    LZ4F_CDict* const prepared = LZ4F_createCDict(dictionary.data(), dictionary.size());
    LZ4F_cctx* context = nullptr;
    LZ4F_createCompressionContext(&context, LZ4F_VERSION);
    Bytes frame(LZ4F_compressFrameBound(content.size(), &preferences));
    frame.resize(LZ4F_compressFrame_usingCDict(context, frame.data(), frame.size(), content.data(),
                                               content.size(), prepared, &preferences));
    LZ4F_freeCompressionContext(context);
    LZ4F_freeCDict(prepared);
    RestoreOptions options;
    options.dictionary = dictionary;
    EXPECT_EQ(restore(frame, options), content);
  }
}

TEST(Lz4Frame, TruncationAtEveryByteIsAnError) {
  CompressOptions options;
  options.content_checksum = true;
  options.block_bytes = 64 * kKB;
  Bytes content = wordy_bytes(700);
  const Bytes frame = compress(content, options);
  for (std::size_t bytes = 0; bytes < frame.size(); bytes++) {
    const auto error = error_of([&] { restore(std::span(frame).first(bytes)); });
    ASSERT_TRUE(error) << bytes;
    EXPECT_EQ(error->status(), bytes >= 1 && bytes < 4 ? Status::kUnknownFormat : Status::kTruncated)
        << bytes;
    EXPECT_TRUE(error->place().byte_offset) << bytes;
    EXPECT_TRUE(error_of([&] { restored_bytes(std::span(frame).first(bytes)); })) << bytes;
  }
  EXPECT_EQ(restore(frame), content);
}

TEST(Lz4Frame, AFlipOfAnyBitIsAnError) {
  for (const bool stored : {false, true}) {
    CompressOptions options;
    options.content_checksum = true;
    const Bytes content = stored ? random_bytes(500) : wordy_bytes(700);
    Bytes frame = compress(content, options);
    for (std::size_t bit = 0; bit < 8 * frame.size(); bit++) {
      frame[bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
      EXPECT_NE(status_of_restoring(frame), Status::kOk) << "bit " << bit;
      frame[bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
    }
    EXPECT_EQ(restore(frame), content);
  }
}

TEST(Lz4Frame, ErrorsNameTheirPlace) {
  CompressOptions options;
  options.block_bytes = 64 * kKB;
  const Bytes content = random_bytes(200000);
  const Bytes one = compress(content, options);
  Bytes two = one + one;
  const std::size_t header_bytes = 4 + 2 + 8 + 1, block_bytes = 4 + 65536 + 4;
  two[one.size() + header_bytes + 2 * block_bytes + 1000] ^= std::byte{1};
  const auto error = error_of([&] { restore(two); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->status(), Status::kBlockChecksumMismatch);
  EXPECT_EQ(error->place().frame, 2u);
  EXPECT_EQ(error->place().block, 3u);
  EXPECT_EQ(error->place().byte_offset, one.size() + header_bytes + 2 * block_bytes);
  EXPECT_NE(std::string(error->what()).find("frame 2, block 3, byte "), std::string::npos) << error->what();
}

TEST(Lz4Frame, EveryHeaderMistakeHasItsStatus) {
  const Bytes frame = compress(wordy_bytes(1000));
  const auto with_descriptor = [&](std::size_t at, int value) {
    Bytes changed = frame;
    changed[at] = static_cast<std::byte>(value);
    const std::size_t descriptor_bytes = 10;
    changed[4 + descriptor_bytes] =
        static_cast<std::byte>(lz4_checksum(std::span(changed).subspan(4, descriptor_bytes)) >> 8);
    return changed;
  };
  const int flags = static_cast<int>(frame[4]), bd = static_cast<int>(frame[5]);
  EXPECT_EQ(status_of_restoring(with_descriptor(4, flags)), Status::kOk);
  EXPECT_EQ(status_of_restoring(with_descriptor(4, flags | 0x80)), Status::kUnsupportedVersion);
  EXPECT_EQ(status_of_restoring(with_descriptor(4, flags | 0x02)), Status::kUnsupportedFeature);
  EXPECT_EQ(status_of_restoring(with_descriptor(5, bd | 0x80)), Status::kUnsupportedFeature);
  EXPECT_EQ(status_of_restoring(with_descriptor(5, bd | 0x01)), Status::kUnsupportedFeature);
  EXPECT_EQ(status_of_restoring(with_descriptor(5, 0x30)), Status::kCorruptHeader);
  EXPECT_EQ(status_of_restoring(with_descriptor(6, 1)), Status::kContentSizeMismatch);
  Bytes wrong_checksum = frame;
  wrong_checksum[14] ^= std::byte{1};
  EXPECT_EQ(status_of_restoring(wrong_checksum), Status::kHeaderChecksumMismatch);
  RestoreOptions unverified;
  unverified.verify_checksums = false;
  EXPECT_EQ(status_of_restoring(wrong_checksum, unverified), Status::kOk);
  Bytes too_large = frame;
  store_le32(too_large.data() + 15, 256 * 1024 + 1);
  EXPECT_EQ(status_of_restoring(too_large), Status::kCorruptBlock);
  EXPECT_EQ(status_of_restoring(bytes_of("hello, world")), Status::kUnknownFormat);
  EXPECT_EQ(status_of_restoring(skippable_frame(10) + skippable_frame(10)), Status::kOk);
  Bytes cut_skippable = skippable_frame(10);
  cut_skippable.pop_back();
  EXPECT_EQ(status_of_restoring(cut_skippable), Status::kTruncated);
  Bytes empty_legacy_block(8);
  store_le32(empty_legacy_block.data(), kLz4LegacyMagic);
  EXPECT_EQ(status_of_restoring(empty_legacy_block + bytes_of("more")), Status::kCorruptBlock);
}

TEST(Lz4Frame, ChecksumsAreVerifiedUnlessAskedNotTo) {
  CompressOptions options;
  options.content_checksum = true;
  const Bytes content = random_bytes(1000);
  Bytes frame = compress(content, options);
  RestoreOptions unverified;
  unverified.verify_checksums = false;
  frame[frame.size() - 1] ^= std::byte{1};
  EXPECT_EQ(status_of_restoring(frame), Status::kContentChecksumMismatch);
  EXPECT_EQ(restore(frame, unverified), content);
  frame[frame.size() - 9] ^= std::byte{1};
  EXPECT_EQ(status_of_restoring(frame), Status::kBlockChecksumMismatch);
  EXPECT_EQ(restore(frame, unverified), content);
}

// A hundred thousand mutated frames without checksums: each restores to something or is refused, and nothing
// is accessed outside of its buffers.
TEST(Lz4Frame, MutatedFramesAreRestoredOrRefused) {
  std::mt19937_64 random(3);
  std::vector<Bytes> frames;
  for (const int variant : {0, 4, 0 + 64, 4 + 64}) {
    LZ4F_preferences_t preferences = preferences_of(variant);
    frames.push_back(lz4f_compress(wordy_bytes(300, static_cast<std::uint32_t>(variant)), preferences));
    frames.push_back(lz4f_compress_flushed(periodic_bytes(900, 40), 200, preferences));
  }
  frames.push_back(legacy_frame(wordy_bytes(300)));
  RestoreOptions options;
  options.verify_checksums = false;
  options.threads = 1;
  // AddressSanitizer poisons the buffers in every round, which is tens of megabytes for blocks of 4 MB.
#if defined(__SANITIZE_ADDRESS__)
  constexpr int kRounds = 3000;
#else
  constexpr int kRounds = 100000;
#endif
  int refused = 0;
  for (int round = 0; round < kRounds; round++) {
    const Bytes& frame = frames[random() % frames.size()];
    GuardedBuffer buffer(frame, round % 2 ? Against::kUpperGuard : Against::kLowerGuard);
    const auto bytes = buffer.bytes();
    for (std::uint64_t changes = 1 + random() % 4; changes > 0; changes--) {
      // A legacy header needs blocks of 8 MB, so most changes spare the magic number; otherwise every round
      // would test that.
      const std::size_t at = random() % 8 == 0 ? random() % bytes.size() : 4 + random() % (bytes.size() - 4);
      bytes[at] = static_cast<std::byte>(random());
    }
    const auto error = error_of([&] { restore(bytes.first(bytes.size() - random() % 2), options); });
    if (!error) continue;
    refused++;
    const StatusFamily family = status_family(error->status());
    EXPECT_TRUE(family == StatusFamily::kFormat || family == StatusFamily::kCorrupt ||
                family == StatusFamily::kRequest)
        << error->what();
  }
  EXPECT_GT(refused, kRounds / 5);
  EXPECT_LT(refused, kRounds);
}

TEST(Lz4Block, MutatedBlocksStayBetweenTheGuardPages) {
  const auto engine = BackendRegistry::instance().find_usable("cpu").make_engine({});
  std::mt19937_64 random(4);
  for (int round = 0; round < 20000; round++) {
    const Bytes content = round % 2 ? wordy_bytes(1 + random() % 2000, static_cast<std::uint32_t>(round))
                                    : periodic_bytes(1 + random() % 2000, 1 + random() % 20);
    Bytes packed(content.size() + 100);
    BlockTask task;
    task.input = content;
    task.output = packed;
    engine->compress({&task, 1}, {});
    ASSERT_EQ(task.status, Status::kOk);
    GuardedBuffer block(std::span<const std::byte>(packed).first(task.output_bytes));
    GuardedBuffer output(content.size());
    BlockTask back;
    back.input = block.bytes();
    back.output = output.bytes();
    engine->restore({&back, 1}, Format::kLz4);
    ASSERT_EQ(back.status, Status::kOk);
    ASSERT_TRUE(std::equal(content.begin(), content.end(), output.bytes().begin()));
    EXPECT_EQ(lz4_block_restored_bytes(block.bytes()), content.size());
    block.bytes()[random() % block.bytes().size()] = static_cast<std::byte>(random());
    engine->restore({&back, 1}, Format::kLz4);
    const auto walked = lz4_block_restored_bytes(block.bytes());
    if (back.status == Status::kOk) {
      EXPECT_EQ(walked, back.output_bytes);
    }
  }
}

TEST(Lz4Block, SizeWalkRefusesWhatDoesNotAddUp) {
  EXPECT_EQ(lz4_block_restored_bytes({}), std::nullopt);
  EXPECT_EQ(lz4_block_restored_bytes(Bytes{std::byte{0x00}}), 0u);
  EXPECT_EQ(lz4_block_restored_bytes(Bytes{std::byte{0x10}}), std::nullopt);
  EXPECT_EQ(lz4_block_restored_bytes(Bytes{std::byte{0xF0}}), std::nullopt);
  EXPECT_EQ(lz4_block_restored_bytes(Bytes{std::byte{0xF0}, std::byte{0xFF}}), std::nullopt);
  EXPECT_EQ(lz4_block_restored_bytes(Bytes{std::byte{0x10}, std::byte{'a'}, std::byte{1}}), std::nullopt);
  EXPECT_EQ(lz4_block_restored_bytes(Bytes{std::byte{0x10}, std::byte{'a'}, std::byte{1}, std::byte{0}}),
            std::nullopt);
  EXPECT_EQ(lz4_block_restored_bytes(Bytes{std::byte{0x1F}, std::byte{'a'}, std::byte{1}, std::byte{0}}),
            std::nullopt);
  EXPECT_EQ(lz4_block_restored_bytes(Bytes{std::byte{0x1F}, std::byte{'a'}, std::byte{1}, std::byte{0},
                                           std::byte{2}, std::byte{0x10}, std::byte{'b'}}),
            1u + 4 + 15 + 2 + 1);
}

TEST(Identify, KnowsDataByItsFirstBytes) {
  EXPECT_EQ(identify_data({}).kind, DataKind::kEmpty);
  EXPECT_EQ(identify_data(compress(wordy_bytes(10))).kind, DataKind::kFrame);
  EXPECT_EQ(identify_data(legacy_frame(wordy_bytes(10))).kind, DataKind::kFrame);
  EXPECT_EQ(identify_data(skippable_frame(1)).kind, DataKind::kFrame);
  EXPECT_EQ(identify_data(bytes_of("hello, world")).kind, DataKind::kUnknown);
  EXPECT_EQ(identify_data(bytes_of("\x28\xB5\x2F\xFD more")).kind, DataKind::kFrame);
  const DataIdentity bzip2 = identify_data(bytes_of("BZh9 more"));
  EXPECT_EQ(bzip2.kind, DataKind::kForeign);
  EXPECT_EQ(bzip2.foreign_name, "bzip2");
  EXPECT_EQ(bzip2.foreign_tool, "bzip2 -d");
  EXPECT_EQ(identify_data(bytes_of("\x1F\x8B")).kind, DataKind::kFrame);
  EXPECT_EQ(identify_data(bytes_of("\x1F")).kind, DataKind::kUnknown);
}

}  // namespace
}  // namespace hemstitch::testing
