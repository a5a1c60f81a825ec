// Streams that are restored in pieces on a device, compared with the decoder for one thread: the same
// verdict, the same bytes, the same end. Here the processor plays the device, with any trouble that devices
// make. Pieces are tiny, so that small streams cross every boundary.
#include "format/deflate/stream/deflate_device_decoder.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <random>
#include <set>

#include "backend_of.hpp"
#include "deflate_streams.hpp"
#include "engine/registry.hpp"
#include "guarded_buffer.hpp"
#include "hemstitch/hemstitch.hpp"
#include "pipeline/stream.hpp"
#include "processor_pieces.hpp"
#include "restored_file.hpp"
#include "threads.hpp"
#include "valid_data/valid_data.hpp"

namespace hemstitch::testing {
namespace {

DeflateDeviceLimits tiny_pieces(std::size_t piece_bytes) {
  return {.piece_bytes = piece_bytes,
          .first_piece_bytes = piece_bytes / 4 + 1,
          .lead_bytes = piece_bytes / 3 + 1,
          .gather_bytes = piece_bytes / 2 + 1,
          .content_bytes = 6 * piece_bytes,
          .serial_bytes = piece_bytes / 4 + 1};
}

struct Outcome {
  Status status = Status::kTruncated;
  std::string detail = {};
  Bytes content = {};
  std::uint64_t end = 0;  // where the stream has ended
  std::uint64_t device_bytes = 0;
  std::vector<std::string> failures = {};
};

// Restores one stream, given in pieces of up to `most_in`, with room for `most_out` at once; with `own_room`,
// through the decoder's own memory.
void restore_by(StreamDecoder& decoder, std::span<const std::byte> data, Outcome& outcome,
                bool own_room = false, std::size_t most_in = 1500, std::size_t most_out = 4000) {
  GuardedBuffer outputs(most_out);
  std::span<const std::byte> left = data;
  for (;;) {
    std::size_t count = std::min(left.size(), most_in);
    std::optional<std::span<std::byte>> room;
    if (own_room) room = decoder.input_room();
    if (room) count = std::min(count, room->size());
    GuardedBuffer input(left.first(count));
    if (room) std::copy_n(left.begin(), count, room->begin());
    const StreamStep step = decoder.restore(room ? room->first(count) : input.bytes(), outputs.bytes());
    ASSERT_LE(step.input_bytes, count);
    ASSERT_LE(step.output_bytes, most_out);
    if (room) {
      ASSERT_EQ(step.input_bytes, count);
    }
    left = left.subspan(step.input_bytes);
    decoder.settle(decoder.under_way());
    const auto content = outputs.bytes().first(step.output_bytes);
    outcome.content.insert(outcome.content.end(), content.begin(), content.end());
    if (step.status != Status::kOk) {
      outcome.status = step.status;
      outcome.detail = step.detail;
      break;
    }
    if (step.ended) outcome.status = Status::kOk;
    if (step.ended || (step.input_bytes == 0 && step.output_bytes == 0 && !step.wants_input)) break;
  }
  outcome.end = data.size() - left.size() - decoder.ahead_bytes();
}

struct DecoderOptions {
  bool members = false, settles = true, own_room = false;
  Bytes history = {};
  DeviceTrouble trouble = {};
};

std::unique_ptr<DeflateDeviceDecoder> make_decoder(const DeflateDeviceLimits& limits,
                                                   const DecoderOptions& options,
                                                   std::vector<std::string>& failures, std::mutex& mutex) {
  StreamMeans means;
  means.settles = options.settles;
  means.on_failure = [&](const std::string& reason) {
    const std::scoped_lock lock(mutex);
    failures.push_back(reason);
  };
  return std::make_unique<DeflateDeviceDecoder>(std::make_unique<ProcessorPieces>(limits, options.trouble),
                                                options.history, options.members, means, limits);
}

Outcome restored_on_device(std::span<const std::byte> data, const DeflateDeviceLimits& limits,
                           const DecoderOptions& options = {}, std::size_t most_out = 4000) {
  Outcome outcome;
  std::mutex mutex;
  const auto decoder = make_decoder(limits, options, outcome.failures, mutex);
  restore_by(*decoder, data, outcome, options.own_room, 1500, most_out);
  outcome.device_bytes = decoder->device_bytes();
  return outcome;
}

Outcome restored_by_one_thread(std::span<const std::byte> data, std::span<const std::byte> history = {}) {
  Outcome outcome;
  DeflateDecoder serial(history);
  restore_by(serial, data, outcome);
  return outcome;
}

void require_as_one_thread(std::span<const std::byte> data, const DeflateDeviceLimits& limits,
                           const std::string& what, const DecoderOptions& options = {},
                           std::size_t most_out = 4000) {
  const Outcome expected = restored_by_one_thread(data, options.history),
                found = restored_on_device(data, limits, options, most_out);
  ASSERT_EQ(found.status, expected.status) << what << ": " << found.detail << " / " << expected.detail;
  ASSERT_EQ(found.detail, expected.detail) << what;
  ASSERT_EQ(found.content == expected.content, true) << what;
  if (expected.status == Status::kOk) {
    ASSERT_EQ(found.end, expected.end) << what;
  }
}

Bytes gzip_of(const Bytes& content, int level = 6) {
  return zlib_stream(content, level, Z_DEFAULT_STRATEGY, 1, MAX_WBITS + 16);
}

struct NamedStream {
  std::string name;
  Bytes data;
};

std::vector<NamedStream> streams() {
  const Bytes text = wordy_bytes(80'000), mixed = mixed_bytes(80'000), noise = random_bytes(40'000);
  std::vector<NamedStream> all;
  for (const int level : {0, 1, 6, 9})
    all.push_back({"level", zlib_stream(mixed, level, Z_DEFAULT_STRATEGY, 1)});
  for (const int strategy : {Z_FILTERED, Z_HUFFMAN_ONLY, Z_RLE, Z_FIXED})
    all.push_back({"strategy", zlib_stream(text, 6, strategy, 1)});
  all.push_back({"large blocks", zlib_stream(text)});
  all.push_back({"noise", zlib_stream(noise, 6, Z_DEFAULT_STRATEGY, 1)});
  all.push_back({"zeros", zlib_stream(Bytes(800'000), 6, Z_DEFAULT_STRATEGY, 1)});
  all.push_back({"one byte", zlib_stream(Bytes(1))});
  all.push_back({"nothing", zlib_stream(Bytes())});
  return all;
}

TEST_WITH_THREADS(DeflateDevice, RestoresAsOneThreadDoes) {
  for (const NamedStream& stream : streams())
    for (const std::size_t piece_bytes : {std::size_t{900}, std::size_t{20'000}})
      for (const bool settles : {false, true})
        for (const bool own_room : {false, true}) {
          require_as_one_thread(stream.data, tiny_pieces(piece_bytes),
                                stream.name + ", pieces of " + std::to_string(piece_bytes),
                                {.settles = settles, .own_room = own_room});
          if (HasFatalFailure()) return;
        }
}

TEST_WITH_THREADS(DeflateDevice, StreamsThatNoEncoderWrites) {
  for (unsigned seed = 0; seed < 400; ++seed) {
    const ValidData made = valid_deflate_stream(seed, seed % 25 == 0 ? 300'000 : 20'000);
    SCOPED_TRACE(seed);
    const Outcome found = restored_on_device(made.data, tiny_pieces(100 + seed * 7 % 3000),
                                             {.settles = seed % 2 == 0, .history = made.dictionary});
    ASSERT_EQ(found.status, Status::kOk) << found.detail;
    ASSERT_TRUE(found.content == made.content);
    ASSERT_EQ(found.end, made.data.size());
  }
}

TEST_WITH_THREADS(DeflateDevice, HasPiecesOfAnySize) {
  const Bytes content = mixed_bytes(4000);
  for (const int level : {0, 6}) {
    const Bytes data = zlib_stream(content, level, Z_DEFAULT_STRATEGY, 1);
    for (const std::size_t piece_bytes :
         {std::size_t{300}, std::size_t{301}, data.size() - 1, data.size(), data.size() + 1}) {
      require_as_one_thread(data, tiny_pieces(piece_bytes), std::to_string(piece_bytes));
      if (HasFatalFailure()) return;
    }
  }
}

// A cut block waits for a piece that does not come.
TEST_WITH_THREADS(DeflateDevice, EndsWithAFullPiece) {
  const Bytes content = mixed_bytes(20'000);
  for (const std::size_t cut : {0, 1, 100}) {
    Bytes data = zlib_stream(content, 6, Z_DEFAULT_STRATEGY, 1);
    data.resize(data.size() - cut);
    DeflateDeviceLimits limits = tiny_pieces(data.size());
    limits.first_piece_bytes = limits.lead_bytes = data.size();
    for (const bool own_room : {false, true})
      require_as_one_thread(data, limits, std::to_string(cut), {.own_room = own_room});
    limits.piece_bytes = limits.first_piece_bytes = (data.size() + 1) / 2;
    require_as_one_thread(data, limits, std::to_string(cut));
  }
}

// The device restores what it can, so the tests above are meaningful.
TEST_WITH_THREADS(DeflateDevice, LeavesLittleToTheProcessor) {
  const Bytes content = wordy_bytes(600'000), data = zlib_stream(content, 6, Z_DEFAULT_STRATEGY, 1);
  const Outcome found = restored_on_device(data, tiny_pieces(20'000));
  EXPECT_EQ(found.content == content, true);
  EXPECT_EQ(found.device_bytes, content.size());
  // Content that exceeds its room takes more steps.
  DeflateDeviceLimits limits = tiny_pieces(20'000);
  limits.content_bytes = 25'000;
  const Outcome in_steps = restored_on_device(data, limits);
  EXPECT_EQ(in_steps.content == content, true);
  EXPECT_EQ(in_steps.device_bytes, content.size());
  limits.begin_bytes = 30'000;
  const Outcome begun = restored_on_device(data, limits);
  EXPECT_EQ(begun.content == content, true);
  EXPECT_LT(begun.device_bytes, content.size());
  EXPECT_GT(begun.device_bytes, content.size() / 2);
}

TEST_WITH_THREADS(DeflateDevice, KnowsTheContentBefore) {
  const Bytes history = wordy_bytes(20'000, 7), content = wordy_bytes(200'000, 8) + history;
  const Bytes data = zlib_stream(content, 6, Z_DEFAULT_STRATEGY, 1, -MAX_WBITS, history);
  require_as_one_thread(data, tiny_pieces(3000), "with history", {.history = history});
  require_as_one_thread(data, tiny_pieces(3000), "without history");
}

TEST_WITH_THREADS(DeflateDevice, GoesOnWhereTheDeviceConfirmsNothing) {
  const Bytes content = mixed_bytes(300'000), data = zlib_stream(content, 6, Z_DEFAULT_STRATEGY, 1);
  std::set<unsigned> all, odd;
  for (unsigned call = 1; call < 1000; ++call) {
    all.insert(call);
    if (call % 2 == 1) odd.insert(call);
  }
  for (const auto& nothing : {all, odd, std::set<unsigned>{1}, std::set<unsigned>{3, 4, 5}}) {
    require_as_one_thread(data, tiny_pieces(4000), "nothing", {.trouble = {.nothing = nothing}});
    if (HasFatalFailure()) return;
  }
  EXPECT_EQ(restored_on_device(data, tiny_pieces(4000), {.trouble = {.nothing = all}}).device_bytes, 0u);
  EXPECT_GT(restored_on_device(data, tiny_pieces(4000), {.trouble = {.nothing = odd}}).device_bytes, 0u);
  // A device that restores little at once.
  const Outcome little = restored_on_device(data, tiny_pieces(40'000), {.trouble = {.most_blocks = 1}});
  EXPECT_EQ(little.content == content, true);
  EXPECT_GT(little.device_bytes, 0u);
  EXPECT_LT(little.device_bytes, content.size() / 2);
}

TEST_WITH_THREADS(DeflateDevice, LosesNothingWhereTheDeviceFails) {
  const Bytes content = wordy_bytes(200'000), data = zlib_stream(content, 6, Z_DEFAULT_STRATEGY, 1);
  const std::vector<DeviceTrouble> troubles = {
      {.uploads = {1}},     {.uploads = {7}},         {.uploads = {7, 8}},      {.carries = {2}},
      {.carries = {1, 3}},  {.restores = {1}},        {.restores = {2}},        {.restores = {3, 5}},
      {.downloads = {1}},   {.downloads = {9}},       {.downloads = {9, 11}},   {.waits = {1}},
      {.waits = {8}},       {.waits = {8, 9}},        {.waits = {2, 30}},       {.nonsense = {2}},
      {.nonsense = {2, 3}}, {.lost_from_restore = 1}, {.lost_from_restore = 2}, {.lost_from_restore = 4}};
  for (std::size_t i = 0; i < troubles.size(); ++i)
    for (const bool settles : {false, true}) {
      const Outcome found =
          restored_on_device(data, tiny_pieces(3200), {.settles = settles, .trouble = troubles[i]});
      ASSERT_EQ(found.status, Status::kOk) << i << ": " << found.detail;
      ASSERT_EQ(found.content == content, true) << i;
      ASSERT_EQ(found.end, data.size()) << i;
      ASSERT_GE(found.failures.size(), 1u) << i;
      ASSERT_NE(found.failures[0].find(troubles[i].nonsense.empty() ? "injected" : "add up"),
                std::string::npos)
          << found.failures[0];
    }
}

// Several threads restore the rest of the stream, and the members after it.
TEST_WITH_THREADS(DeflateDevice, LeavesTheRestToThreads) {
  const Bytes content = wordy_bytes(200'000), more = mixed_bytes(60'000);
  const auto require_right = [&](const DeviceTrouble& trouble, bool own_room, std::size_t most_out) {
    DeflateDeviceLimits limits = tiny_pieces(6000);
    limits.processor = {.threads = 3,
                        .pieces = 6,
                        .piece_bytes = 2000,
                        .overlap_bytes = 1000,
                        .content_bytes = 200'000,
                        .begin_bytes = 1};
    DecoderOptions options{.own_room = own_room, .trouble = trouble};
    const Bytes data = zlib_stream(content, 6, Z_DEFAULT_STRATEGY, 1);
    require_as_one_thread(data, limits, "whole", options, most_out);
    Bytes damaged = data;
    damaged[data.size() * 3 / 4] ^= std::byte{16};
    require_as_one_thread(damaged, limits, "damaged", options, most_out);
    require_as_one_thread(std::span(data).first(data.size() - 1000), limits, "cut", options, most_out);

    options.members = true;
    std::vector<std::string> failures;
    std::mutex mutex;
    const auto decoder = make_decoder(limits, options, failures, mutex);
    const Bytes members = data + bytes_of("between") + zlib_stream(more, 6, Z_DEFAULT_STRATEGY, 1);
    Outcome first, second;
    restore_by(*decoder, members, first, own_room, 1500, most_out);
    ASSERT_EQ(first.content == content, true);
    std::span<const std::byte> left =
        std::span(members).subspan(static_cast<std::size_t>(first.end + decoder->ahead_bytes()));
    Bytes between(7);
    const std::size_t ahead = decoder->read_ahead(between);
    std::copy_n(left.begin(), 7 - ahead, between.begin() + static_cast<std::ptrdiff_t>(ahead));
    left = left.subspan(7 - ahead);
    ASSERT_EQ(between, bytes_of("between"));
    ASSERT_TRUE(decoder->begin_next({}));
    restore_by(*decoder, left, second, own_room, 1500, most_out);
    ASSERT_EQ(second.status, Status::kOk);
    ASSERT_EQ(second.content == more, true);
    ASSERT_EQ(decoder->content_crc32(), checksum_of(Checksum::kCrc32, more));
    ASSERT_GE(failures.size(), 2u);
  };
  for (const DeviceTrouble& trouble : {DeviceTrouble{.uploads = {1, 2}}, DeviceTrouble{.restores = {2, 3}},
                                       DeviceTrouble{.waits = {3, 4}}, DeviceTrouble{.lost_from_restore = 3}})
    for (const bool own_room : {false, true})
      for (const std::size_t most_out : {std::size_t{700}, std::size_t{100'000}}) {
        require_right(trouble, own_room, most_out);
        if (HasFatalFailure()) return;
      }
}

// Pieces are prepared before their links are known. Threads may be late, so the best of some runs counts.
TEST_WITH_THREADS(DeflateDevice, PreparesPieces) {
  const Bytes content = wordy_bytes(400'000), data = zlib_stream(content, 6, Z_DEFAULT_STRATEGY, 1);
  const std::vector<DeviceTrouble> troubles = {
      {}, {.preparations = {1}}, {.preparations = {2, 4}}, {.restores = {4}}, {.most_blocks = 3}};
  for (const unsigned rooms : {1u, 2u, 3u})
    for (const DeviceTrouble& trouble : troubles) {
      DeflateDeviceLimits limits = tiny_pieces(9000);
      limits.rooms = rooms;
      limits.overlap_bytes = 2500;
      unsigned prepared = 0;
      for (unsigned run = 0; run < (trouble.preparations.empty() ? 50u : 5u) && prepared == 0; ++run) {
        auto device = std::make_unique<ProcessorPieces>(limits, trouble);
        const ProcessorPieces& pieces = *device;
        StreamMeans means;
        means.settles = true;
        DeflateDeviceDecoder decoder(std::move(device), {}, false, means, limits);
        Outcome found;
        restore_by(decoder, data, found, true, SIZE_MAX, 100'000);
        ASSERT_EQ(found.status, Status::kOk);
        ASSERT_EQ(found.content == content, true);
        prepared = pieces.restored_as_prepared();
      }
      if (rooms == 1) {
        EXPECT_EQ(prepared, 0u);
      } else if (trouble.preparations.empty()) {
        EXPECT_GT(prepared, 0u) << rooms << " rooms";
      }
    }
}

// If the device is lost before its downloads were waited for, they are all restored again, in order.
TEST_WITH_THREADS(DeflateDevice, RestoresAgainWhatDidNotArrive) {
  const Bytes content = wordy_bytes(200'000), data = zlib_stream(content, 6, Z_DEFAULT_STRATEGY, 1);
  for (const unsigned first : {1u, 2u, 5u}) {
    std::set<unsigned> waits;
    for (unsigned call = first; call < 100; ++call) waits.insert(call);
    std::vector<std::string> failures;
    std::mutex mutex;
    const DecoderOptions options{.trouble = {.waits = waits}};
    const auto decoder = make_decoder(tiny_pieces(20'000), options, failures, mutex);
    Bytes restored(content.size());
    std::span<const std::byte> left = data;
    std::size_t done = 0;
    for (bool ended = false; !ended;) {
      const StreamStep step = decoder->restore(
          left, std::span(restored).subspan(done, std::min<std::size_t>(restored.size() - done, 7000)));
      ASSERT_EQ(step.status, Status::kOk);
      left = left.subspan(step.input_bytes);
      done += step.output_bytes;
      ended = step.ended || done == restored.size();
    }
    decoder->settle(decoder->under_way());
    ASSERT_EQ(restored == content, true) << first;
  }
}

TEST_WITH_THREADS(DeflateDevice, JudgesDamageAsOneThreadDoes) {
  const Bytes content = mixed_bytes(40'000, 5) + wordy_bytes(40'000, 6);
  const Bytes data = zlib_stream(content, 6, Z_DEFAULT_STRATEGY, 1);
  std::mt19937 random(1);
  for (unsigned round = 0; round < 80; ++round) {
    Bytes changed = data;
    const std::size_t at = random() % changed.size();
    switch (random() % 3) {
      case 0:
        changed.resize(at);
        break;
      case 1:
        changed[at] ^= std::byte{1} << random() % 8;
        break;
      default:
        changed.erase(
            changed.begin() + static_cast<std::ptrdiff_t>(at),
            changed.begin() + static_cast<std::ptrdiff_t>(std::min(at + 1 + random() % 2000, data.size())));
    }
    DecoderOptions options;
    options.own_room = round % 2 == 0;
    if (round % 3 == 0) options.trouble.restores = {1 + static_cast<unsigned>(random() % 8)};
    require_as_one_thread(changed, tiny_pieces(400 + random() % 9000), "round " + std::to_string(round),
                          options);
    if (HasFatalFailure()) return;
  }
}

TEST_WITH_THREADS(DeflateDevice, EntersAtEveryBitOfAByte) {
  const Bytes content = wordy_bytes(60'000);
  for (unsigned blocks = 0; blocks < 8; ++blocks) {
    DeflateBitWriter writer;
    for (unsigned i = 0; i < blocks; ++i) writer.block(false, 1).code(0x190 + 200 - 144, 9).code(0, 7);
    for (const std::byte byte : zlib_stream(content, 6, Z_DEFAULT_STRATEGY, 1))
      writer.bits(static_cast<unsigned>(byte), 8);
    require_as_one_thread(writer.bytes(), tiny_pieces(900), std::to_string(blocks));
  }
}

// Consecutive members, as a reader of gzip takes them.
TEST_WITH_THREADS(DeflateDevice, GoesFromMemberToMember) {
  std::mt19937 random(3);
  Bytes data;
  std::vector<Bytes> contents;
  for (unsigned i = 0; i < 40; ++i) {
    contents.push_back(i % 7 == 0 ? Bytes() : mixed_bytes(random() % (i % 5 == 0 ? 100'000 : 3000), i));
    data = data + gzip_of(contents.back(), i % 3 == 0 ? 1 : 6);
  }
  data = data + bytes_of("no member");
  for (const std::size_t piece_bytes : {std::size_t{60}, std::size_t{5000}, std::size_t{50'000}})
    for (const bool follows : {true, false}) {
      std::vector<std::string> failures;
      std::mutex mutex;
      DecoderOptions options{.members = true};
      options.trouble.follows_members = follows;
      const auto decoder = make_decoder(tiny_pieces(piece_bytes), options, failures, mutex);
      std::span<const std::byte> left = data;
      const auto pass = [&](std::size_t count) {
        Bytes passed(count);
        const std::size_t ahead = decoder->read_ahead(passed);
        std::copy_n(left.begin(), count - ahead, passed.begin() + static_cast<std::ptrdiff_t>(ahead));
        left = left.subspan(count - ahead);
        return passed;
      };
      for (std::size_t i = 0; i < contents.size(); ++i) {
        ASSERT_EQ(pass(10)[0], std::byte{0x1F}) << i;
        ASSERT_TRUE(i == 0 || decoder->begin_next({}));
        Outcome found;
        restore_by(*decoder, left, found);
        left = left.last(static_cast<std::size_t>(left.size()) -
                         static_cast<std::size_t>(found.end + decoder->ahead_bytes()));
        ASSERT_EQ(found.status, Status::kOk) << i << ": " << found.detail;
        ASSERT_EQ(found.content == contents[i], true) << i << ", pieces of " << piece_bytes;
        const Bytes trailer = pass(8);
        ASSERT_EQ(load_le32(trailer.data()), decoder->content_crc32().value());
        ASSERT_EQ(load_le32(trailer.data() + 4), contents[i].size());
      }
      EXPECT_EQ(pass(9), bytes_of("no member"));
      EXPECT_EQ(decoder->ahead_bytes(), 0u);
      if (follows && piece_bytes >= 5000) {
        EXPECT_GT(decoder->device_bytes(), data.size());
      }
    }
}

TEST_WITH_THREADS(DeflateDevice, IsGivenUpAtAnyTime) {
  const Bytes data = zlib_stream(wordy_bytes(400'000), 6, Z_DEFAULT_STRATEGY, 1);
  for (std::size_t given = 0; given < data.size(); given += 9001) {
    std::vector<std::string> failures;
    std::mutex mutex;
    Bytes output(1000);
    const auto decoder = make_decoder(tiny_pieces(6000), {}, failures, mutex);
    decoder->restore(std::span(data).first(given / 2), output);
    decoder->restore(std::span(data).subspan(given / 2, given / 2), output);
  }
}

TEST(DeflateDevice, TakesNoMoreThanItMay) {
  const auto device_bytes = [](const DeflateDeviceLimits& limits) {
    return limits.content_bytes * std::uint64_t{6};
  };
  const auto all = deflate_device_limits({}, 0, device_bytes);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->piece_bytes, kDeflateDevicePieceBytes);
  EXPECT_EQ(all->begin_bytes, kDeflateDeviceLeastBytes) << "it may be short";
  const auto known = deflate_device_limits({.input_bytes = std::uint64_t{1} << 30}, 0, device_bytes);
  ASSERT_TRUE(known);
  EXPECT_EQ(known->begin_bytes, 0u);
  const auto short_file = deflate_device_limits({.input_bytes = 20'000'000}, 0, device_bytes);
  ASSERT_TRUE(short_file);
  EXPECT_LT(short_file->piece_bytes, 10'000'000u);
  EXPECT_FALSE(deflate_device_limits({.input_bytes = 7'000'000}, 0, device_bytes));
  const auto tight = deflate_device_limits({.memory_bytes = 100 << 20}, 0, device_bytes);
  ASSERT_TRUE(tight);
  EXPECT_LE(tight->memory_bytes(), 100u << 20);
  const auto tight_device = deflate_device_limits({}, 500 << 20, device_bytes);
  ASSERT_TRUE(tight_device);
  EXPECT_LE(device_bytes(*tight_device), 500u << 20);
  EXPECT_FALSE(deflate_device_limits({.memory_bytes = 1000}, 0, device_bytes));
  EXPECT_FALSE(deflate_device_limits({}, 1000, device_bytes));
}

// ---- Files, through the pipeline ----

std::atomic<std::size_t> piece_bytes_of_engine{5000};
DeviceTrouble trouble_of_engine;

class PiecesEngine : public BlockEngine {
 public:
  std::size_t preferred_batch_bytes() const override { return std::size_t{512} << 10; }
  unsigned preferred_batches_in_flight(unsigned threads) const override { return threads == 1 ? 1 : 4; }
  void compress(std::span<BlockTask>, const EncodeParameters&) override {}
  void restore(std::span<BlockTask> tasks, Format format) override { cpu_->restore(tasks, format); }
  StreamMemory stream_memory(Format, const FrameHeader&, const StreamMeans&) const override {
    const DeflateDeviceLimits limits = tiny_pieces(piece_bytes_of_engine);
    return {.host_bytes = limits.memory_bytes(), .device_bytes = 1, .device_limit_bytes = 2};
  }
  std::unique_ptr<StreamDecoder> make_stream_decoder(Format format, const FrameHeader&,
                                                     std::span<const std::byte> history,
                                                     const StreamMeans& means) override {
    const DeflateDeviceLimits limits = tiny_pieces(piece_bytes_of_engine);
    return std::make_unique<DeflateDeviceDecoder>(
        std::make_unique<ProcessorPieces>(limits, trouble_of_engine), history, format == Format::kGzip, means,
        limits);
  }

 private:
  std::unique_ptr<BlockEngine> cpu_ = BackendRegistry::instance().find_usable("cpu").make_engine({});
};

class DeflateDeviceFiles : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    BackendRegistry::instance().add(std::make_unique<BackendOf<PiecesEngine>>("pieces"));
  }
  void SetUp() override {
    piece_bytes_of_engine = 5000;
    trouble_of_engine = {};
  }

  static RestoredFile restored(const Bytes& data, std::string_view backend, unsigned threads,
                               std::optional<std::pair<std::uint64_t, std::uint64_t>> range = {}) {
    RestoreOptions options;
    options.backend = backend;
    options.threads = threads;
    return restored_file(data, options, range);
  }
  static void require_same(const Bytes& data, const std::string& what,
                           std::optional<std::pair<std::uint64_t, std::uint64_t>> range = {}) {
    const RestoredFile expected = restored(data, "cpu", 1, range);
    for (const unsigned threads : {1u, 3u}) {
      const RestoredFile found = restored(data, "pieces", threads, range);
      ASSERT_EQ(found.error, expected.error) << what;
      ASSERT_EQ(found.content == expected.content, true) << what << ", " << threads << " threads";
      ASSERT_EQ(found.report.trailing_garbage_at, expected.report.trailing_garbage_at) << what;
      if (!range) {
        ASSERT_EQ(found.report.input_bytes, expected.report.input_bytes) << what;
      }
      ASSERT_EQ(found.report.frame_count, expected.report.frame_count) << what;
    }
  }
};

TEST_F_WITH_THREADS(DeflateDeviceFiles, AreRestoredAsOnTheProcessor) {
  const Bytes text = wordy_bytes(300'000), mixed = mixed_bytes(100'000);
  const Bytes zlib = zlib_stream(text, 6, Z_DEFAULT_STRATEGY, 8, MAX_WBITS);
  const Bytes two = gzip_of(text) + gzip_of(mixed, 1);
  Bytes wrong_crc = gzip_of(text) + gzip_of(mixed), damaged = two;
  wrong_crc[gzip_of(text).size() - 6] ^= std::byte{1};
  damaged[damaged.size() / 2] ^= std::byte{4};
  for (const std::size_t piece_bytes : {std::size_t{700}, std::size_t{40'000}, std::size_t{1'000'000}}) {
    piece_bytes_of_engine = piece_bytes;
    require_same(gzip_of(text), "gzip");
    require_same(zlib, "zlib");
    require_same(two, "two members");
    require_same(two + bytes_of("garbage behind"), "garbage");
    require_same(wrong_crc, "wrong checksum");
    require_same(damaged, "damaged");
    require_same({two.begin(), two.end() - 5}, "cut in a trailer");
    require_same({two.begin(), two.begin() + static_cast<std::ptrdiff_t>(two.size() / 3)}, "cut");
    require_same(two, "a range", {{250'000, 350'000}});
    require_same(two, "a range to the end", {{100, UINT64_MAX}});
    if (HasFatalFailure()) return;
  }
}

TEST_F_WITH_THREADS(DeflateDeviceFiles, TellWhatFailed) {
  const Bytes text = wordy_bytes(1'500'000), data = gzip_of(text);
  trouble_of_engine.restores = {3};
  for (const unsigned threads : {1u, 3u}) {
    const RestoredFile once = restored(data, "pieces", threads);
    EXPECT_EQ(once.content == text, true);
    EXPECT_EQ(once.report.fallback_blocks, 1u);
    EXPECT_EQ(once.report.fallback_backend, "cpu");
    EXPECT_NE(once.report.fallback_reason.find("injected: restore"), std::string::npos);
    EXPECT_FALSE(once.report.dropped);
  }
  trouble_of_engine.restores = {3, 4};
  const RestoredFile twice = restored(data + data, "pieces", 3);
  EXPECT_EQ(twice.error, "");
  EXPECT_EQ(twice.content == text + text, true);
  EXPECT_TRUE(twice.report.dropped);
}

// A dropped device may still work on pieces that the processor has passed. There is no room for more input
// until it is done.
TEST_F_WITH_THREADS(DeflateDeviceFiles, WaitForADroppedDeviceThatStillWorks) {
  const Bytes text = wordy_bytes(1'500'000), data = gzip_of(text);
  trouble_of_engine.restores = {1, 2};
  trouble_of_engine.preparation_time = std::chrono::milliseconds(30);
  for (const unsigned threads : {1u, 3u}) {
    const RestoredFile found = restored(data + data, "pieces", threads);
    EXPECT_EQ(found.error, "");
    EXPECT_EQ(found.content == text + text, true);
    EXPECT_TRUE(found.report.dropped);
  }
}

}  // namespace
}  // namespace hemstitch::testing
