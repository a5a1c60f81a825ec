// Planes of bytes and of bits on the processor, compared with plain loops, between pages that cannot be touched.
#include "compact/bitshuffle/bitshuffle.hpp"

#include <gtest/gtest.h>

#include "compact/shuffle/byte_planes.hpp"
#include "core/status.hpp"
#include "guarded_buffer.hpp"
#include "shapes.hpp"

namespace hemstitch {
namespace {

using testing::Against;
using testing::Bytes;
using testing::GuardedBuffer;

std::vector<std::uint32_t> sizes_of_elements() {
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t bytes = 1; bytes <= 20; ++bytes) sizes.push_back(bytes);
  for (const std::uint32_t bytes : {24u, 32u, 33u, 255u, kMostElementBytes}) sizes.push_back(bytes);
  return sizes;
}

std::vector<std::size_t> counts_of_elements() {
  std::vector<std::size_t> counts;
  for (std::size_t count = 0; count <= 70; ++count) counts.push_back(count);
  for (const std::size_t around : {128u, 256u, 1024u, 4096u})
    for (std::size_t count = around - 9; count <= around + 9; count += 3) counts.push_back(count);
  return counts;
}

TEST(BytePlanes, AreThoseOfAPlainLoop) {
  for (const std::uint32_t element_bytes : sizes_of_elements())
    for (const std::size_t count : counts_of_elements()) {
      if (count * element_bytes > 100'000) continue;
      for (const Against against : {Against::kUpperGuard, Against::kLowerGuard}) {
        const Bytes elements = testing::random_bytes(count * element_bytes, element_bytes);
        Bytes expected(elements.size());
        split_planes_reference(elements.data(), element_bytes, count, expected.data(), count);
        GuardedBuffer source(elements, against), planes(elements.size(), against),
            back(elements.size(), against);
        split_planes(source.bytes().data(), element_bytes, count, planes.bytes().data(), count);
        ASSERT_TRUE(std::ranges::equal(planes.bytes(), expected))
            << count << " elements of " << element_bytes;
        join_planes(planes.bytes().data(), count, element_bytes, count, back.bytes().data());
        ASSERT_TRUE(std::ranges::equal(back.bytes(), elements)) << count << " elements of " << element_bytes;
      }
    }
}

// In numpy, of whole blocks: packbits(unpackbits(source.reshape(n, S), axis=1, bitorder="little").T, axis=1, bitorder="little")
TEST(Bitshuffle, PutsTheBitsOfElementsInPlanes) {
  // Eight elements of two bytes: element i has bit i of its first byte, and all have bit 7 of the second.
  Bytes source, expected;
  for (unsigned i = 0; i < 8; ++i) {
    source.push_back(static_cast<std::byte>(1u << i));
    source.push_back(std::byte{0x80});
    expected.push_back(static_cast<std::byte>(1u << i));
  }
  expected.resize(15);
  expected.push_back(std::byte{0xFF});
  for (const std::byte left : {std::byte{1}, std::byte{2}, std::byte{3}}) {
    source.push_back(left);
    expected.push_back(left);
  }
  Bytes result(source.size());
  bitshuffle_bytes(source, 2, 0, result);
  EXPECT_EQ(result, expected);
  bitshuffle_reference(source, 2, 0, result);
  EXPECT_EQ(result, expected);
  bitunshuffle_bytes(expected, 2, 0, result);
  EXPECT_EQ(result, source);
}

TEST(Bitshuffle, IsThatOfItsTwin) {
  for (const std::uint32_t element_bytes : sizes_of_elements())
    for (const std::size_t count : counts_of_elements())
      for (const std::size_t block_elements : {0u, 8u, 136u, 1024u}) {
        const std::size_t bytes = count * element_bytes + count % element_bytes;
        // Blocks as long as everything are no other case.
        if (bytes > 30'000 || block_elements > count) continue;
        const std::size_t block_bytes = block_elements * element_bytes;
        const Against against = count % 2 == 0 ? Against::kUpperGuard : Against::kLowerGuard;
        const Bytes elements = testing::random_bytes(bytes, element_bytes);
        Bytes expected(bytes), expected_back(bytes);
        bitshuffle_reference(elements, element_bytes, block_bytes, expected);
        bitunshuffle_reference(expected, element_bytes, block_bytes, expected_back);
        ASSERT_EQ(expected_back, elements);
        GuardedBuffer source(elements, against), planes(bytes, against), back(bytes, against);
        bitshuffle_bytes(source.bytes(), element_bytes, block_bytes, planes.bytes());
        ASSERT_TRUE(std::ranges::equal(planes.bytes(), expected))
            << bytes << " bytes, elements of " << element_bytes << ", blocks of " << block_bytes;
        bitunshuffle_bytes(planes.bytes(), element_bytes, block_bytes, back.bytes());
        ASSERT_TRUE(std::ranges::equal(back.bytes(), elements))
            << bytes << " bytes, elements of " << element_bytes << ", blocks of " << block_bytes;
      }
}

TEST(Bitshuffle, RefusesOtherSizesAndBlocks) {
  const auto status_of = [](const auto& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.status();
    }
    return Status::kOk;
  };
  Bytes bytes(64), same(64), other(65);
  for (const auto call : {bitshuffle_bytes, bitunshuffle_bytes}) {
    EXPECT_EQ(status_of([&] { call(bytes, 4, 0, other); }), Status::kInvalidOption);
    EXPECT_EQ(status_of([&] { call(bytes, 4, 0, bytes); }), Status::kInvalidOption);
    EXPECT_EQ(status_of([&] { call(bytes, 0, 0, same); }), Status::kInvalidOption);
    EXPECT_EQ(status_of([&] { call(bytes, kMostElementBytes + 1, 0, same); }), Status::kInvalidOption);
    EXPECT_EQ(status_of([&] { call(bytes, 4, 16, same); }), Status::kInvalidOption);
    EXPECT_EQ(status_of([&] { call(bytes, 4, 33, same); }), Status::kInvalidOption);
    EXPECT_EQ(status_of([&] { call(bytes, 4, 32, same); }), Status::kOk);
    EXPECT_EQ(status_of([&] { call(bytes, 4, std::size_t{1} << 60, same); }), Status::kOk);
  }
}

}  // namespace
}  // namespace hemstitch
