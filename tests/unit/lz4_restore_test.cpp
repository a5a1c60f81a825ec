// The processor's LZ4 block decoder: the verdict of the reference decoder for valid, damaged and crafted
// blocks, between guard pages; and offsets of 0, which liblz4 1.9.4 accepts.
#include "format/lz4/restore/lz4_restore.hpp"

#include <gtest/gtest.h>
#include <lz4.h>
#include <lz4hc.h>

#include <random>

#include "core/bytes.hpp"
#include "engine/registry.hpp"
#include "format/lz4/frame/lz4_frame.hpp"
#include "guarded_buffer.hpp"
#include "lz4f_oracle.hpp"
#include "search/compressed_texts.hpp"
#include "shapes.hpp"

namespace hemstitch::testing {
namespace {

// Whether history and output are one piece of memory, as in linked blocks, or apart, as with a dictionary.
enum class History { kBefore, kApart };

struct Outcome {
  Status status;
  Bytes bytes;  // if the status is kOk
  bool operator==(const Outcome&) const = default;
};

template <class Decode>
Outcome outcome_of(Decode decode, std::span<const std::byte> block, std::span<const std::byte> history,
                   std::size_t room, Against against, History kind) {
  GuardedBuffer guarded_block(block, against);
  const std::size_t before = kind == History::kBefore ? history.size() : 0;
  GuardedBuffer memory(before + room, against), apart(history, against);
  std::copy(history.begin(), history.begin() + static_cast<std::ptrdiff_t>(before), memory.bytes().begin());
  const std::span<std::byte> output = memory.bytes().subspan(before);
  const DecodedBlock decoded =
      decode(guarded_block.bytes(), before != 0 ? memory.bytes().first(before) : apart.bytes(), output);
  if (!std::equal(history.begin(), history.begin() + static_cast<std::ptrdiff_t>(before),
                  memory.bytes().begin()))
    ADD_FAILURE() << "the history was written to";
  if (decoded.status != Status::kOk) return {decoded.status, {}};
  const auto restored = output.first(decoded.bytes);
  return {Status::kOk, Bytes(restored.begin(), restored.end())};
}

// Returns the reference's outcome; the decoder must have the same, with every placement of the buffers.
Outcome expect_the_references(std::span<const std::byte> block, std::span<const std::byte> history,
                              std::size_t room) {
  const Outcome expected =
      outcome_of(restore_lz4_block_reference, block, history, room, Against::kUpperGuard, History::kApart);
  for (const Against against : {Against::kUpperGuard, Against::kLowerGuard})
    for (const History kind : {History::kBefore, History::kApart}) {
      const Outcome found = outcome_of(restore_lz4_block, block, history, room, against, kind);
      EXPECT_TRUE(found == expected) << static_cast<int>(found.status) << " instead of "
                                     << static_cast<int>(expected.status);
    }
  return expected;
}

Bytes block_of(std::span<const std::byte> raw, int level, const Bytes& history = {}) {
  Bytes block(raw.size() + raw.size() / 255 + 16);
  const auto chars = [](auto& bytes) { return reinterpret_cast<const char*>(bytes.data()); };
  LZ4_streamHC_t* const state = LZ4_createStreamHC();
  LZ4_resetStreamHC_fast(state, level);
  LZ4_loadDictHC(state, chars(history), static_cast<int>(history.size()));
  const int count = LZ4_compress_HC_continue(state, chars(raw), reinterpret_cast<char*>(block.data()),
                                             static_cast<int>(raw.size()), static_cast<int>(block.size()));
  LZ4_freeStreamHC(state);
  block.resize(static_cast<std::size_t>(count));
  return block;
}

TEST(Lz4Decoder, RestoresWhatLiblz4Writes) {
  for (const Shape& shape : boundary_shapes(65537)) {
    if (shape.bytes.empty()) continue;
    const Bytes block = block_of(shape.bytes, 3);
    EXPECT_EQ(expect_the_references(block, {}, shape.bytes.size()).bytes, shape.bytes) << shape.name;
    expect_the_references(block, {}, shape.bytes.size() + 100);
    expect_the_references(block, {}, shape.bytes.size() - 1);
    if (HasFailure()) FAIL() << shape.name;
  }
  // A history that is longer than offsets reach.
  const Bytes history = copied_bytes(70'000, 1),
              raw = Bytes(history.end() - 66'000, history.end()) + copied_bytes(5000, 2);
  EXPECT_EQ(expect_the_references(block_of(raw, 9, history), history, raw.size()).bytes, raw);
}

// All lengths of literals and of matches, with all short offsets, far from the ends and close to them.
TEST(Lz4Decoder, CopiesEveryLengthAndOffset) {
  const Bytes noise = random_bytes(400, 1);
  for (std::size_t offset = 1; offset <= 40; ++offset)
    for (const std::size_t literals : {0, 1, 13, 14, 15, 16, 17, 31, 32, 33, 64, 270})
      for (const std::size_t length : {4, 5, 15, 18, 19, 20, 31, 32, 33, 47, 48, 49, 273, 274, 275, 600})
        for (const std::size_t behind : {0, 5, 12, 40, 100}) {
          // 40 literals as the source, then the sequence, then literals.
          Bytes block;
          const auto sequence = [&](std::size_t count, std::size_t match) {
            const auto nibble = [](std::size_t value) { return std::min<std::size_t>(value, 15); };
            const auto extend = [&](std::size_t value) {
              if (value < 15) return;
              for (value -= 15; value >= 255; value -= 255) block.push_back(std::byte{255});
              block.push_back(static_cast<std::byte>(value));
            };
            block.push_back(
                static_cast<std::byte>(nibble(count) << 4 | (match == 0 ? 0 : nibble(match - 4))));
            extend(count);
            block.insert(block.end(), noise.begin(), noise.begin() + static_cast<std::ptrdiff_t>(count));
            if (match == 0) return;
            block.push_back(static_cast<std::byte>(offset));
            block.push_back(std::byte{0});
            extend(match - 4);
          };
          sequence(40, 4);
          sequence(literals, length);
          sequence(behind, 0);
          const std::size_t bytes = 40 + 4 + literals + length + behind;
          Bytes expected(bytes);
          ASSERT_EQ(restore_lz4_block_reference(block, {}, expected).bytes, bytes);
          for (const std::size_t room : {bytes, bytes + 31, bytes + 200}) {
            Bytes output(room);
            const DecodedBlock found = restore_lz4_block(block, {}, output);
            output.resize(found.bytes);
            ASSERT_TRUE(found.status == Status::kOk && output == expected)
                << offset << ", " << literals << ", " << length << ", " << behind;
          }
        }
}

TEST(Lz4Decoder, SaysOfEveryTruncationWhatTheReferenceSays) {
  for (const Shape& shape : shapes_of(700)) {
    const Bytes block = block_of(shape.bytes, 9);
    for (std::size_t kept = 0; kept < block.size(); ++kept) {
      expect_the_references(std::span(block).first(kept), {}, shape.bytes.size());
      if (HasFailure()) FAIL() << shape.name << ", " << kept;
    }
  }
}

TEST(Lz4Decoder, SaysOfDamagedBlocksWhatTheReferenceSays) {
  std::mt19937 random(1);
  int accepted = 0, refused = 0;
  for (const Shape& shape : shapes_of(1500)) {
    const Bytes history = random_bytes(random() % 2 * 3000, 9, 4);
    const Bytes sound = block_of(shape.bytes, 9, history);
    for (int round = 0; round < 250; ++round) {
      Bytes block = sound;
      for (std::uint32_t change = 0; change <= random() % 3; ++change)
        block[random() % block.size()] =
            random() % 4 == 0 ? std::byte{0} : static_cast<std::byte>(random() % 256);
      const std::size_t room = shape.bytes.size() + random() % 200 - 100;
      (expect_the_references(block, history, room).status == Status::kOk ? accepted : refused)++;
      if (HasFailure()) FAIL() << shape.name << ", round " << round;
    }
  }
  EXPECT_GT(accepted, 100);
  EXPECT_GT(refused, 100);
}

// Crafted with correct checksums: a match with an offset of 0 within a block.
TEST(Lz4Decoder, OffsetsOfZeroAreDamageOnEveryBackend) {
  const Bytes text = wordy_bytes(3000, 4);
  Bytes block = block_of(text, 9);
  // The first offset of the block comes after its first token and literals.
  std::size_t at = 1, literals = static_cast<std::size_t>(block[0]) >> 4;
  if (literals == 15) literals += static_cast<std::size_t>(block[at++]);
  ASSERT_LT(literals, 270u);
  at += literals;
  block[at] = block[at + 1] = std::byte{0};

  FrameHeader header;
  header.block_checksums = true;
  header.block_bytes = 64 << 10;
  header.content_bytes = text.size();
  Bytes frame = write_lz4_frame_header(header);
  const auto add_word = [&](std::uint32_t word) {
    frame.resize(frame.size() + 4);
    store_le32(frame.data() + frame.size() - 4, word);
  };
  add_word(static_cast<std::uint32_t>(block.size()));
  frame = frame + block;
  add_word(lz4_checksum(block));
  add_word(0);
  if (LZ4_versionNumber() == 10904) {
    EXPECT_TRUE(lz4f_restore(frame));
  }
  for (const std::string backend : {"cpu", "reference"}) {
    RestoreOptions options;
    options.backend = backend;
    try {
      restore(frame, options);
      ADD_FAILURE() << backend;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kCorruptBlock) << backend;
      EXPECT_EQ(error.place().block, 1u);
    }
  }
  TextRestorer texts(std::size_t{4} << 20);
  EXPECT_FALSE(texts.restore(frame));
}

}  // namespace
}  // namespace hemstitch::testing
