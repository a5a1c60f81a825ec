// The batch interface as far as it works without a device: options, and the error that says why there is no
// device.
#include "hemstitch/batch.h"

#include <gtest/gtest.h>

#include <string>

namespace {

hemstitch_batch empty_batch() { return {}; }

TEST(Batch, LevelsNameTheirFinderAndParse) {
  hemstitch_find_options find{};
  ASSERT_EQ(hemstitch_find_options_for_level(1, 65536, &find), HEMSTITCH_OK);
  EXPECT_EQ(find.finder, HEMSTITCH_FINDER_HASH_CHAIN);
  EXPECT_EQ(find.depth, 1u);
  EXPECT_EQ(find.stitch_reach, 4u);
  ASSERT_EQ(hemstitch_find_options_for_level(12, 65536, &find), HEMSTITCH_OK);
  EXPECT_EQ(find.finder, HEMSTITCH_FINDER_HASH_CHAIN);
  EXPECT_EQ(find.depth, 64u);
  EXPECT_EQ(find.window_bytes, 65535u);
  EXPECT_EQ(find.hash_bytes, 4u);
  EXPECT_EQ(find.few_values_hash_bytes, 6u);

  hemstitch_parse_options parse{};
  ASSERT_EQ(hemstitch_parse_options_for_level(2, &parse), HEMSTITCH_OK);
  EXPECT_EQ(parse.parse, HEMSTITCH_PARSE_LAZY);
  ASSERT_EQ(hemstitch_parse_options_for_level(3, &parse), HEMSTITCH_OK);
  EXPECT_EQ(parse.parse, HEMSTITCH_PARSE_OPTIMAL);
  EXPECT_EQ(parse.min_match_bytes, 4u);
  EXPECT_EQ(parse.last_match_start_gap, 12u);
}

TEST(Batch, LevelsOutsideTheTableAreErrors) {
  hemstitch_find_options find{};
  hemstitch_parse_options parse{};
  for (const int level : {-1, 0, 13}) {
    EXPECT_EQ(hemstitch_find_options_for_level(level, 65536, &find), HEMSTITCH_INVALID_OPTION) << level;
    EXPECT_EQ(hemstitch_parse_options_for_level(level, &parse), HEMSTITCH_INVALID_OPTION) << level;
    EXPECT_NE(std::string(hemstitch_last_error_message()).find("level"), std::string::npos);
  }
}

TEST(Batch, TheRoomForSequencesFollowsFromTheShortestMatch) {
  hemstitch_batch batch = empty_batch();
  const std::uint32_t unused = 0;
  batch.input_bytes = &unused;
  batch.count = 10;
  batch.total_input_bytes = 5'000'000'000;
  hemstitch_parse_options options{};
  ASSERT_EQ(hemstitch_parse_options_for_level(3, &options), HEMSTITCH_OK);
  std::uint64_t capacity = 0;
  ASSERT_EQ(hemstitch_parse_capacity(&batch, &options, &capacity), HEMSTITCH_OK);
  EXPECT_EQ(capacity, 1'250'000'010u);
}

TEST(Batch, ErrorsNameTheFieldThatIsWrong) {
  const hemstitch_batch batch = empty_batch();
  const auto message_for = [&](auto change) {
    hemstitch_parse_options options{};
    hemstitch_parse_options_for_level(3, &options);
    hemstitch_batch given = batch;
    change(given, options);
    std::uint64_t capacity = 0;
    EXPECT_EQ(hemstitch_parse_capacity(&given, &options, &capacity), HEMSTITCH_INVALID_OPTION);
    return std::string(hemstitch_last_error_message());
  };
  const auto names = [](const std::string& message, const char* field) {
    return message.find(field) != std::string::npos;
  };
  EXPECT_PRED2(names, message_for([](auto&, auto& o) { o.min_match_bytes = 3; }), "min_match_bytes");
  EXPECT_PRED2(names, message_for([](auto&, auto& o) { o.max_match_bytes = 3; }), "max_match_bytes");
  EXPECT_PRED2(names, message_for([](auto&, auto& o) { o.parse = 4; }), "parse");
  EXPECT_PRED2(names, message_for([](auto&, auto& o) { o.costs = 2; }), "costs");
  EXPECT_PRED2(names, message_for([](auto&, auto& o) { o.costs = HEMSTITCH_COSTS_FLAT; }), "literal_bits");
  EXPECT_PRED2(names, message_for([](auto& b, auto&) { b.max_history_bytes = 65537; }), "max_history_bytes");
  EXPECT_PRED2(names, message_for([](auto& b, auto&) { b.count = 1; }), "input_bytes");
  std::uint64_t capacity = 0;
  EXPECT_EQ(hemstitch_parse_capacity(nullptr, nullptr, &capacity), HEMSTITCH_INVALID_OPTION);
}

// The error of a batch without a device: what is wrong with its options or, if they are right, that there is
// none.
std::string refusal(const hemstitch_find_options& options) {
  const hemstitch_batch batch = empty_batch();
  std::size_t temp_bytes = 0;
  const hemstitch_status status = hemstitch_find_temp_bytes(&batch, &options, &temp_bytes);
  return status == HEMSTITCH_INVALID_OPTION ? hemstitch_last_error_message() : "";
}

TEST(Batch, EveryFinderTakesItsOwnDefaults) {
  for (std::int32_t finder = HEMSTITCH_FINDER_HASH_CHAIN; finder <= HEMSTITCH_FINDER_WINDOW_INDEX; ++finder) {
    hemstitch_find_options options{};
    ASSERT_EQ(hemstitch_find_options_for_finder(finder, &options), HEMSTITCH_OK);
    EXPECT_EQ(options.finder, finder);
    EXPECT_EQ(refusal(options), "") << finder;
  }
  hemstitch_find_options options{};
  ASSERT_EQ(hemstitch_find_options_for_finder(HEMSTITCH_FINDER_LAZY_SCAN, &options), HEMSTITCH_OK);
  EXPECT_EQ(options.window_bytes, 32768u);
  EXPECT_EQ(options.near_range, 1024u);
  ASSERT_EQ(hemstitch_find_options_for_finder(HEMSTITCH_FINDER_HASH_PAIRS, &options), HEMSTITCH_OK);
  EXPECT_NE(refusal(options).find("hash_pairs"), std::string::npos) << "of match.h alone";
  for (const std::int32_t finder : {-1, HEMSTITCH_FINDER_HASH_PAIRS + 1}) {
    EXPECT_EQ(hemstitch_find_options_for_finder(finder, &options), HEMSTITCH_INVALID_OPTION) << finder;
    EXPECT_NE(std::string(hemstitch_last_error_message()).find("finder"), std::string::npos);
    options.finder = finder;
    EXPECT_NE(refusal(options).find("finder"), std::string::npos) << finder;
  }
}

TEST(Batch, FindersNameTheFieldThatIsWrong) {
  const auto expect_named = [](std::int32_t finder, const char* field, auto change) {
    hemstitch_find_options options{};
    ASSERT_EQ(hemstitch_find_options_for_finder(finder, &options), HEMSTITCH_OK);
    change(options);
    EXPECT_NE(refusal(options).find(std::string(": ") + field + " is"), std::string::npos)
        << finder << ", " << field << ": " << refusal(options);
  };
  for (const std::int32_t finder : {HEMSTITCH_FINDER_BRUTE_FORCE, HEMSTITCH_FINDER_LAZY_SCAN,
                                    HEMSTITCH_FINDER_COOP_STITCH, HEMSTITCH_FINDER_WINDOW_INDEX}) {
    expect_named(finder, "min_match_bytes", [](auto& o) { o.min_match_bytes = 2; });
    expect_named(finder, "min_match_bytes", [](auto& o) { o.min_match_bytes = o.max_match_bytes + 1; });
    expect_named(finder, "max_match_bytes", [](auto& o) { o.max_match_bytes = 65536; });
    expect_named(finder, "window_bytes", [](auto& o) { o.window_bytes = 0; });
    expect_named(finder, "window_bytes", [](auto& o) { o.window_bytes = 65536; });
    expect_named(finder, "stitch", [](auto& o) { o.stitch = 2; });
  }
  for (const std::int32_t finder : {HEMSTITCH_FINDER_LAZY_SCAN, HEMSTITCH_FINDER_COOP_STITCH}) {
    expect_named(finder, "near_range", [](auto& o) { o.near_range = 65536; });
    expect_named(finder, "good_match_bytes", [](auto& o) { o.good_match_bytes = o.min_match_bytes - 1; });
    expect_named(finder, "good_match_bytes", [](auto& o) { o.good_match_bytes = o.max_match_bytes + 1; });
  }
  expect_named(HEMSTITCH_FINDER_LAZY_SCAN, "far_step", [](auto& o) { o.far_step = 0; });
  expect_named(HEMSTITCH_FINDER_COOP_STITCH, "stride", [](auto& o) { o.stride = 0; });
  expect_named(HEMSTITCH_FINDER_COOP_STITCH, "stride", [](auto& o) { o.stride = 1037; });
  expect_named(HEMSTITCH_FINDER_COOP_STITCH, "band_origin", [](auto& o) { o.band_origin = 65535; });
  expect_named(HEMSTITCH_FINDER_COOP_STITCH, "band_origin", [](auto& o) { o.band_origin = 0xFFFFFFFFu; });
  expect_named(HEMSTITCH_FINDER_COOP_STITCH, "top_k", [](auto& o) { o.top_k = 0; });
  expect_named(HEMSTITCH_FINDER_COOP_STITCH, "top_k", [](auto& o) { o.top_k = 17; });
  expect_named(HEMSTITCH_FINDER_COOP_STITCH, "top_k_policy", [](auto& o) { o.top_k_policy = -1; });
  expect_named(HEMSTITCH_FINDER_HASH_CHAIN, "depth", [](auto& o) { o.depth = 0; });
  expect_named(HEMSTITCH_FINDER_HASH_CHAIN, "window_bytes", [](auto& o) { o.window_bytes = 0; });

  // Fields that a finder does not use are ignored.
  hemstitch_find_options options{};
  options.finder = HEMSTITCH_FINDER_WINDOW_INDEX;
  options.min_match_bytes = 3, options.max_match_bytes = 258, options.window_bytes = 4096;
  EXPECT_EQ(refusal(options), "");
}

TEST(Batch, CompactionNeedsItsArrays) {
  EXPECT_EQ(hemstitch_scan_temp_bytes(1, nullptr), HEMSTITCH_INVALID_OPTION);
  EXPECT_EQ(hemstitch_gather_temp_bytes(1, nullptr), HEMSTITCH_INVALID_OPTION);
  EXPECT_EQ(hemstitch_scatter_temp_bytes(1, nullptr), HEMSTITCH_INVALID_OPTION);
  const std::uint32_t size = 0;
  std::uint64_t offsets[2] = {};
  EXPECT_EQ(hemstitch_scan_async(nullptr, 1, offsets, nullptr, 0, nullptr), HEMSTITCH_INVALID_OPTION);
  EXPECT_EQ(hemstitch_scan_async(&size, 1, nullptr, nullptr, 0, nullptr), HEMSTITCH_INVALID_OPTION);
  EXPECT_EQ(hemstitch_gather_async(nullptr, &size, offsets, 1, nullptr, nullptr, 0, nullptr),
            HEMSTITCH_INVALID_OPTION);
  EXPECT_NE(std::string(hemstitch_last_error_message()).find("sources"), std::string::npos);
  EXPECT_EQ(hemstitch_scatter_async(nullptr, offsets, &size, 1, nullptr, nullptr, 0, nullptr),
            HEMSTITCH_INVALID_OPTION);
  EXPECT_NE(std::string(hemstitch_last_error_message()).find("targets"), std::string::npos);
}

TEST(Batch, ShufflingNeedsItsArraysAndElements) {
  EXPECT_EQ(hemstitch_shuffle_temp_bytes(1, nullptr), HEMSTITCH_INVALID_OPTION);
  const void* source = nullptr;
  void* target = nullptr;
  const std::size_t size = 0;
  for (const auto call : {hemstitch_shuffle_async, hemstitch_unshuffle_async}) {
    EXPECT_EQ(call(nullptr, &size, &target, 1, 4, nullptr, 0, nullptr), HEMSTITCH_INVALID_OPTION);
    EXPECT_NE(std::string(hemstitch_last_error_message()).find("sources"), std::string::npos);
    EXPECT_EQ(call(&source, nullptr, &target, 1, 4, nullptr, 0, nullptr), HEMSTITCH_INVALID_OPTION);
    EXPECT_EQ(call(&source, &size, nullptr, 1, 4, nullptr, 0, nullptr), HEMSTITCH_INVALID_OPTION);
    for (const std::uint32_t element_bytes : {0u, 257u}) {
      EXPECT_EQ(call(&source, &size, &target, 1, element_bytes, nullptr, 0, nullptr),
                HEMSTITCH_INVALID_OPTION);
      EXPECT_NE(std::string(hemstitch_last_error_message()).find("element_bytes"), std::string::npos);
    }
  }
}

TEST(Batch, BitShufflingNeedsItsArraysElementsAndBlocks) {
  EXPECT_EQ(hemstitch_bitshuffle_temp_bytes(1, nullptr), HEMSTITCH_INVALID_OPTION);
  const void* source = nullptr;
  void* target = nullptr;
  const std::size_t size = 0;
  const auto message_has = [](const char* word) {
    return std::string(hemstitch_last_error_message()).find(word) != std::string::npos;
  };
  for (const auto call : {hemstitch_bitshuffle_async, hemstitch_bitunshuffle_async}) {
    EXPECT_EQ(call(nullptr, &size, &target, 1, 4, 0, nullptr, 0, nullptr), HEMSTITCH_INVALID_OPTION);
    EXPECT_TRUE(message_has("sources"));
    EXPECT_EQ(call(&source, nullptr, &target, 1, 4, 0, nullptr, 0, nullptr), HEMSTITCH_INVALID_OPTION);
    EXPECT_EQ(call(&source, &size, nullptr, 1, 4, 0, nullptr, 0, nullptr), HEMSTITCH_INVALID_OPTION);
    EXPECT_EQ(call(&source, &size, &target, 1, 257, 0, nullptr, 0, nullptr), HEMSTITCH_INVALID_OPTION);
    EXPECT_TRUE(message_has("element_bytes"));
    EXPECT_EQ(call(&source, &size, &target, 1, 4, 16, nullptr, 0, nullptr), HEMSTITCH_INVALID_OPTION);
    EXPECT_TRUE(message_has("block_bytes"));
  }
}

TEST(Batch, WithoutADeviceTheReasonIsGiven) {
  const hemstitch_batch batch = empty_batch();
  hemstitch_find_options find{};
  ASSERT_EQ(hemstitch_find_options_for_level(3, 65536, &find), HEMSTITCH_OK);
  hemstitch_parse_options parse{};
  ASSERT_EQ(hemstitch_parse_options_for_level(3, &parse), HEMSTITCH_OK);
  std::size_t temp_bytes = 0;
  const hemstitch_status status = hemstitch_find_temp_bytes(&batch, &find, &temp_bytes);
#if defined(HEMSTITCH_CUDA)
  if (status == HEMSTITCH_OK) GTEST_SKIP() << "there is a device here";
#endif
  EXPECT_EQ(status, HEMSTITCH_DEVICE_UNAVAILABLE);
  EXPECT_NE(std::string(hemstitch_last_error_message()), "");
  EXPECT_EQ(hemstitch_parse_temp_bytes(&batch, &parse, &temp_bytes), HEMSTITCH_DEVICE_UNAVAILABLE);
  std::uint64_t first = 0, total = 0;
  EXPECT_EQ(hemstitch_find_async(&batch, &find, nullptr, &first, nullptr, nullptr, 0, nullptr),
            HEMSTITCH_DEVICE_UNAVAILABLE);
  EXPECT_EQ(hemstitch_parse_async(&batch, &parse, nullptr, nullptr, nullptr, nullptr, &total, nullptr,
                                  nullptr, 0, nullptr),
            HEMSTITCH_DEVICE_UNAVAILABLE);
}

}  // namespace
