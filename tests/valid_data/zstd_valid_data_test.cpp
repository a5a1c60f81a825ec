// Frames of Zstandard that no encoder writes: libzstd and both of our backends restore each to its content; and all that the
// format allows is among them.
#include <gtest/gtest.h>

#include <bitset>
#include <map>

#include "format/zstd/zstd_limits.hpp"
#include "skippable_frames.hpp"
#include "threads.hpp"
#include "valid_data/trials.hpp"
#include "valid_data/valid_data.hpp"
#include "zstd_frames.hpp"

namespace hemstitch::testing {
namespace {

// One frame among these is large, with offsets of more bits than usual windows have.
constexpr std::size_t kHugeBytes = 9'000'000;
constexpr std::uint64_t kHugeSeed = 27;

void expect_restored(const ValidData& made) {
  const ZstdRead read = read_by_reference(made.data, made.dictionary);
  EXPECT_EQ(read.outcome, ZstdOutcome::kWhole) << read.why;
  EXPECT_TRUE(read.content == made.content);
  for (const std::size_t piece_bytes : {std::size_t{100}, made.data.size()}) {
    const ZstdRead streamed = read_by_libzstd(made.data, made.dictionary, piece_bytes);
    if (only_libzstd_refuses(read) && streamed.outcome == ZstdOutcome::kRefused) continue;
    EXPECT_EQ(streamed.outcome, ZstdOutcome::kWhole) << streamed.why;
    EXPECT_TRUE(streamed.content == made.content);
  }
  const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(), ZSTD_freeDCtx);
  Bytes content(made.content.size());
  const std::size_t bytes =
      ZSTD_decompress_usingDict(context.get(), content.data(), content.size(), made.data.data(),
                                made.data.size(), made.dictionary.data(), made.dictionary.size());
  EXPECT_EQ(bytes, made.content.size()) << ZSTD_getErrorName(bytes);
  EXPECT_TRUE(content == made.content);
  RestoreOptions options;
  options.threads = 1;
  expect_by_backends(made, options);
}

TEST(ZstdValidData, IsRestored) {
  for (std::uint64_t seed = 0; seed < 3000 && !HasFailure(); seed += kTriedOneOf) {
    SCOPED_TRACE(seed);
    expect_restored(valid_zstd_frame(seed, kSmallBytes));
  }
  for (std::uint64_t seed = 0; seed < 60 && !HasFailure(); seed += kTriedOneOf) {
    SCOPED_TRACE(seed);
    expect_restored(valid_zstd_frame(seed, kLargeBytes));
  }
  expect_restored(valid_zstd_frame(kHugeSeed, kHugeBytes));
}

TEST_WITH_THREADS(ZstdValidData, FramesInARowAreRestored) {
  for (const unsigned threads : {1, 2, 8}) {
    ValidData row;
    for (std::uint64_t seed = 1000 * threads; row.content.size() < 1'000'000; ++seed) {
      const ValidData made = valid_zstd_frame(seed, seed % 20 == 0 ? kLargeBytes : kSmallBytes);
      if (!made.dictionary.empty()) continue;
      row.data = row.data + made.data;
      row.content = row.content + made.content;
      if (seed % 3 == 0) row.data = row.data + skippable_frame(seed % 50);
    }
    for (const char* backend : {"cpu", "reference"}) {
      RestoreOptions options;
      options.backend = backend;
      options.threads = threads;
      EXPECT_TRUE(restore(row.data, options) == row.content) << backend << " " << threads;
    }
  }
}

// ---- What is among them ----

class SeenInZstd : public SeenWords {
 public:
  void see_frame(const ValidData& made) {
    const std::span<const std::byte> frame(made.data);
    const std::size_t rest_bytes = zstd_header_rest_bytes(frame[4]);
    const ZstdFrameHeader header = read_zstd_header(frame.subspan(4, rest_bytes)).value();
    see_header(header, frame, made);
    window_bytes_ = header.window_bytes;
    most_block_bytes_ = std::min<std::uint64_t>(window_bytes_, kZstdMostBlockBytes);
    dictionary_bytes_ = 0;
    ZstdDictionary dictionary = read_zstd_dictionary(made.dictionary);
    kept_ = std::move(dictionary.tables);
    repeats_ = dictionary.repeats;
    dictionary_bytes_ = dictionary.content.size();
    at_ = 0;
    bool last = false;
    for (std::size_t at = 4 + rest_bytes; !last;) {
      const ZstdBlockHeader block = read_zstd_block_header(frame.data() + at);
      last = block.last;
      at += kZstdBlockHeaderBytes;
      see_block(block, frame.subspan(at, block.data_bytes()));
      at += block.data_bytes();
    }
  }

 private:
  void see_header(const ZstdFrameHeader& header, std::span<const std::byte> frame, const ValidData& made) {
    const auto descriptor = static_cast<unsigned>(frame[4]);
    see("size flag " + std::to_string(descriptor >> 6) + (header.single_segment ? ", single segment" : ""));
    see("id flag " + std::to_string(descriptor & 3) + (header.dictionary_id == 0 ? ", no id" : ", an id"));
    see(header.has_checksum ? "a checksum" : "no checksum");
    see(header.window_bytes < made.content.size() ? "more content than the window" : "a window for all");
    if (made.content.empty()) see("no content");
    if (!made.dictionary.empty())
      see(zstd_dictionary_id(made.dictionary) != 0 ? "a dictionary with tables" : "a raw dictionary");
  }
  void see_block(const ZstdBlockHeader& block, std::span<const std::byte> data) {
    const std::size_t before = at_;
    const std::string types[] = {"raw", "RLE", "compressed"};
    const std::string type = types[static_cast<unsigned>(block.type)] + " block";
    see(type);
    if (block.type == ZstdBlockType::kCompressed)
      see_compressed(data);
    else
      at_ += block.size;
    if (at_ == before) see(type + " without content");
    if (at_ - before == most_block_bytes_ && at_ != before)
      see(type + (most_block_bytes_ == kZstdMostBlockBytes ? " of 128 KB" : " of the window's size"));
  }
  void see_compressed(std::span<const std::byte> data) {
    const ZstdLiteralsHeader header = read_zstd_literals_header(data);
    const std::string types[] = {"raw", "RLE", "compressed", "treeless"};
    see(types[static_cast<unsigned>(header.type)] + " literals, " +
        (header.four_streams ? "4 streams, " : "") + "header of " + std::to_string(header.header_bytes));
    if (header.type == ZstdLiteralsType::kCompressed)
      see(static_cast<unsigned>(data[header.header_bytes]) < 128 ? "weights by FSE" : "direct weights");
    read_zstd_literals(data, header, kept_);
    if (header.type == ZstdLiteralsType::kCompressed) see_codes();
    const auto section = data.subspan(header.section_bytes());
    ZstdSequenceReader sequences(section, kept_);
    const std::size_t count = sequences.left();
    see(section[0] < std::byte{128}   ? "count of 1 byte"
        : section[0] < std::byte{255} ? "count of 2 bytes"
                                      : "count of 3 bytes");
    if (section[0] == std::byte{128} && count < 128) see("count of 2 bytes that 1 could say");
    if (count > 0) see_tables(sequences);
    while (sequences.left() > 0) see_sequence(sequences.take());
    at_ = before_literals_end(header);
  }
  void see_codes() {
    std::map<unsigned, std::bitset<256>> symbols;
    for (const ZstdHuffman::Entry& entry : kept_.literals->entries) symbols[entry.bits].set(entry.symbol);
    see("codes of up to " + std::to_string(kept_.literals->most_bits));
    if (symbols.size() == kept_.literals->most_bits)
      see("codes of each length up to " + std::to_string(kept_.literals->most_bits));
    if (symbols.size() == 1) see("codes of one length");
  }
  void see_tables(const ZstdSequenceReader& sequences) {
    const std::string kinds[] = {"literal counts", "offsets", "matches"};
    const std::string modes[] = {"predefined", "RLE", "own", "repeated"};
    const std::optional<ZstdTable>* tables[] = {&kept_.literal_codes, &kept_.offset_codes,
                                                &kept_.match_codes};
    for (std::size_t i = 0; i < 3; ++i) {
      see(kinds[i] + " " + modes[static_cast<unsigned>(sequences.modes[i])]);
      if (sequences.modes[i] == ZstdTableMode::kOwn)
        see(kinds[i] + ", log " + std::to_string((*tables[i])->log));
      if (sequences.modes[i] == ZstdTableMode::kRepeat)
        see(kinds[i] + ", log " + std::to_string((*tables[i])->log) + " repeated");
    }
  }
  template <class Codes>
  void see_edges(const std::string& kind, const Codes& codes, std::uint32_t value) {
    for (std::size_t i = 0; i < codes.size(); ++i) {
      if (value == codes[i].base) see(kind + " code " + std::to_string(i) + " begins");
      if (value == codes[i].base + ((std::uint64_t{1} << codes[i].bits) - 1))
        see(kind + " code " + std::to_string(i) + " ends");
    }
  }
  void see_sequence(const ZstdSequence& sequence) {
    see_edges("literals", kZstdLiteralCodes, sequence.literals);
    see_edges("match", kZstdMatchCodes, sequence.match);
    const std::uint32_t offset = repeats_.take(sequence);
    if (sequence.offset_value <= kZstdRepeatCount)
      see("repeat " + std::to_string(sequence.offset_value) +
          (sequence.literals == 0 ? " without literals" : ""));
    else if (sequence.offset_value < 8)
      see("offset value " + std::to_string(sequence.offset_value));
    see("offset of " + std::to_string(std::bit_width(offset)) + " bits");
    literals_ += sequence.literals;
    at_ += sequence.literals;
    if (offset == at_) see("a match of the first byte");
    if (offset == window_bytes_) see("an offset of the window");
    if (offset == at_ + dictionary_bytes_ && dictionary_bytes_ > 0)
      see("an offset of the dictionary's first byte");
    if (offset < sequence.match) see("a match into itself");
    at_ += sequence.match;
  }
  std::size_t before_literals_end(const ZstdLiteralsHeader& header) {
    const std::size_t rest = header.count - literals_;
    see(rest == 0 ? "no literals behind the sequences" : "literals behind the sequences");
    literals_ = 0;
    return at_ + rest;
  }

  std::uint64_t window_bytes_ = 0, most_block_bytes_ = 0;
  std::size_t dictionary_bytes_ = 0, at_ = 0, literals_ = 0;
  ZstdKeptTables kept_;
  ZstdRepeats repeats_;
};

std::vector<std::string> all_that_is_allowed() {
  std::vector<std::string> all{"a checksum",
                               "no checksum",
                               "more content than the window",
                               "a window for all",
                               "no content",
                               "a dictionary with tables",
                               "a raw dictionary",
                               "count of 1 byte",
                               "count of 2 bytes",
                               "count of 2 bytes that 1 could say",
                               "count of 3 bytes",
                               "weights by FSE",
                               "direct weights",
                               "codes of one length",
                               "a match of the first byte",
                               "an offset of the window",
                               "an offset of the dictionary's first byte",
                               "a match into itself",
                               "no literals behind the sequences",
                               "literals behind the sequences",
                               "size flag 0, single segment"};
  const auto add = [&](std::string what) { all.push_back(std::move(what)); };
  for (unsigned flag = 0; flag < 4; ++flag) {
    add("size flag " + std::to_string(flag));
    add("size flag " + std::to_string(flag) + ", single segment");
    add("id flag " + std::to_string(flag) + ", no id");
    if (flag > 0) add("id flag " + std::to_string(flag) + ", an id");
  }
  for (const std::string type : {"raw block", "RLE block", "compressed block"})
    for (const char* size : {"", " without content", " of 128 KB", " of the window's size"}) add(type + size);
  for (const std::string type : {"raw", "RLE"})
    for (const char* bytes : {"1", "2", "3"}) add(type + " literals, header of " + bytes);
  for (const std::string type : {"compressed", "treeless"}) {
    add(type + " literals, header of 3");
    for (const char* bytes : {"3", "4", "5"}) add(type + " literals, 4 streams, header of " + bytes);
  }
  for (unsigned bits = 1; bits <= 11; ++bits) {
    add("codes of up to " + std::to_string(bits));
    add("codes of each length up to " + std::to_string(bits));
  }
  for (const std::string kind : {"literal counts", "offsets", "matches"}) {
    for (const char* mode : {" predefined", " RLE", " own", " repeated"}) add(kind + mode);
    for (unsigned log = 5; log <= (kind == "offsets" ? 8 : 9); ++log) {
      add(kind + ", log " + std::to_string(log));
      add(kind + ", log " + std::to_string(log) + " repeated");
    }
    add(kind + ", log 0 repeated");
  }
  // The last codes reach beyond a block, and their first values nearly fill one.
  for (std::size_t code = 0; code < kZstdLiteralCodes.size(); ++code)
    for (const char* edge : {" begins", " ends"})
      if (code + 1 < kZstdLiteralCodes.size() || edge == std::string(" begins"))
        add("literals code " + std::to_string(code) + edge);
  for (std::size_t code = 0; code < kZstdMatchCodes.size(); ++code)
    for (const char* edge : {" begins", " ends"})
      if (code + 1 < kZstdMatchCodes.size() || edge == std::string(" begins"))
        add("match code " + std::to_string(code) + edge);
  for (const char* value : {"1", "2", "3"})
    for (const char* literals : {"", " without literals"}) add(std::string("repeat ") + value + literals);
  for (unsigned value = 4; value < 8; ++value) add("offset value " + std::to_string(value));
  for (unsigned bits = 1; bits <= 23; ++bits) add("offset of " + std::to_string(bits) + " bits");
  return all;
}

TEST(ZstdValidData, HasAllThatTheFormatAllows) {
  if constexpr (kTriedOneOf > 1) GTEST_SKIP() << "skipped: the data is the same with sanitizers";
  SeenInZstd seen;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) seen.see_frame(valid_zstd_frame(seed, kSmallBytes));
  for (std::uint64_t seed = 0; seed < 300; ++seed) seen.see_frame(valid_zstd_frame(seed, kLargeBytes));
  seen.see_frame(valid_zstd_frame(kHugeSeed, kHugeBytes));
  EXPECT_EQ(seen.missing(all_that_is_allowed()), std::vector<std::string>());
}

TEST(ZstdValidData, IsTheSameEachTime) { expect_the_same_each_time(valid_zstd_frame); }

}  // namespace
}  // namespace hemstitch::testing
