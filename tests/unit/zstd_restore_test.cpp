// The reference restorer of Zstandard beside libzstd's streaming decoder: the same verdict and the same bytes,
// except for what docs/formats/zstd.md lists.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "guarded_buffer.hpp"
#include "hemstitch/hemstitch.hpp"
#include "tried_one_of.hpp"
#include "valid_data/valid_data.hpp"
#include "zstd_frames.hpp"

namespace hemstitch::testing {
namespace {

// Of the first bytes, for messages.
std::string hex_of(std::span<const std::byte> data) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string hex;
  for (const std::byte byte : data.first(std::min<std::size_t>(data.size(), 300))) {
    hex += kDigits[static_cast<unsigned>(byte) >> 4];
    hex += kDigits[static_cast<unsigned>(byte) & 15];
  }
  return hex;
}

void expect_same(std::span<const std::byte> data, std::span<const std::byte> dictionary = {},
                 std::size_t piece_bytes = 1 << 14) {
  const ZstdRead ours = read_by_reference(data, dictionary, piece_bytes),
                 theirs = read_by_libzstd(data, dictionary);
  if (only_we_refuse(ours)) return;
  if (only_libzstd_refuses(ours) && theirs.outcome == ZstdOutcome::kRefused) return;
  SCOPED_TRACE(ours.why + " | " + theirs.why + ", " + hex_of(data));
  ASSERT_EQ(ours.outcome == ZstdOutcome::kWhole, theirs.outcome == ZstdOutcome::kWhole);
  if (ours.outcome != ZstdOutcome::kWhole) return;
  ASSERT_EQ(ours.used_bytes, theirs.used_bytes);
  ASSERT_TRUE(ours.content == theirs.content);
}

// `cpu` takes what the reference takes, and refuses what it refuses.
void expect_same_on_cpu(std::span<const std::byte> data, std::span<const std::byte> dictionary = {}) {
  const ZstdRead ours = read_by_reference(data, dictionary);
  if (only_we_refuse(ours)) return;
  const bool whole = ours.outcome == ZstdOutcome::kWhole;
  RestoreOptions options;
  options.format = Format::kZstd;
  options.backend = "cpu";
  options.threads = 1;
  options.dictionary = dictionary;
  std::optional<Bytes> content;
  std::string why;
  try {
    content = restore(whole ? data.first(ours.used_bytes) : data, options);
  } catch (const Error& error) {
    why = error.what();
  }
  SCOPED_TRACE(ours.why + " | " + why + ", " + hex_of(data));
  ASSERT_EQ(content.has_value(), whole);
  ASSERT_TRUE(!whole || *content == ours.content);
}

// Frames of at most `most_bytes` that no encoder writes.
std::vector<ValidData> small_valid_frames(std::size_t count, std::size_t most_bytes) {
  std::vector<ValidData> frames;
  for (std::uint64_t seed = 0; frames.size() < count; ++seed) {
    ValidData made = valid_zstd_frame(seed, 2 * most_bytes);
    if (made.data.size() <= most_bytes) frames.push_back(std::move(made));
  }
  return frames;
}

Bytes mixed_content(std::size_t bytes) {
  Bytes content = wordy_bytes(bytes / 2);
  const Bytes noise = random_bytes(bytes / 4, 3, 40), run = periodic_bytes(bytes / 8, 1),
              again = wordy_bytes(bytes / 8);
  for (const Bytes* part : {&noise, &run, &again}) content.insert(content.end(), part->begin(), part->end());
  return content;
}

TEST(ZstdRestore, LevelsAndPieces) {
  const Bytes content = mixed_content(600'000);
  for (const int level : {-7, -1, 1, 3, 5, 9, 13, 16, 19, 22}) {
    SCOPED_TRACE(level);
    const Bytes frame = written_by_libzstd(content, {.level = level});
    const ZstdRead read = read_by_reference(frame);
    ASSERT_EQ(read.outcome, ZstdOutcome::kWhole) << read.why;
    EXPECT_TRUE(read.content == content);
    EXPECT_EQ(read.used_bytes, frame.size());
  }
  const Bytes frame = written_by_libzstd(content, {.window_log = 12, .content_size = false});
  for (const std::size_t piece_bytes : {1, 7, 1000, 100'000}) {
    const ZstdRead read = read_by_reference(frame, {}, piece_bytes);
    EXPECT_EQ(read.outcome, ZstdOutcome::kWhole) << read.why;
    EXPECT_TRUE(read.content == content);
  }
}

TEST(ZstdRestore, Dictionaries) {
  const Bytes trained = trained_dictionary(), raw = wordy_bytes(3000, 9);
  for (const Bytes& dictionary : {trained, raw})
    for (const std::size_t bytes : {0, 1, 300, 5000, 300'000}) {
      const Bytes content = wordy_bytes(bytes, 9);
      const Bytes frame = written_by_libzstd(content, {.level = 5, .dictionary = dictionary});
      const ZstdRead read = read_by_reference(frame, dictionary);
      EXPECT_EQ(read.outcome, ZstdOutcome::kWhole) << read.why;
      EXPECT_TRUE(read.content == content);
    }
  const Bytes frame = written_by_libzstd(wordy_bytes(2000, 9), {.dictionary = trained});
  expect_same(frame);
  expect_same(frame, raw);
  // Each byte of the dictionary's tables damaged: the same dictionaries are refused.
  for (std::size_t i = 0; i < 200; ++i) {
    Bytes damaged = trained;
    damaged[i] ^= std::byte{0x55};
    SCOPED_TRACE(i);
    expect_same(frame, damaged);
  }
}

TEST(ZstdRestore, CutAtEachByteAndEachBitFlipped) {
  const Bytes trained = trained_dictionary();
  std::vector<std::pair<Bytes, Bytes>> frames{
      {written_by_libzstd(wordy_bytes(700)), {}},
      {written_by_libzstd(wordy_bytes(1500), {.level = 19, .content_size = false}), {}},
      {written_by_libzstd(periodic_bytes(3000, 1), {.checksum = false}), {}},
      {written_by_libzstd(random_bytes(900, 1, 30),
                          {.window_log = 10, .checksum = false, .content_size = false}),
       {}},
      {written_by_libzstd({}), {}},
      {written_by_libzstd(wordy_bytes(400, 9), {.dictionary = trained}), trained},
  };
  for (ValidData& made : small_valid_frames(40, 150)) frames.emplace_back(made.data, made.dictionary);
  for (const auto& [frame, dictionary] : frames) {
    for (std::size_t bytes = 0; bytes < frame.size(); ++bytes) {
      SCOPED_TRACE(bytes);
      const ZstdRead read = read_by_reference(std::span(frame).first(bytes), dictionary);
      ASSERT_EQ(read.outcome, ZstdOutcome::kCutOff) << read.why;
    }
    for (std::size_t bit = 0; bit < 8 * frame.size(); bit += kTriedOneOf) {
      Bytes flipped = frame;
      flipped[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
      GuardedBuffer guarded(flipped, bit % 2 == 0 ? Against::kUpperGuard : Against::kLowerGuard);
      SCOPED_TRACE(bit);
      expect_same(guarded.bytes(), dictionary);
      if (!HasFatalFailure()) expect_same_on_cpu(guarded.bytes(), dictionary);
      if (HasFatalFailure()) return;
    }
  }
}

// 20000 changed frames, or as many as HEMSTITCH_MUTATED_STREAMS says (a million before a release).
TEST(ZstdRestore, RandomMutations) {
  const char* const asked = std::getenv("HEMSTITCH_MUTATED_STREAMS");
  const unsigned long rounds = asked != nullptr ? std::strtoul(asked, nullptr, 10) : 20'000 / kTriedOneOf;
  std::mt19937 random(5);
  std::vector<ValidData> frames = small_valid_frames(200, 2000);
  for (const int level : {-3, 1, 4, 12, 19})
    for (const std::size_t bytes : {60, 900, 9000})
      for (int copies = 0; copies < 10; ++copies)
        frames.push_back(
            {written_by_libzstd(mixed_content(bytes),
                                {.level = level, .checksum = level == 4, .content_size = level > 4}),
             {}});
  for (unsigned long round = 0; round < rounds; ++round) {
    const ValidData& sound = frames[random() % frames.size()];
    Bytes frame = sound.data;
    for (unsigned long count = 1 + random() % 3; count > 0; --count) {
      const std::size_t at = random() % frame.size();
      switch (random() % 4) {
        case 0:
          frame[at] = static_cast<std::byte>(random());
          break;
        case 1:
          frame[at] ^= static_cast<std::byte>(1U << random() % 8);
          break;
        case 2:
          frame.erase(frame.begin() + static_cast<std::ptrdiff_t>(at));
          break;
        default:
          frame.insert(frame.begin() + static_cast<std::ptrdiff_t>(at), static_cast<std::byte>(random()));
      }
      if (frame.size() < 6) break;
    }
    GuardedBuffer guarded(frame, round % 2 == 0 ? Against::kUpperGuard : Against::kLowerGuard);
    SCOPED_TRACE(round);
    expect_same(guarded.bytes(), sound.dictionary, 1 + random() % 4000);
    if (!HasFatalFailure()) expect_same_on_cpu(guarded.bytes(), sound.dictionary);
    if (HasFatalFailure()) return;
  }
}

// ---- Frames that no encoder writes ----

void expect_content(const Bytes& frame, const Bytes& content) {
  const ZstdRead ours = read_by_reference(frame), theirs = read_by_libzstd(frame);
  EXPECT_EQ(theirs.outcome, ZstdOutcome::kWhole) << theirs.why;
  EXPECT_TRUE(theirs.content == content);
  EXPECT_EQ(ours.outcome, ZstdOutcome::kWhole) << ours.why;
  EXPECT_TRUE(ours.content == content);
}

void expect_refused(const Bytes& frame, std::string_view rule) {
  const ZstdRead ours = read_by_reference(frame);
  EXPECT_EQ(ours.outcome, ZstdOutcome::kRefused);
  EXPECT_NE(ours.why.find(rule), std::string::npos) << ours.why;
}

const Bytes kNoSequences = numbers({0});

TEST(ZstdRestore, RawRleAndEmptyBlocks) {
  const Bytes raw = random_bytes(1000);
  Bytes content = raw;
  content.insert(content.end(), 131072, std::byte{7});
  expect_content(HandMadeFrame().raw({}).raw(raw).raw({}).rle(7, 131072).rle(9, 0).raw({}).end(), content);
  // A billion empty blocks would be as these.
  HandMadeFrame many;
  for (int i = 0; i < 100'000; ++i) many.raw({});
  expect_content(many.end(), {});
}

TEST(ZstdRestore, AllHeadersOfLiterals) {
  const Bytes twenty(20, std::byte{5});
  for (const std::size_t header_bytes : {1, 2, 3})
    for (const bool rle : {false, true})
      expect_content(
          HandMadeFrame().compressed(joined({plain_literals(twenty, header_bytes, rle), kNoSequences})).end(),
          twenty);
  struct Form {
    std::size_t count, header_bytes;
    bool four;
  };
  for (const Form form : {Form{1, 3, false},
                          {1023, 3, false},
                          {6, 3, true},
                          {1000, 3, true},
                          {6, 4, true},
                          {10'000, 4, true},
                          {6, 5, true},
                          {131'072, 5, true}}) {
    SCOPED_TRACE(form.count);
    const Bytes own = joined({coded_literals(form.count, form.header_bytes, form.four, false), kNoSequences}),
                treeless =
                    joined({coded_literals(form.count, form.header_bytes, form.four, true), kNoSequences});
    const Bytes frame = HandMadeFrame().compressed(own).raw({}).compressed(treeless).end();
    const ZstdRead theirs = read_by_libzstd(frame);
    EXPECT_EQ(theirs.outcome, ZstdOutcome::kWhole) << theirs.why;
    EXPECT_EQ(theirs.content.size(), 2 * form.count);
    expect_same(frame);
    expect_refused(HandMadeFrame().compressed(treeless).end(), "there was none");
  }
  // Five literals are too few for four streams.
  expect_same(HandMadeFrame().compressed(joined({coded_literals(5, 3, true, false), kNoSequences})).end());
}

TEST(ZstdRestore, TablesOfOneCodeAndRepeatedOnes) {
  const Bytes ten = random_bytes(10);
  const std::vector<ZstdSequence> sequences{{2, 3, 2 + 3}, {2, 3, 2 + 3}, {2, 3, 2 + 3}};
  const Bytes block = joined({plain_literals(ten, 1), sequences_section(sequences, {2, 2, 0})});
  // The same codes again: mode 3 for all three, with the same stream of bits.
  Bytes section = sequences_section(sequences, {2, 2, 0});
  section[1] = std::byte{0xFC};
  section.erase(section.begin() + 2, section.begin() + 5);
  const Bytes again = joined({plain_literals(ten, 1), section});
  const Bytes frame = HandMadeFrame().compressed(block).rle(1, 5).compressed(again).end();
  EXPECT_EQ(read_by_reference(frame).outcome, ZstdOutcome::kWhole) << read_by_reference(frame).why;
  expect_same(frame);
  expect_refused(HandMadeFrame().compressed(again).end(), "to be repeated");
  // A code that does not exist.
  Bytes no_code = block;
  no_code[1 + 10 + 2] = std::byte{36};
  expect_refused(HandMadeFrame().compressed(no_code).end(), "no such symbol");
  expect_same(HandMadeFrame().compressed(no_code).end());
}

TEST(ZstdRestore, RepeatOffsets) {
  const Bytes literals = random_bytes(120);
  // Each of the three, with literals before the match and without, and "repeat 1 minus 1".
  std::vector<ZstdSequence> sequences{{30, 5, 3 + 20}};
  for (const std::uint32_t count : {1, 0})
    for (const std::uint32_t value : {1, 2, 3, 3 + 9, 2, 1, 3})
      sequences.push_back({count, 4 + value, value});
  expect_same(
      HandMadeFrame().compressed(joined({plain_literals(literals, 2), sequences_section(sequences)})).end());
  const ZstdRead read = read_by_reference(
      HandMadeFrame().compressed(joined({plain_literals(literals, 2), sequences_section(sequences)})).end());
  EXPECT_EQ(read.outcome, ZstdOutcome::kWhole) << read.why;
}

TEST(ZstdRestore, EachRule) {
  const Bytes five = random_bytes(5);
  const auto with = [&](std::vector<ZstdSequence> sequences) {
    return HandMadeFrame().compressed(joined({plain_literals(five, 1), sequences_section(sequences)})).end();
  };
  expect_refused(with({{5, 3, 6 + 3}}), "before the window");
  expect_refused(with({{1, 3, 4}, {0, 3, 3}}), "an offset is 0");  // repeat 1 minus 1
  expect_refused(with({{6, 3, 4}}), "more literals");
  expect_refused(with({{1, 65539 + 65535, 4}}), "larger than 128 KB");
  expect_refused(HandMadeFrame().block(ZstdBlockType::kReserved, 0, {}).end(), "3.1.1.2.2");
  expect_refused(HandMadeFrame().rle(1, 131073).end(), "larger than 128 KB");
  expect_refused(HandMadeFrame(1024).raw(Bytes(1025)).end(), "larger than 128 KB");
  expect_refused(HandMadeFrame().compressed(numbers({0x0C})).end(), "literals are cut off");
  expect_refused(HandMadeFrame().compressed({}).end(), "has no bytes");
  expect_refused(HandMadeFrame().compressed(plain_literals(five, 1)).end(), "sequences is cut off");
  expect_refused(HandMadeFrame().compressed(joined({plain_literals(five, 1), numbers({0, 0})})).end(),
                 "bytes follow");
  Bytes reserved = joined({plain_literals(five, 1), sequences_section(std::vector<ZstdSequence>{{1, 3, 4}})});
  reserved[1 + 5 + 1] |= std::byte{1};
  expect_refused(HandMadeFrame().compressed(reserved).end(), "reserved bits");
  Bytes no_mark = joined({plain_literals(five, 1), sequences_section(std::vector<ZstdSequence>{{1, 3, 4}})});
  no_mark.back() = std::byte{0};
  expect_refused(HandMadeFrame().compressed(no_mark).end(), "no mark");
  expect_refused(HandMadeFrame().raw(five).compressed(numbers({0x0C})).end(), "block 2");
}

// A match may reach back to the first byte of the window, and no farther once that is full.
TEST(ZstdRestore, TheWindowEnds) {
  const Bytes window = random_bytes(1024);
  for (const std::uint32_t offset : {1024, 1025}) {
    const std::vector<ZstdSequence> sequences{{0, 5, offset + 3}};
    HandMadeFrame frame(1024);
    frame.raw(window).raw(window);
    const Bytes whole = frame.compressed(joined({plain_literals({}, 1), sequences_section(sequences)})).end();
    if (offset == 1024)
      expect_same(whole);
    else
      expect_refused(whole, "before the window");
  }
}

}  // namespace
}  // namespace hemstitch::testing
