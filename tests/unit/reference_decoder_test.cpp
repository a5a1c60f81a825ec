// The reference decoder of LZ4 blocks, compared with liblz4 on valid and damaged blocks. All buffers end at
// guard pages.
#include <gtest/gtest.h>
#include <lz4hc.h>

#include <random>

#include "format/lz4/block/lz4_block_size.hpp"
#include "format/lz4/restore/lz4_restore_reference.hpp"
#include "guarded_buffer.hpp"
#include "shapes.hpp"

namespace hemstitch {
namespace {

using namespace testing;

Bytes bytes_of(std::initializer_list<int> values) {
  Bytes bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

struct Outcome {
  Status status;
  Bytes bytes;  // if the status is kOk
};

Outcome decode(std::span<const std::byte> block, std::size_t room, std::span<const std::byte> history = {},
               Against against = Against::kUpperGuard) {
  GuardedBuffer guarded_block(block, against), guarded_history(history, against), output(room, against);
  const DecodedBlock decoded =
      restore_lz4_block_reference(guarded_block.bytes(), guarded_history.bytes(), output.bytes());
  if (decoded.status != Status::kOk) return {decoded.status, {}};
  const auto restored = output.bytes().first(decoded.bytes);
  return {Status::kOk, Bytes(restored.begin(), restored.end())};
}

bool has_offset_zero(std::span<const std::byte> block) {
  std::size_t at = 0;
  const auto skip_extension = [&](std::uint32_t nibble) {
    std::size_t value = nibble;
    while (nibble == 15 && at < block.size()) {
      const auto byte = static_cast<std::uint32_t>(block[at++]);
      value += byte;
      if (byte != 255) break;
    }
    return value;
  };
  while (at < block.size()) {
    const auto token = static_cast<std::uint32_t>(block[at++]);
    at += skip_extension(token >> 4);
    if (at + 2 > block.size()) return false;
    if (block[at] == std::byte{0} && block[at + 1] == std::byte{0}) return true;
    at += 2;
    skip_extension(token & 15);
  }
  return false;
}

// If liblz4 accepts a block in which no offset is 0, ours must accept it with the same bytes. Returns our
// outcome.
Outcome expect_no_stricter_than_liblz4(std::span<const std::byte> block, std::size_t room,
                                       std::span<const std::byte> history = {}) {
  const Outcome ours = decode(block, room, history);
  EXPECT_TRUE(ours.status == Status::kOk || ours.status == Status::kCorruptBlock ||
              ours.status == Status::kOutputTooSmall);
  Bytes theirs(room + 1);
  const int count = LZ4_decompress_safe_usingDict(
      reinterpret_cast<const char*>(block.data()), reinterpret_cast<char*>(theirs.data()),
      static_cast<int>(block.size()), static_cast<int>(room), reinterpret_cast<const char*>(history.data()),
      static_cast<int>(history.size()));
  if (count >= 0 && !has_offset_zero(block)) {
    theirs.resize(static_cast<std::size_t>(count));
    EXPECT_EQ(ours.status, Status::kOk);
    EXPECT_EQ(ours.bytes, theirs);
  }
  if (ours.status == Status::kOk) {
    EXPECT_EQ(lz4_block_restored_bytes(block), ours.bytes.size());
  }
  return ours;
}

Bytes block_by_liblz4(std::span<const std::byte> raw, int level) {
  Bytes block(raw.size() + raw.size() / 255 + 16);
  const int count =
      LZ4_compress_HC(reinterpret_cast<const char*>(raw.data()), reinterpret_cast<char*>(block.data()),
                      static_cast<int>(raw.size()), static_cast<int>(block.size()), level);
  block.resize(static_cast<std::size_t>(count));
  return block;
}

TEST(ReferenceDecoder, RestoresWhatLiblz4Writes) {
  for (const Shape& shape : boundary_shapes(65537)) {
    if (shape.bytes.empty()) continue;
    const Bytes block = block_by_liblz4(shape.bytes, 3);
    for (const Against against : {Against::kUpperGuard, Against::kLowerGuard}) {
      const Outcome outcome = decode(block, shape.bytes.size(), {}, against);
      ASSERT_EQ(outcome.status, Status::kOk) << shape.name;
      ASSERT_EQ(outcome.bytes, shape.bytes) << shape.name;
    }
    ASSERT_EQ(decode(block, shape.bytes.size() - 1).status, Status::kOutputTooSmall) << shape.name;
  }
}

TEST(ReferenceDecoder, SaysWhatIsWrong) {
  const auto status = [](const Bytes& block, std::size_t room = 100, const Bytes& history = {}) {
    return decode(block, room, history).status;
  };
  EXPECT_EQ(status({}), Status::kCorruptBlock);
  EXPECT_EQ(status(bytes_of({0x00})), Status::kOk);
  EXPECT_EQ(status(bytes_of({0x00}), 0), Status::kOk);
  EXPECT_EQ(status(bytes_of({0x10})), Status::kCorruptBlock);  // a literal is missing
  EXPECT_EQ(status(bytes_of({0x10, 'a'})), Status::kOk);
  EXPECT_EQ(status(bytes_of({0x10, 'a'}), 0), Status::kOutputTooSmall);
  EXPECT_EQ(status(bytes_of({0xF0})), Status::kCorruptBlock);                   // a count is missing
  EXPECT_EQ(status(bytes_of({0xF0, 255})), Status::kCorruptBlock);              // the count does not end
  EXPECT_EQ(status(bytes_of({0x10, 'a', 1})), Status::kCorruptBlock);           // half an offset
  EXPECT_EQ(status(bytes_of({0x10, 'a', 1, 0})), Status::kCorruptBlock);        // ends after a match
  EXPECT_EQ(status(bytes_of({0x10, 'a', 1, 0, 0x00})), Status::kOk);            // ends after no literals
  EXPECT_EQ(status(bytes_of({0x10, 'a', 0, 0, 0x00})), Status::kCorruptBlock);  // offset 0
  EXPECT_EQ(status(bytes_of({0x10, 'a', 2, 0, 0x00})), Status::kCorruptBlock);  // before the block
  EXPECT_EQ(status(bytes_of({0x10, 'a', 2, 0, 0x00}), 100, bytes_of({'b'})), Status::kOk);
  EXPECT_EQ(status(bytes_of({0x10, 'a', 3, 0, 0x00}), 100, bytes_of({'b'})), Status::kCorruptBlock);
  EXPECT_EQ(status(bytes_of({0x1F, 'a', 1, 0})), Status::kCorruptBlock);     // a length is missing
  EXPECT_EQ(status(bytes_of({0x1F, 'a', 1, 0, 0, 0x00}), 20), Status::kOk);  // 1 + 19 bytes
  EXPECT_EQ(status(bytes_of({0x1F, 'a', 1, 0, 0, 0x00}), 19), Status::kOutputTooSmall);
}

TEST(ReferenceDecoder, AMatchMayRepeatItselfAndReachIntoTheHistory) {
  const Outcome run = decode(bytes_of({0x12, 'a', 1, 0, 0x00}), 100);
  EXPECT_EQ(run.bytes, bytes_of({'a', 'a', 'a', 'a', 'a', 'a', 'a'}));
  // The match begins two bytes before the block, continues into it, and then into what it has just written.
  const Outcome crossing = decode(bytes_of({0x12, 'c', 3, 0, 0x00}), 100, bytes_of({'x', 'a', 'b'}));
  EXPECT_EQ(crossing.bytes, bytes_of({'c', 'a', 'b', 'c', 'a', 'b', 'c'}));
}

TEST(ReferenceDecoder, EveryTruncationIsRefusedOrGivesABeginning) {
  for (const Shape& shape : shapes_of(1500)) {
    const Bytes block = block_by_liblz4(shape.bytes, 9);
    for (std::size_t kept = 0; kept < block.size(); ++kept) {
      const Outcome outcome =
          expect_no_stricter_than_liblz4(std::span(block).first(kept), shape.bytes.size());
      if (outcome.status != Status::kOk) {
        ASSERT_EQ(outcome.status, Status::kCorruptBlock) << shape.name << ", " << kept;
        continue;
      }
      ASSERT_LE(outcome.bytes.size(), shape.bytes.size());
      ASSERT_TRUE(std::equal(outcome.bytes.begin(), outcome.bytes.end(), shape.bytes.begin()))
          << shape.name << ", " << kept;
    }
    if (HasFailure()) return;
  }
}

TEST(ReferenceDecoder, DamagedBlocksAreTreatedAsLiblz4TreatsThem) {
  std::mt19937 random(1);
  int accepted = 0;
  for (const Shape& shape : shapes_of(1200)) {
    const Bytes sound = block_by_liblz4(shape.bytes, 9);
    const Bytes history = random_bytes(random() % 3000, 9, 4);
    for (int round = 0; round < 400; ++round) {
      Bytes block = sound;
      for (std::uint32_t change = 0; change <= random() % 3; ++change)
        block[random() % block.size()] = static_cast<std::byte>(random() % 256);
      const std::size_t room = shape.bytes.size() + random() % 3 - 1;
      if (expect_no_stricter_than_liblz4(block, room, history).status == Status::kOk) ++accepted;
      if (HasFailure()) FAIL() << shape.name << ", round " << round;
    }
  }
  EXPECT_GT(accepted, 100);  // otherwise nothing was compared
}

TEST(ReferenceDecoder, RandomBytesAreTreatedAsLiblz4TreatsThem) {
  std::mt19937 random(2);
  int accepted = 0;
  for (int round = 0; round < 20'000; ++round) {
    // Bytes below 40 are short runs of literals and small offsets, so some of these blocks are valid by
    // chance.
    const std::size_t block_bytes = random() % 40;
    const Bytes block =
        random_bytes(block_bytes, static_cast<std::uint32_t>(round), round % 2 == 0 ? 256 : 40);
    const Bytes history = random_bytes(random() % 2 * 300, 3);
    if (expect_no_stricter_than_liblz4(block, random() % 200, history).status == Status::kOk) ++accepted;
    if (HasFailure()) FAIL() << "round " << round;
  }
  EXPECT_GT(accepted, 100);
}

}  // namespace
}  // namespace hemstitch
