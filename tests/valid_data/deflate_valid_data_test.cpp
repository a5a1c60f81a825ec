// Streams of DEFLATE that no encoder writes: zlib, libdeflate and both of our backends restore each to its content; and all that
// the format allows is among them.
#include <gtest/gtest.h>
#include <libdeflate.h>

#include <map>
#include <string>

#include "deflate_restore_cases.hpp"
#include "format/deflate/block/deflate_symbols.hpp"
#include "format/deflate/restore/deflate_restore.hpp"
#include "guarded_buffer.hpp"
#include "hemstitch/hemstitch.hpp"
#include "threads.hpp"
#include "valid_data/trials.hpp"
#include "valid_data/valid_data.hpp"
#include "zlib_oracle.hpp"

namespace hemstitch::testing {
namespace {

void expect_by_libdeflate(const ValidData& made) {
  if (!made.dictionary.empty()) return;
  static libdeflate_decompressor* const decompressor = libdeflate_alloc_decompressor();
  Bytes content(made.content.size());
  EXPECT_EQ(libdeflate_deflate_decompress(decompressor, made.data.data(), made.data.size(), content.data(),
                                          content.size(), nullptr),
            LIBDEFLATE_SUCCESS);
  EXPECT_TRUE(content == made.content);
}

TEST(DeflateValidData, StreamsAreRestored) {
  for_many_seeds(valid_deflate_stream, [](const ValidData& made) {
    EXPECT_TRUE(inflated_by_zlib(made.data, ZlibKind::kDeflate, made.dictionary) == made.content);
    expect_by_libdeflate(made);
    const DeflateVerdict verdict = deflate_verdict(made.data, made.dictionary, made.content.size());
    EXPECT_EQ(verdict.status, Status::kOk);
    EXPECT_TRUE(verdict.content == made.content);
    static DeflateDecoder decoder({});
    for (const Against against : {Against::kUpperGuard, Against::kLowerGuard}) {
      GuardedBuffer data(made.data, against), content(made.content.size(), against);
      const DeflateRestored restored = decoder.restore_whole(data.bytes(), made.dictionary, content.bytes());
      EXPECT_EQ(restored.status, Status::kOk);
      EXPECT_EQ(restored.input_bytes, made.data.size());
      EXPECT_TRUE(std::ranges::equal(content.bytes(), made.content));
    }
  });
}

RestoreOptions reads(Format format, unsigned threads = 1) {
  RestoreOptions options;
  options.format = format;
  options.threads = threads;
  return options;
}

// zlib reads one member after the other.
std::optional<Bytes> gunzipped_by_zlib(std::span<const std::byte> data) {
  Bytes content;
  while (!data.empty()) {
    z_stream stream{};
    inflateInit2(&stream, static_cast<int>(ZlibKind::kGzip));
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(data.data()));
    stream.avail_in = static_cast<uInt>(data.size());
    Bytes piece(kLargeBytes);
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    const int result = inflate(&stream, Z_FINISH);
    inflateEnd(&stream);
    if (result != Z_STREAM_END) return std::nullopt;
    content.insert(content.end(), piece.begin(),
                   piece.begin() + static_cast<std::ptrdiff_t>(stream.total_out));
    data = data.subspan(stream.total_in);
  }
  return content;
}

TEST(DeflateValidData, ZlibStreamsAreRestored) {
  for_many_seeds(valid_zlib_stream, [](const ValidData& made) {
    EXPECT_TRUE(inflated_by_zlib(made.data, ZlibKind::kZlib, made.dictionary) == made.content);
    expect_by_backends(made, reads(Format::kZlib));
  });
}

TEST(DeflateValidData, GzipFilesAreRestored) {
  for_many_seeds(valid_gzip_file, [](const ValidData& made) {
    EXPECT_TRUE(gunzipped_by_zlib(made.data) == made.content);
    expect_by_backends(made, reads(Format::kGzip));
  });
}

TEST(DeflateValidData, BgzfFilesAreRestored) {
  for_many_seeds(valid_bgzf_file, [](const ValidData& made) {
    EXPECT_TRUE(gunzipped_by_zlib(made.data) == made.content);
    expect_by_backends(made, reads(Format::kBgzf));
    expect_by_backends(made, reads(Format::kGzip));
  });
}

TEST_WITH_THREADS(DeflateValidData, FilesAreRestored) {
  for (std::uint64_t seed = 0; seed < 40; seed += kTriedOneOf)
    for (const unsigned threads : {2, 8}) {
      SCOPED_TRACE(seed);
      expect_by_backends(valid_gzip_file(seed, 1'000'000), reads(Format::kGzip, threads));
      expect_by_backends(valid_bgzf_file(seed, kLargeBytes), reads(Format::kBgzf, threads));
    }
}

// ---- What is among them ----

// Reads a stream bit by bit, as RFC 1951 says it, and notes what it sees, as words.
class SeenInDeflate : public SeenWords {
 public:
  void see_stream(const ValidData& made) {
    data_ = made.data;
    bit_ = at_ = 0;
    history_bytes_ = made.dictionary.size();
    if (made.content.empty()) see("no content");
    std::size_t blocks = 0;
    for (bool last = false; !last; ++blocks) {
      last = bits(1) != 0;
      const std::string types[] = {"stored", "fixed", "dynamic"};
      const std::size_t type = bits(2), before = at_;
      if (type == 0)
        see_stored();
      else
        see_coded(type == 2);
      if (at_ == before) see(types[type] + " block without content");
      see(types[type] + (last ? " block at the end" : " block"));
    }
    if (blocks > 256) see("hundreds of blocks");
    if (bit_ % 8 != 0 && static_cast<unsigned>(data_[bit_ / 8]) >> bit_ % 8 != 0) see("bits behind the end");
  }

 private:
  using Lengths = std::vector<std::uint8_t>;

  std::size_t bits(unsigned count) {
    std::size_t value = 0;
    for (unsigned i = 0; i < count; ++i, ++bit_)
      value |= (static_cast<std::size_t>(data_[bit_ / 8]) >> bit_ % 8 & 1) << i;
    return value;
  }
  // The canonical code of `lengths`, one bit after the other.
  std::size_t symbol(const Lengths& lengths) {
    std::size_t code = 0, first = 0;
    for (unsigned length = 1; length <= 15; ++length) {
      code = code << 1 | bits(1);
      std::size_t count = 0;
      for (std::size_t i = 0; i < lengths.size(); ++i)
        if (lengths[i] == length && first + count++ == code) return i;
      first = (first + count) << 1;
    }
    throw std::runtime_error("no code");
  }
  void see_stored() {
    if (bit_ % 8 != 0 && static_cast<unsigned>(data_[bit_ / 8]) >> bit_ % 8 != 0)
      see("bits before a stored block");
    bit_ = (bit_ + 7) / 8 * 8;
    const std::size_t bytes = bits(16);
    if (bytes == 65535) see("the longest stored block");
    bit_ += 16 + 8 * bytes;
    at_ += bytes;
  }
  void see_coded(bool dynamic) {
    Lengths litlens(288, 8), distances(32, 5);
    if (dynamic) {
      see_header(litlens, distances);
    } else {
      std::fill(litlens.begin() + 144, litlens.begin() + 256, 9);
      std::fill(litlens.begin() + 256, litlens.begin() + 280, 7);
    }
    for (std::size_t next = symbol(litlens); next != 256; next = symbol(litlens)) {
      if (next < 256) {
        ++at_;
        continue;
      }
      const std::string kind = dynamic ? "dynamic " : "fixed ";
      see(kind + "length symbol " + std::to_string(next));
      const std::size_t length = deflate_length_base(static_cast<std::uint32_t>(next)) +
                                 bits(deflate_length_extra_bits(static_cast<std::uint32_t>(next)));
      if (next == 284 && length == 258) see("a length of 258 by the symbol for less");
      const auto by = static_cast<std::uint32_t>(symbol(distances));
      see(kind + "distance symbol " + std::to_string(by));
      const std::size_t distance = deflate_distance_base(by) + bits(deflate_distance_extra_bits(by));
      if (distance == 32768) see("the longest distance");
      if (distance == at_ + history_bytes_) see("a match of the first byte");
      if (distance > at_) see("a match in the history");
      if (distance < length) see("a match into itself");
      at_ += length;
    }
  }
  void see_header(Lengths& litlens, Lengths& distances) {
    const std::size_t litlen_count = 257 + bits(5), distance_count = 1 + bits(5), precode_count = 4 + bits(4);
    Lengths precode(19);
    for (std::size_t i = 0; i < precode_count; ++i)
      precode[kDeflatePrecodeOrder[i]] = static_cast<std::uint8_t>(bits(3));
    if (precode[kDeflatePrecodeOrder[precode_count - 1]] == 0 && precode_count > 4)
      see("more lengths of the code of lengths than needed");
    see_code("code of lengths", precode);
    Lengths all;
    while (all.size() < litlen_count + distance_count) {
      const std::size_t item = symbol(precode), before = all.size();
      if (item < 16) {
        all.push_back(static_cast<std::uint8_t>(item));
        continue;
      }
      const std::uint8_t value = item == 16 ? all.back() : 0;
      all.resize(all.size() + (item == 16 ? 3 + bits(2) : item == 17 ? 3 + bits(3) : 11 + bits(7)), value);
      const std::string name = "lengths by " + std::to_string(item);
      see(name + ": " + std::to_string(all.size() - before));
      if (item == 16 && value == 0) see(name + " of 0");
      if (before < litlen_count && all.size() > litlen_count) see(name + " across the border");
    }
    litlens.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(litlen_count));
    distances.assign(all.begin() + static_cast<std::ptrdiff_t>(litlen_count), all.end());
    see_code("literals", litlens);
    see_code("distances", distances);
    if (litlens.back() == 0 && litlen_count > 257) see("more lengths of literals than needed");
    if (distances.back() == 0 && distance_count > 1) see("more lengths of distances than needed");
  }
  void see_code(const std::string& name, const Lengths& lengths) {
    std::map<unsigned, std::size_t> counts;
    for (const std::uint8_t length : lengths)
      if (length != 0) ++counts[length];
    if (counts.empty()) return see(name + ": no code");
    see(name + ": up to " + std::to_string(counts.rbegin()->first));
    if (counts.size() == 1 && counts.begin()->second == 1) see(name + ": a single code");
  }

  std::span<const std::byte> data_;
  std::size_t bit_ = 0, at_ = 0, history_bytes_ = 0;
};

TEST(DeflateValidData, StreamsHaveAllThatTheFormatAllows) {
  SeenInDeflate seen;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) seen.see_stream(valid_deflate_stream(seed, kSmallBytes));
  for (std::uint64_t seed = 0; seed < 100; ++seed) seen.see_stream(valid_deflate_stream(seed, kLargeBytes));
  std::vector<std::string> all{"no content",
                               "hundreds of blocks",
                               "bits behind the end",
                               "bits before a stored block",
                               "the longest stored block",
                               "a length of 258 by the symbol for less",
                               "the longest distance",
                               "a match of the first byte",
                               "a match in the history",
                               "a match into itself",
                               "more lengths of the code of lengths than needed",
                               "more lengths of literals than needed",
                               "more lengths of distances than needed",
                               "lengths by 16 of 0",
                               "lengths by 16 across the border",
                               "lengths by 17 across the border",
                               "lengths by 18 across the border",
                               "literals: a single code",
                               "distances: a single code",
                               "distances: no code"};
  const auto add = [&](std::string what) { all.push_back(std::move(what)); };
  for (const std::string type : {"stored", "fixed", "dynamic"})
    for (const char* what : {" block", " block at the end", " block without content"}) add(type + what);
  for (const std::string kind : {"fixed ", "dynamic "}) {
    for (int length = 257; length <= 285; ++length) add(kind + "length symbol " + std::to_string(length));
    for (int distance = 0; distance < 30; ++distance)
      add(kind + "distance symbol " + std::to_string(distance));
  }
  for (int length = 1; length <= 15; ++length) add("literals: up to " + std::to_string(length));
  for (int length = 1; length <= 15; ++length) add("distances: up to " + std::to_string(length));
  for (int length = 1; length <= 7; ++length) add("code of lengths: up to " + std::to_string(length));
  for (int count = 3; count <= 6; ++count) add("lengths by 16: " + std::to_string(count));
  for (int count = 3; count <= 10; ++count) add("lengths by 17: " + std::to_string(count));
  for (const int count : {11, 137, 138}) add("lengths by 18: " + std::to_string(count));
  EXPECT_EQ(seen.missing(all), std::vector<std::string>());
}

TEST(DeflateValidData, IsTheSameEachTime) {
  for (ValidDataGenerator* make : {valid_deflate_stream, valid_zlib_stream, valid_gzip_file, valid_bgzf_file})
    expect_the_same_each_time(*make);
}

}  // namespace
}  // namespace hemstitch::testing
