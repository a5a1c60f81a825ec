// What decoders of streams in pieces have in common: pieces of input, memory for content, and content on its way.
#include "format/stream/piece_stream.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "format/stream/arrivals.hpp"
#include "format/stream/content_pool.hpp"

namespace hemstitch {
namespace {

// Takes bytes into pieces of three, and restores none of them.
class KeptStream : public PieceStream {
 public:
  explicit KeptStream(const std::string& bytes) {
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
      auto piece = std::make_shared<StreamPiece>();
      piece->begin = at;
      piece->own_bytes = std::min<std::size_t>(3, bytes.size() - at);
      piece->memory = LargeBuffer(3);
      std::copy_n(std::as_bytes(std::span(bytes)).begin() + static_cast<std::ptrdiff_t>(at), piece->own_bytes,
                  piece->memory.get());
      pieces_.push_back(std::move(piece));
    }
    taken_bytes_ = bytes.size();
  }
  StreamStep restore(std::span<const std::byte>, std::span<std::byte>) override { return {}; }
  void go_to_bit(std::uint64_t bits) { go_to({bits, {}}); }
  std::byte first_byte_at(std::uint64_t bits) const { return first_byte({bits, {}}); }

 private:
  std::span<const std::byte> kept_from(std::uint64_t byte) const override {
    const StreamPiece* const piece = piece_with(pieces_, byte);
    return piece == nullptr ? std::span<const std::byte>() : piece->from(byte);
  }
  std::vector<std::shared_ptr<StreamPiece>> pieces_;
};

std::string read(KeptStream& stream, std::size_t bytes) {
  std::string read(bytes, '.');
  read.resize(stream.read_ahead(std::as_writable_bytes(std::span(read))));
  return read;
}

TEST(PieceStream, ReadsAheadOverPieces) {
  KeptStream stream("0123456789");
  EXPECT_EQ(stream.ahead_bytes(), 10u);
  EXPECT_EQ(read(stream, 2), "01");
  EXPECT_EQ(read(stream, 5), "23456");
  EXPECT_EQ(stream.ahead_bytes(), 3u);
  EXPECT_EQ(read(stream, 5), "789");
  EXPECT_EQ(read(stream, 5), "");
}

TEST(PieceStream, ALinkInsideAByteIsBehindIt) {
  KeptStream stream("0123456789");
  EXPECT_EQ(stream.first_byte_at(8 * 4 + 1), static_cast<std::byte>('4'));
  EXPECT_EQ(stream.first_byte_at(8 * 4), std::byte{0});
  EXPECT_EQ(stream.first_byte_at(8 * 20 + 1), std::byte{0});
  stream.go_to_bit(8 * 4 + 1);
  EXPECT_EQ(read(stream, 2), "56");
  stream.go_to_bit(8 * 4);
  EXPECT_EQ(read(stream, 2), "45");
}

TEST(ContentPool, RoomsThatNobodyUsesGiveTheirMemory) {
  constexpr std::size_t kPage = std::size_t{64} << 10;
  const auto pool = std::make_shared<ContentPool>(4 * kPage, 5 * kPage, 2 * kPage);
  auto first = pool->take(2 * kPage);
  ASSERT_TRUE(first);
  EXPECT_TRUE(pool->may_write(*first, 4 * kPage));
  EXPECT_FALSE(pool->take(2 * kPage));  // only a page is left
  auto second = pool->take(kPage);
  ASSERT_TRUE(second);
  EXPECT_FALSE(pool->may_write(*second, 2 * kPage));
  first = nullptr;  // keeps two pages, and gives those too
  EXPECT_TRUE(pool->may_write(*second, 4 * kPage));
  EXPECT_TRUE(pool->take(kPage));
}

TEST(ContentPool, WhatIsReservedAndNotWrittenReturns) {
  constexpr std::size_t kPage = std::size_t{64} << 10;
  const auto pool = std::make_shared<ContentPool>(4 * kPage, 4 * kPage, 0);
  const auto first = pool->take(4 * kPage);
  ASSERT_TRUE(first && pool->may_write(*first, 1));
  EXPECT_FALSE(pool->take(kPage));
  pool->has_written(*first);
  EXPECT_TRUE(pool->take(3 * kPage));
}

TEST(Arrivals, ComeInOrderAndStayUntilTheyHaveCome) {
  std::mutex mutex;
  Arrivals<char> arrivals(mutex);
  EXPECT_EQ(arrivals.under_way(), 0u);
  for (const char arrival : {'a', 'b', 'c'}) arrivals.add(arrival);
  EXPECT_EQ(arrivals.under_way(), 3u);
  std::string came;
  int emptied = 0;
  bool fails = true;
  const auto receive = [&](char arrival) {
    if (arrival == 'b' && std::exchange(fails, false)) throw std::runtime_error("not yet");
    came += arrival;
  };
  const auto settle = [&](std::uint64_t number) { arrivals.settle(number, receive, [&] { ++emptied; }); };
  settle(1);
  EXPECT_EQ(came, "a");
  EXPECT_THROW(settle(2), std::runtime_error);
  settle(2);
  EXPECT_EQ(came, "ab");
  EXPECT_EQ(emptied, 0);
  settle(UINT64_MAX);
  EXPECT_EQ(came, "abc");
  EXPECT_EQ(emptied, 1);
  EXPECT_EQ(arrivals.under_way(), 0u);
  EXPECT_EQ(arrivals.add('d'), 4u);
}

}  // namespace
}  // namespace hemstitch
