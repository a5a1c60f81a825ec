// A piece of a DEFLATE stream on a CUDA device, compared with zlib: what is returned must be a beginning of
// what zlib restores, with the right checksums. Valid streams must be restored completely, unless limits are
// tiny. Input, output and scratch memory are between guard bytes.
#include <zlib.h>

#include <atomic>
#include <cstdlib>
#include <optional>
#include <random>
#include <thread>

#include "cuda_test.hpp"
#include "deflate_streams.hpp"
#include "format/deflate/block/deflate_symbols.hpp"
#include "format/deflate/stream/deflate_stream_cuda.hpp"
#include "gpu/cuda/device_buffer.hpp"
#include "gpu/cuda/pinned_pool.hpp"
#include "shapes.hpp"
#include "valid_data/valid_data.hpp"

namespace hemstitch {
namespace {

using cuda::DeflatePieceEnd;
using cuda::DeflatePieceLimits;
using cuda::DeflatePieceResult;
using testing::Bytes;
using testing::DeflateBitWriter;
using testing::zlib_stream;

constexpr std::byte kGuard{0xA5};
constexpr std::size_t kGuardBytes = 64;
constexpr std::size_t kGzipHeaderBytes = 10;  // as zlib writes it
constexpr int kGzipBits = MAX_WBITS + 16;

// What zlib's inflate restores of raw DEFLATE before it meets damage, and whether it reached the end.
struct ByZlib {
  Bytes content;
  bool ended = false;
};
ByZlib by_zlib(std::span<const std::byte> data) {
  ByZlib result;
  z_stream stream{};
  inflateInit2(&stream, -MAX_WBITS);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(data.data()));
  stream.avail_in = static_cast<uInt>(data.size());
  int status = Z_OK;
  while (status == Z_OK) {
    result.content.resize(result.content.size() + 1'000'000);
    stream.next_out = reinterpret_cast<Bytef*>(result.content.data() + stream.total_out);
    stream.avail_out = static_cast<uInt>(result.content.size() - stream.total_out);
    status = inflate(&stream, Z_SYNC_FLUSH);
  }
  result.content.resize(stream.total_out);
  result.ended = status == Z_STREAM_END;
  inflateEnd(&stream);
  return result;
}

Bytes joined(std::initializer_list<Bytes> parts) {
  Bytes all;
  for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

Bytes gzip(const Bytes& content, int level = 6) {
  return zlib_stream(content, level, Z_DEFAULT_STRATEGY, 8, kGzipBits);
}

// Limits with which small inputs cross every boundary.
DeflatePieceLimits tight() {
  DeflatePieceLimits limits = cuda::deflate_piece_limits(std::size_t{1} << 20, std::size_t{4} << 20);
  limits.spacing_bytes = cuda::kDeflateLeastSpacing;
  limits.pages = 1024;
  return limits;
}

struct Piece {
  std::span<const std::byte> data;
  std::uint64_t begin_bits = 0;
  Bytes window = {};
  bool members = false;
  std::size_t capacity = 0;
  std::size_t alignment = 0;
  std::optional<std::uint64_t> begun_at =
      {};  // a bit: begun there before the link and the window are known, then finished
};
struct Restored {
  DeflatePieceResult result;
  Bytes content;
  bool found = true;  // whether the link was found among the starts of the piece that was begun before it
};

class DeflateStreamDeviceTest : public CudaStreamTest {
 protected:
  Restored restore(const Piece& piece, const DeflatePieceLimits& limits) const {
    const std::size_t scratch_bytes = cuda::restore_deflate_piece_cuda_scratch_bytes(limits);
    const Buffer input(kGuardBytes + piece.alignment + piece.data.size() + kGuardBytes, stream_->get());
    const Buffer window(piece.window.size(), stream_->get());
    const Buffer output(2 * kGuardBytes + piece.alignment + piece.capacity, stream_->get());
    const Buffer scratch(scratch_bytes + kGuardBytes, stream_->get());
    std::byte* const d_input = input.get() + kGuardBytes + piece.alignment;
    std::byte* const d_output = output.get() + kGuardBytes + piece.alignment;
    for (const Buffer* buffer : {&input, &output, &scratch})
      cuda::check(
          cudaMemsetAsync(buffer->get(), std::to_integer<int>(kGuard), buffer->bytes(), stream_->get()),
          "cudaMemsetAsync");
    cuda::check(
        cudaMemcpyAsync(d_input, piece.data.data(), piece.data.size(), cudaMemcpyDefault, stream_->get()),
        "cudaMemcpyAsync");
    cuda::check(cudaMemcpyAsync(window.get(), piece.window.data(), piece.window.size(), cudaMemcpyDefault,
                                stream_->get()),
                "cudaMemcpyAsync");
    Restored restored;
    cuda::DeflatePieceInput linked{d_input,
                                   piece.data.size(),
                                   piece.begin_bits,
                                   window.get(),
                                   static_cast<std::uint32_t>(piece.window.size()),
                                   piece.members};
    if (piece.begun_at) {
      const cuda::PinnedPool::Block mailbox = pinned_.take(cuda::kDeflateMailboxBytes);
      linked.h_mailbox = mailbox.span().data();
      cuda::DeflatePieceInput begun = linked;
      begun.begin_bits = *piece.begun_at;
      begun.d_window = nullptr;
      begun.window_bytes = kDeflateWindowBytes;
      const auto counts =
          cuda::begin_deflate_piece_cuda(begun, limits, scratch.get(), scratch_bytes, stream_->get());
      const auto found = cuda::finish_deflate_piece_cuda(linked, counts, limits, d_output, piece.capacity,
                                                         scratch.get(), scratch_bytes, stream_->get());
      restored.found = found.has_value();
      restored.result = found.value_or(DeflatePieceResult{});
    } else {
      restored.result = cuda::restore_deflate_piece_cuda(linked, limits, d_output, piece.capacity,
                                                         scratch.get(), scratch_bytes, stream_->get());
    }
    Bytes all(output.bytes()), behind_scratch(kGuardBytes);
    cuda::check(cudaMemcpyAsync(all.data(), output.get(), all.size(), cudaMemcpyDefault, stream_->get()),
                "cudaMemcpyAsync");
    cuda::check(cudaMemcpyAsync(behind_scratch.data(), scratch.get() + scratch_bytes, kGuardBytes,
                                cudaMemcpyDefault, stream_->get()),
                "cudaMemcpyAsync");
    stream_->synchronize();
    const std::size_t begin = kGuardBytes + piece.alignment;
    EXPECT_LE(restored.result.content_bytes, piece.capacity);
    for (std::size_t i = 0; i < all.size(); ++i)
      if ((i < begin || i >= begin + piece.capacity) && all[i] != kGuard) {
        ADD_FAILURE() << "byte " << i << " of the output's surroundings is written";
        break;
      }
    for (const std::byte byte : behind_scratch) EXPECT_EQ(byte, kGuard) << "behind the scratch memory";
    restored.content.assign(all.begin() + static_cast<std::ptrdiff_t>(begin),
                            all.begin() + static_cast<std::ptrdiff_t>(begin + restored.result.content_bytes));
    return restored;
  }

  // Compares content, checksums and members with what is expected. Returns whether everything is there.
  static bool is_beginning(const Restored& restored, const Bytes& expected, const std::string& name) {
    const DeflatePieceResult& result = restored.result;
    const bool begins = restored.content.size() <= expected.size() &&
                        std::equal(restored.content.begin(), restored.content.end(), expected.begin());
    EXPECT_TRUE(begins) << name;
    std::size_t from = 0;
    const auto checksum = [&](std::size_t to) {
      const uLong sum = crc32(0, reinterpret_cast<const Bytef*>(restored.content.data() + from),
                              static_cast<uInt>(to - from));
      from = to;
      return sum;
    };
    for (const cuda::DeflatePieceMember& member : result.members)
      EXPECT_EQ(member.crc32, checksum(member.content_end)) << name;
    EXPECT_EQ(result.crc32, checksum(restored.content.size())) << name;
    return begins && restored.content.size() == expected.size();
  }

  void expect_whole(const std::string& name, const Bytes& data, const Bytes& content,
                    const DeflatePieceLimits& limits, bool members = false) const {
    for (const std::size_t alignment : {0, 1, 3}) {
      const Restored restored = restore(
          {.data = data, .members = members, .capacity = content.size(), .alignment = alignment}, limits);
      EXPECT_TRUE(is_beginning(restored, content, name) && restored.result.ended)
          << name << ": " << restored.content.size() << " of " << content.size() << " bytes, end "
          << static_cast<int>(restored.result.why) << ", " << restored.result.linked << " of "
          << restored.result.entries << " entries";
    }
  }

  using Buffer = cuda::DeviceBuffer<std::byte>;
  mutable cuda::PinnedPool pinned_;
};

TEST_F(DeflateStreamDeviceTest, RestoresWhatZlibWrites) {
  const Bytes flat = testing::random_bytes(300'000, 5, 240), four = testing::random_bytes(300'000, 7, 4);
  for (const auto& [name, content] : {std::pair<std::string, Bytes>{"nothing", {}},
                                      {"a byte", Bytes(1)},
                                      {"words", testing::wordy_bytes(400'000)},
                                      {"random", testing::random_bytes(200'000, 3)},
                                      {"hardly shrinks", flat},
                                      {"four letters", four},
                                      {"zeros", Bytes(3'000'000)},
                                      {"runs", testing::runs_bytes(500'000, 1)},
                                      {"period 32768", testing::periodic_bytes(300'000, 32768)}})
    for (const DeflatePieceLimits& limits : {tight(), cuda::deflate_piece_limits(1 << 20, 4 << 20)})
      for (const auto& [level, strategy, mem_level] : {std::tuple{0, Z_DEFAULT_STRATEGY, 8},
                                                       {1, Z_DEFAULT_STRATEGY, 8},
                                                       {6, Z_DEFAULT_STRATEGY, 1},
                                                       {6, Z_DEFAULT_STRATEGY, 9},
                                                       {9, Z_DEFAULT_STRATEGY, 8},
                                                       {6, Z_HUFFMAN_ONLY, 8},
                                                       {6, Z_RLE, 8},
                                                       {6, Z_FILTERED, 8},
                                                       {6, Z_FIXED, 8}})
        expect_whole(name + ", level " + std::to_string(level) + ", strategy " + std::to_string(strategy),
                     zlib_stream(content, level, strategy, mem_level), content, limits);
}

TEST_F(DeflateStreamDeviceTest, RestoresStreamsThatNoEncoderWrites) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const testing::ValidData made = testing::valid_deflate_stream(seed, seed % 5 == 0 ? 300'000 : 20'000);
    if (!made.dictionary.empty()) continue;
    for (const std::size_t alignment : {0, 1, 3}) {
      const Restored restored =
          restore({.data = made.data, .capacity = made.content.size(), .alignment = alignment},
                  cuda::deflate_piece_limits(1 << 20, 4 << 20));
      // It may leave the end to others.
      is_beginning(restored, made.content, "seed " + std::to_string(seed));
    }
  }
}

TEST_F(DeflateStreamDeviceTest, RestoresRealFiles) {
  const auto folder = testing::corpora();
  if (!folder) GTEST_SKIP() << "HEMSTITCH_CORPORA is not set";
  for (const std::string name : {"dickens", "samba", "nci", "x-ray", "xml", "ooffice"}) {
    const Bytes content = testing::read_file(*folder / "silesia" / name, 8 << 20);
    const DeflatePieceLimits limits = cuda::deflate_piece_limits(content.size(), content.size());
    for (const int level : {1, 6, 9}) expect_whole(name, zlib_stream(content, level), content, limits);
    expect_whole(name + ", fixed", zlib_stream(content, 6, Z_FIXED), content, limits);
  }
}

// Streams within streams: valid headers that lead nowhere.
TEST_F(DeflateStreamDeviceTest, StreamsInsideOfStreams) {
  const Bytes words = testing::wordy_bytes(200'000), noise = testing::random_bytes(100'000, 2);
  const Bytes once = joined({noise, gzip(words), words, gzip(noise), noise});
  const Bytes twice = joined({Bytes(100), gzip(once), words});
  for (const Bytes& content : {once, twice})
    for (const int level : {0, 1, 6})
      for (const bool members : {false, true})
        expect_whole("nested, level " + std::to_string(level), zlib_stream(content, level), content, tight(),
                     members);
}

TEST_F(DeflateStreamDeviceTest, EmptyBlocksByTheThousand) {
  DeflateBitWriter stored, fixed;
  for (int i = 0; i < 3000; ++i) {
    stored.block(false, 0).align().bits(0, 16).bits(0xFFFF, 16);
    fixed.block(false, 1).code(0, 7);
  }
  expect_whole("stored", stored.block(true, 1).code(0, 7).bytes(), {}, tight());
  expect_whole("fixed", fixed.block(true, 1).code(0, 7).bytes(), {}, tight());
}

// Everything in one block, whose codes resynchronize; or never do, which is detected; or never do, so that
// each guess within it is probably wrong.
TEST_F(DeflateStreamDeviceTest, OneGiantBlock) {
  struct Literals {
    const char* name;
    unsigned of_7_bits, of_8_bits, of_9_bits, end_bits;
    std::size_t content_bytes;
  };
  for (const Literals& given :
       {Literals{"7 to 9 bits", 64, 96, 63, 9, 2'000'000}, Literals{"8 bits", 0, 255, 0, 8, 2'000'000},
        Literals{"7 bits", 127, 0, 0, 7, 500'000}}) {
    std::vector<std::uint8_t> litlens(257, 0);
    const unsigned literals = given.of_7_bits + given.of_8_bits + given.of_9_bits;
    for (unsigned i = 0; i < literals; ++i)
      litlens[i] = i < given.of_7_bits ? 7 : i < given.of_7_bits + given.of_8_bits ? 8 : 9;
    litlens[256] = static_cast<std::uint8_t>(given.end_bits);
    std::vector<std::uint32_t> codes(257);
    std::uint32_t code = 0;
    for (unsigned bits = 1; bits <= 9; ++bits, code <<= 1)
      for (unsigned symbol = 0; symbol < 257; ++symbol)
        if (litlens[symbol] == bits) codes[symbol] = code++;
    const Bytes content = testing::random_bytes(given.content_bytes, 4, literals);
    DeflateBitWriter writer;
    writer.dynamic(true, litlens, {0});
    for (const std::byte byte : content) {
      const auto symbol = std::to_integer<unsigned>(byte);
      writer.code(codes[symbol], litlens[symbol]);
    }
    writer.code(codes[256], litlens[256]);
    expect_whole(given.name, writer.bytes(), content,
                 cuda::deflate_piece_limits(writer.bytes().size(), content.size()));
  }
  const Bytes words = testing::wordy_bytes(3'000'000);
  expect_whole("libz's largest blocks", zlib_stream(words, 6, Z_DEFAULT_STRATEGY, 9), words,
               cuda::deflate_piece_limits(4 << 20, 4 << 20));
}

TEST_F(DeflateStreamDeviceTest, Members) {
  const Bytes words = testing::wordy_bytes(150'000), noise = testing::random_bytes(50'000, 2);
  Bytes data = joined({gzip(words), gzip(noise), gzip({}), gzip(Bytes(5)), gzip(words, 1)});
  data.erase(data.begin(), data.begin() + kGzipHeaderBytes);
  expect_whole("members", data, joined({words, noise, Bytes(5), words}), tight(), true);
  Bytes small, content;
  for (std::size_t i = 0; i < 2000; ++i) {
    const Bytes part(words.begin() + static_cast<std::ptrdiff_t>(i * 50),
                     words.begin() + static_cast<std::ptrdiff_t>(i * 50 + i % 90));
    const Bytes member = gzip(part);
    small.insert(small.end(), member.begin(), member.end());
    content.insert(content.end(), part.begin(), part.end());
  }
  small.erase(small.begin(), small.begin() + kGzipHeaderBytes);
  DeflatePieceLimits limits = tight();
  expect_whole("small members", small, content, limits, true);
  const Restored restored = restore({.data = small, .members = true, .capacity = content.size()}, limits);
  EXPECT_EQ(restored.result.members.size(), 2000u);
  limits.starts = 100;  // starts beyond these are not known, so the piece ends at one of them
  const Restored fewer = restore({.data = small, .members = true, .capacity = content.size()}, limits);
  is_beginning(fewer, content, "few starts");
  EXPECT_TRUE(fewer.result.ended);
  ASSERT_FALSE(fewer.result.members.empty());
  EXPECT_NE(fewer.result.members.back().next_begin_bits, 0u);
  // A match that reaches from one member into the one before.
  const Bytes history(words.begin(), words.begin() + 30'000);
  const Bytes first = gzip(history);
  Bytes reaching = joined({first, Bytes(first.begin(), first.begin() + kGzipHeaderBytes),
                           zlib_stream(words, 6, Z_DEFAULT_STRATEGY, 8, -MAX_WBITS, history)});
  reaching.erase(reaching.begin(), reaching.begin() + kGzipHeaderBytes);
  const Restored refused = restore({.data = reaching, .members = true, .capacity = 300'000}, tight());
  EXPECT_TRUE(is_beginning(refused, history, "a match into another member"));
  EXPECT_EQ(refused.result.why, DeflatePieceEnd::kUnsound);
}

// In pieces that each begin where the one before ended, at any bit, with the window before.
TEST_F(DeflateStreamDeviceTest, PiecesFromAnyBlockOn) {
  for (const Bytes& content : {testing::wordy_bytes(600'000), testing::random_bytes(300'000, 5, 240)})
    for (const int strategy : {Z_DEFAULT_STRATEGY, Z_FIXED}) {
      const Bytes data = zlib_stream(content, 6, strategy, 1);
      Bytes restored;
      std::uint64_t at = 0;
      bool ended = false;
      for (std::size_t round = 0; !ended && round < 200; ++round) {
        const std::size_t begin = at / 8,
                          bytes = std::min<std::size_t>(data.size() - begin, 20'000 + 7'001 * (round % 5));
        const Bytes window(
            restored.end() - static_cast<std::ptrdiff_t>(std::min<std::size_t>(32768, restored.size())),
            restored.end());
        const Restored piece = restore({.data = std::span(data).subspan(begin, bytes),
                                        .begin_bits = at % 8,
                                        .window = window,
                                        .capacity = 500'000,
                                        .alignment = round % 4},
                                       tight());
        restored.insert(restored.end(), piece.content.begin(), piece.content.end());
        ended = piece.result.ended;
        ASSERT_TRUE(ended || piece.result.end_bits > at % 8) << at;
        at = begin * 8 + piece.result.end_bits;
      }
      EXPECT_TRUE(ended);
      EXPECT_EQ(restored, content);
    }
}

// Begun before it is known where the first block begins, and finished with the link: the result must be the
// same. If no start is found at the link, for example at a kind of block that is not searched for, this is
// reported, and the caller begins again from there.
TEST_F(DeflateStreamDeviceTest, BegunBeforeTheLinkIsKnown) {
  int found = 0, tried = 0;
  for (const Bytes& content : {testing::wordy_bytes(600'000), testing::random_bytes(300'000, 5, 240)}) {
    const Bytes data = zlib_stream(content, 6, Z_DEFAULT_STRATEGY, 1);
    for (const std::size_t cut : {std::size_t{20'000}, data.size() / 2, data.size() - 9000}) {
      const Restored before =
          restore({.data = std::span(data).first(cut), .capacity = content.size()}, tight());
      const std::uint64_t link = before.result.end_bits;
      ASSERT_GT(link, 1000u);
      const Bytes window(before.content.end() -
                             static_cast<std::ptrdiff_t>(std::min<std::size_t>(32768, before.content.size())),
                         before.content.end());
      const Bytes rest(content.begin() + static_cast<std::ptrdiff_t>(before.content.size()), content.end());
      for (const std::size_t lead : {std::size_t{0}, std::size_t{1}, std::size_t{77}, std::size_t{5000}}) {
        const std::size_t base = link / 8 - std::min<std::size_t>(lead, link / 8);
        Piece piece{.data = std::span(data).subspan(base),
                    .begin_bits = link - base * 8,
                    .window = window,
                    .capacity = rest.size(),
                    .alignment = lead % 4,
                    .begun_at = 0};
        const Restored whole = restore(piece, tight());
        ++tried;
        if (!whole.found) continue;
        ++found;
        EXPECT_TRUE(is_beginning(whole, rest, "begun") && whole.result.ended) << "cut at " << cut;
        // No block begins here.
        piece.begin_bits += 3;
        EXPECT_FALSE(restore(piece, tight()).found);
      }
    }
  }
  EXPECT_GT(found, tried / 2);
}

TEST_F(DeflateStreamDeviceTest, TinyLimitsGiveLess) {
  const Bytes content = testing::wordy_bytes(300'000);
  for (const int mem_level : {1, 8}) {
    const Bytes data = zlib_stream(content, 6, Z_DEFAULT_STRATEGY, mem_level);
    const auto run = [&](const char* name, auto&& set, std::size_t capacity = 300'000) {
      DeflatePieceLimits limits = tight();
      set(limits);
      return is_beginning(restore({.data = data, .capacity = capacity}, limits), content, name);
    };
    for (const std::uint32_t pages : {1, 2, 3, 5, 9, 20})
      run("pages", [&](DeflatePieceLimits& limits) { limits.pages = pages; });
    for (const std::uint32_t entries : {1, 2, 7}) {
      EXPECT_TRUE(run("entries", [&](DeflatePieceLimits& limits) { limits.entries = entries; }));
      EXPECT_TRUE(run("starts", [&](DeflatePieceLimits& limits) { limits.starts = 3 + entries; }));
      EXPECT_TRUE(run("candidates", [&](DeflatePieceLimits& limits) { limits.candidates = entries; }));
      run("blocks", [&](DeflatePieceLimits& limits) { limits.entry_blocks = entries; });
      run("bytes", [&](DeflatePieceLimits& limits) { limits.entry_bytes = 50 * entries; });
    }
    for (const std::uint32_t repairs : {1, 2})
      run("repairs", [&](DeflatePieceLimits& limits) { limits.repairs = repairs; });
    for (const std::size_t capacity : {0, 1, 1000, 32768, 100'000, 299'999})
      EXPECT_FALSE(run(
          "room", [](DeflatePieceLimits&) {}, capacity));
  }
  EXPECT_THROW(restore({.data = content, .begin_bits = 8 * content.size() + 1}, tight()), Error);
  DeflatePieceLimits no_repairs = tight();
  no_repairs.repairs = 0;
  EXPECT_THROW(restore({.data = zlib_stream(content)}, no_repairs), Error);
}

// Cut and damaged anywhere: never more content than zlib gives before the damage, and always the right
// content.
TEST_F(DeflateStreamDeviceTest, DamageAnywhere) {
  const Bytes words = testing::wordy_bytes(150'000), flat = testing::random_bytes(100'000, 5, 240);
  const Bytes nested = joined({flat, gzip(words), words});
  const std::vector<Bytes> sound = {zlib_stream(words, 6, Z_DEFAULT_STRATEGY, 1),
                                    zlib_stream(words),
                                    zlib_stream(flat, 6, Z_DEFAULT_STRATEGY, 9),
                                    zlib_stream(nested),
                                    zlib_stream(words, 6, Z_FIXED),
                                    zlib_stream(nested, 0)};
  std::mt19937 random(1);
  std::size_t whole = 0, cut = 0;
  for (unsigned i = 0; i < 1200; ++i) {
    Bytes data = sound[i % sound.size()];
    if (random() % 4 == 0) data.resize(random() % data.size());
    for (auto changes = random() % 3; changes > 0 && !data.empty(); --changes)
      data[random() % data.size()] ^= std::byte{1} << random() % 8;
    const ByZlib expected = by_zlib(data);
    DeflatePieceLimits limits = i % 2 == 0 ? tight() : cuda::deflate_piece_limits(1 << 20, 1 << 20);
    const Restored restored =
        restore({.data = data, .members = i % 5 == 0, .capacity = 400'000, .alignment = i % 4}, limits);
    if (i % 5 != 0) {
      const bool all = is_beginning(restored, expected.content, "damage " + std::to_string(i));
      EXPECT_TRUE(!restored.result.ended || (all && expected.ended)) << i;
      (all ? whole : cut) += 1;
    } else {
      EXPECT_LE(restored.content.size(), 400'000u);
    }
  }
  EXPECT_GT(whole, 100u);
  EXPECT_GT(cut, 100u);
}

// Small streams, changed anywhere: 2000, or as many as HEMSTITCH_MUTATED_STREAMS says, on several threads
// with memory of their own. Every other one is begun before it is finished.
TEST_F(DeflateStreamDeviceTest, MutatedStreams) {
  const char* const asked = std::getenv("HEMSTITCH_MUTATED_STREAMS");
  const std::uint64_t rounds = asked != nullptr ? std::strtoull(asked, nullptr, 10) : 2000;
  constexpr unsigned kThreads = 16;
  constexpr std::size_t kCapacity = 40'000, kMostBytes = 24'000;
  const Bytes words = testing::wordy_bytes(9000), flat = testing::random_bytes(7000, 5, 240);
  const std::vector<Bytes> sound = {zlib_stream(words, 6, Z_DEFAULT_STRATEGY, 1),
                                    zlib_stream(joined({words, flat, words}), 6, Z_DEFAULT_STRATEGY, 1),
                                    zlib_stream(flat, 6, Z_DEFAULT_STRATEGY, 9),
                                    zlib_stream(joined({flat, gzip(words), words})),
                                    zlib_stream(words, 6, Z_FIXED),
                                    zlib_stream(joined({flat, gzip(words), words}), 0),
                                    zlib_stream(Bytes(20'000), 6, Z_DEFAULT_STRATEGY, 1)};
  DeflatePieceLimits limits = cuda::deflate_piece_limits(kMostBytes, kCapacity);
  limits.spacing_bytes = cuda::kDeflateLeastSpacing;
  limits.pages = 48;
  const std::size_t scratch_bytes = cuda::restore_deflate_piece_cuda_scratch_bytes(limits);
  int device = 0;
  cuda::check(cudaGetDevice(&device), "cudaGetDevice");
  std::atomic<std::uint64_t> next{0}, whole{0}, cut{0};
  const auto work = [&] {
    cuda::check(cudaSetDevice(device), "cudaSetDevice");
    const cuda::Stream stream;
    const Buffer input(kMostBytes + 2 * kGuardBytes, stream.get()),
        output(kCapacity + 2 * kGuardBytes, stream.get()), scratch(scratch_bytes + kGuardBytes, stream.get());
    cuda::PinnedPool pinned;
    const cuda::PinnedPool::Block mailbox = pinned.take(cuda::kDeflateMailboxBytes),
                                  h_input = pinned.take(input.bytes()),
                                  h_output = pinned.take(output.bytes());
    for (const Buffer* const buffer : {&output, &scratch})
      cuda::check(cudaMemsetAsync(buffer->get(), std::to_integer<int>(kGuard), buffer->bytes(), stream.get()),
                  "cudaMemsetAsync");
    Bytes expected(kCapacity);
    for (std::uint64_t round; (round = next++) < rounds && !HasFailure();) {
      std::mt19937_64 random(round);
      Bytes data = sound[round % sound.size()];
      for (auto changes = 1 + random() % 3; changes > 0 && !data.empty(); --changes) {
        const std::size_t at = random() % data.size();
        switch (random() % 5) {
          case 0:
            data[at] = static_cast<std::byte>(random());
            break;
          case 1:
            data.erase(data.begin() + static_cast<std::ptrdiff_t>(at));
            break;
          case 2:
            data.resize(at);
            break;
          default:
            data[at] ^= std::byte{1} << random() % 8;
        }
      }
      z_stream zlib{};
      inflateInit2(&zlib, -MAX_WBITS);
      zlib.next_in = reinterpret_cast<Bytef*>(data.data());
      zlib.avail_in = static_cast<uInt>(data.size());
      zlib.next_out = reinterpret_cast<Bytef*>(expected.data());
      zlib.avail_out = static_cast<uInt>(expected.size());
      const bool ended = inflate(&zlib, Z_SYNC_FLUSH) == Z_STREAM_END;
      const std::size_t expected_bytes = zlib.total_out;
      inflateEnd(&zlib);

      const std::size_t alignment = round % 4;
      std::copy(data.begin(), data.end(), h_input.span().begin() + static_cast<std::ptrdiff_t>(alignment));
      cuda::check(
          cudaMemcpyAsync(input.get(), h_input.span().data(), input.bytes(), cudaMemcpyDefault, stream.get()),
          "cudaMemcpyAsync");
      std::byte* const d_output = output.get() + kGuardBytes;
      const bool members = round % 5 == 0;
      const cuda::DeflatePieceInput piece{input.get() + alignment, data.size(), 0, nullptr, 0, members,
                                          mailbox.span().data()};
      DeflatePieceResult result;
      if (round % 2 == 0) {
        const auto begun =
            cuda::begin_deflate_piece_cuda(piece, limits, scratch.get(), scratch_bytes, stream.get());
        result = cuda::finish_deflate_piece_cuda(piece, begun, limits, d_output, kCapacity, scratch.get(),
                                                 scratch_bytes, stream.get())
                     .value();
      } else {
        result = cuda::restore_deflate_piece_cuda(piece, limits, d_output, kCapacity, scratch.get(),
                                                  scratch_bytes, stream.get());
      }
      cuda::check(cudaMemcpyAsync(h_output.span().data(), output.get(), output.bytes(), cudaMemcpyDefault,
                                  stream.get()),
                  "cudaMemcpyAsync");
      stream.synchronize();
      const auto all = h_output.span(), content = all.subspan(kGuardBytes, result.content_bytes);
      const auto is_guard = [](std::byte byte) { return byte == kGuard; };
      EXPECT_TRUE(std::all_of(all.begin(), all.begin() + kGuardBytes, is_guard) &&
                  std::all_of(all.end() - kGuardBytes, all.end(), is_guard))
          << round;
      if (members) {  // zlib does not restore what follows the first member
        EXPECT_LE(content.size(), kCapacity) << round;
        continue;
      }
      const bool begins =
          content.size() <= expected_bytes && std::equal(content.begin(), content.end(), expected.begin());
      EXPECT_TRUE(begins) << round;
      const uLong checksum =
          crc32(0, reinterpret_cast<const Bytef*>(content.data()), static_cast<uInt>(content.size()));
      EXPECT_EQ(result.members.empty() ? result.crc32 : result.members[0].crc32, checksum) << round;
      EXPECT_TRUE(!result.ended || (ended && content.size() == expected_bytes)) << round;
      ++(ended && content.size() == expected_bytes ? whole : cut);
    }
    Bytes behind(kGuardBytes);
    cuda::check(cudaMemcpyAsync(behind.data(), scratch.get() + scratch_bytes, kGuardBytes, cudaMemcpyDefault,
                                stream.get()),
                "cudaMemcpyAsync");
    stream.synchronize();
    for (const std::byte byte : behind) EXPECT_EQ(byte, kGuard) << "behind the scratch memory";
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kThreads; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(whole + cut, rounds / 2);
  EXPECT_GT(cut, rounds / 10);
}

}  // namespace
}  // namespace hemstitch
