#include "engine/reference/reference_backend.hpp"

#include <gtest/gtest.h>

#include "engine/registry.hpp"
#include "format/lz4/compress/lz4_compress_reference.hpp"
#include "shapes.hpp"
#include "threads.hpp"

namespace hemstitch {
namespace {

using namespace testing;

TEST(ReferenceBackend, IsRegisteredUsableAndNeverChosenUnasked) {
  const Backend& backend = BackendRegistry::instance().find_usable("reference");
  EXPECT_EQ(backend.name(), "reference");
  EXPECT_FALSE(backend.chosen_by_auto());
  EXPECT_EQ(backend.fallback_name(), "reference");
  EXPECT_FALSE(backend.unavailable_reason({}).has_value());
}

TEST(ReferenceBackend, CompressesAndRestoresABatchWithItsHistories) {
  const auto engine = make_reference_backend()->make_engine({});
  const Bytes text = wordy_bytes(300'000, 1);
  const EncodeParameters parameters{.level = 6, .block_bytes = 65536};
  std::vector<BlockTask> tasks;
  std::vector<Bytes> blocks(5, Bytes(65536)), restored(5, Bytes(65536));
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const std::size_t begin = i * 60'000, history = std::min<std::size_t>(begin, i == 2 ? 0 : 65536);
    tasks.push_back({.input = std::span(text).subspan(begin, 60'000),
                     .history = std::span(text).subspan(begin - history, history),
                     .output = blocks[i]});
  }
  engine->compress(tasks, parameters);

  std::vector<BlockTask> back;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    ASSERT_EQ(tasks[i].status, Status::kOk) << i;
    back.push_back({.input = std::span(blocks[i]).first(tasks[i].output_bytes),
                    .history = tasks[i].history,
                    .output = restored[i]});
  }
  engine->restore(back, Format::kLz4);
  for (std::size_t i = 0; i < back.size(); ++i) {
    ASSERT_EQ(back[i].status, Status::kOk) << i;
    ASSERT_TRUE(std::ranges::equal(std::span(restored[i]).first(back[i].output_bytes), tasks[i].input)) << i;
  }
  EXPECT_LT(tasks[1].output_bytes, tasks[2].output_bytes);  // the one without a history
}

TEST(ReferenceBackend, ReportsWhatEachTaskCameTo) {
  const auto engine = make_reference_backend()->make_engine({});
  const Bytes noise = random_bytes(5000, 1), text = wordy_bytes(5000, 2);
  Bytes room_for_noise(4999), room_for_text(4999);
  std::vector<BlockTask> tasks = {{.input = noise, .history = {}, .output = room_for_noise},
                                  {.input = text, .history = {}, .output = room_for_text}};
  engine->compress(tasks, {});
  EXPECT_EQ(tasks[0].status, Status::kOutputTooSmall);
  EXPECT_EQ(tasks[1].status, Status::kOk);

  const Bytes broken = {std::byte{0x10}};
  Bytes restored(5000), one_short(4999);
  const auto block = std::span(room_for_text).first(tasks[1].output_bytes);
  std::vector<BlockTask> back = {{.input = broken, .history = {}, .output = restored},
                                 {.input = block, .history = {}, .output = restored},
                                 {.input = block, .history = {}, .output = one_short}};
  engine->restore(back, Format::kLz4);
  EXPECT_EQ(back[0].status, Status::kCorruptBlock);
  EXPECT_EQ(back[1].status, Status::kOk);
  EXPECT_EQ(back[2].status, Status::kCorruptBlock);
}

TEST_WITH_THREADS(ReferenceBackend, AFrameOfItsBlocksIsRestoredByTheOtherBackendAndBack) {
  const Bytes text = wordy_bytes(400'000, 4), dictionary = wordy_bytes(70'000, 4);
  for (const bool linked_blocks : {false, true})
    for (const bool with_dictionary : {false, true})
      for (const int level : {1, 9}) {
        CompressOptions options;
        options.level = level;
        options.block_bytes = 64 * 1024;
        options.linked_blocks = linked_blocks;
        if (with_dictionary) options.dictionary = dictionary;
        RestoreOptions restore_options;
        restore_options.dictionary = options.dictionary;
        for (const char* writer : {"reference", "cpu"}) {
          options.backend = writer;
          const Bytes frame = compress(text, options);
          EXPECT_LT(frame.size(), text.size() * 2 / 3);
          for (const char* reader : {"reference", "cpu"}) {
            restore_options.backend = reader;
            EXPECT_EQ(restore(frame, restore_options), text)
                << writer << " to " << reader << ", linked " << linked_blocks << ", dictionary "
                << with_dictionary;
          }
        }
      }
}

TEST_WITH_THREADS(ReferenceBackend, WritesTheSameBytes) {
  const Bytes text = wordy_bytes(3'000'000, 5);
  CompressOptions options;
  options.block_bytes = 64 * 1024;
  options.backend = "reference";
  options.threads = 1;
  const Bytes alone = compress(text, options);
  for (int run = 0; run < 3; ++run) {
    options.threads = 4;
    EXPECT_TRUE(compress(text, options) == alone) << run;
  }
}

}  // namespace
}  // namespace hemstitch
