// The C interface part by part: each part does the same as its C++ twin, and refuses with a status what it
// cannot do, before anything changes.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "hemstitch/arrays.h"
#include "hemstitch/choice.h"
#include "hemstitch/compact.h"
#include "hemstitch/files.h"
#include "hemstitch/hemstitch.hpp"
#include "hemstitch/match.h"
#include "hemstitch/memory.h"
#include "hemstitch/search.h"
#include "hemstitch/webgpu.h"
#include "lz4f_oracle.hpp"
#include "shapes.hpp"
#include "threads.hpp"

namespace hemstitch::testing {
namespace {

template <class Structure>
Structure of_size() {
  Structure made{};
  made.size = sizeof made;
  return made;
}

std::string message() { return hemstitch_last_error_message(); }

int append(void* bytes, const void* piece, std::size_t count) {
  auto& all = *static_cast<Bytes*>(bytes);
  const auto* const begin = static_cast<const std::byte*>(piece);
  all.insert(all.end(), begin, begin + count);
  return 0;
}

int refuse(void*, const void*, std::size_t) { return 42; }

// A structure of a later header: what it has beyond ours must be zero.
struct LaterOptions {
  hemstitch_compress_options options;
  std::uint64_t more;
};

TEST(CSizes, SayWhichHeaderTheCallerHas) {
  const Bytes content = wordy_bytes(10'000);
  Bytes frame(hemstitch_compress_bound(content.size()));
  std::size_t bytes = 0;
  const auto compress_by = [&](const hemstitch_compress_options* options) {
    return hemstitch_compress_with(options, content.data(), content.size(), frame.data(), frame.size(),
                                   &bytes);
  };
  hemstitch_compress_options options{};
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, sizeof(std::size_t) - 1, sizeof options - 1}) {
    options.size = size;
    EXPECT_EQ(compress_by(&options), HEMSTITCH_INVALID_OPTION) << size;
    EXPECT_NE(message().find("options.size"), std::string::npos) << message();
  }
  // An earlier header ends before `level`, so the bytes there are ignored.
  options.size = offsetof(hemstitch_compress_options, block_bytes);
  options.block_bytes = 12345;
  EXPECT_EQ(compress_by(&options), HEMSTITCH_OK) << message();
  options.size = sizeof options;
  EXPECT_EQ(compress_by(&options), HEMSTITCH_INVALID_OPTION);
  LaterOptions later{of_size<hemstitch_compress_options>(), 0};
  later.options.size = sizeof later;
  EXPECT_EQ(compress_by(&later.options), HEMSTITCH_OK) << message();
  later.more = 1;
  EXPECT_EQ(compress_by(&later.options), HEMSTITCH_INVALID_OPTION);
  EXPECT_NE(message().find("does not know"), std::string::npos) << message();

  // In the other direction, no more is written than the caller has room for, and the rest of a longer
  // structure is zero.
  auto given = of_size<hemstitch_compress_options>();
  struct {
    hemstitch_report report;
    std::uint64_t more[2];
  } reported{{}, {7, 7}};
  reported.report.size = sizeof reported.report + 8;
  given.report = &reported.report;
  ASSERT_EQ(compress_by(&given), HEMSTITCH_OK) << message();
  EXPECT_EQ(reported.report.input_bytes, content.size());
  EXPECT_STREQ(reported.report.backend, "cpu");
  EXPECT_EQ(reported.more[0], 0U);
  EXPECT_EQ(reported.more[1], 7U);
  reported.report = {};
  reported.report.size = offsetof(hemstitch_report, frame_count);
  reported.report.frame_count = 77;
  ASSERT_EQ(compress_by(&given), HEMSTITCH_OK);
  EXPECT_EQ(reported.report.output_bytes, bytes);
  EXPECT_EQ(reported.report.frame_count, 77U);
}

TEST_WITH_THREADS(CStreams, GoBothWaysPieceByPiece) {
  const Bytes content = wordy_bytes(700'000);
  for (const hemstitch_format format : {HEMSTITCH_FORMAT_LZ4, HEMSTITCH_FORMAT_GZIP}) {
    auto options = of_size<hemstitch_compress_options>();
    options.format = format;
    options.backend = "cpu";
    Bytes frame, restored;
    hemstitch_compressor* compressor = nullptr;
    ASSERT_EQ(hemstitch_compressor_new(&options, append, &frame, &compressor), HEMSTITCH_OK) << message();
    for (std::size_t at = 0; at < content.size(); at += 70'000)
      ASSERT_EQ(hemstitch_compressor_write(compressor, content.data() + at, 70'000), HEMSTITCH_OK);
    ASSERT_EQ(hemstitch_compressor_flush(compressor), HEMSTITCH_OK) << message();
    const std::size_t flushed_bytes = frame.size();
    ASSERT_EQ(hemstitch_compressor_flush(compressor), HEMSTITCH_OK) << message();
    EXPECT_GT(flushed_bytes, content.size() / 10);
    EXPECT_EQ(frame.size(), flushed_bytes);
    ASSERT_EQ(hemstitch_compressor_finish(compressor), HEMSTITCH_OK) << message();
    auto report = of_size<hemstitch_report>();
    ASSERT_EQ(hemstitch_compressor_report(compressor, &report), HEMSTITCH_OK);
    EXPECT_EQ(report.input_bytes, content.size());
    EXPECT_EQ(report.output_bytes, frame.size());
    EXPECT_EQ(hemstitch_compressor_write(compressor, content.data(), 1), HEMSTITCH_WRONG_STATE);
    EXPECT_EQ(hemstitch_compressor_finish(compressor), HEMSTITCH_WRONG_STATE);
    hemstitch_compressor_free(compressor);

    hemstitch_decompressor* decompressor = nullptr;
    ASSERT_EQ(hemstitch_decompressor_new(nullptr, append, &restored, &decompressor), HEMSTITCH_OK);
    if (format == HEMSTITCH_FORMAT_GZIP) {
      ASSERT_EQ(hemstitch_decompressor_make_index(decompressor), HEMSTITCH_OK);
    }
    for (std::size_t at = 0; at < frame.size(); at += 999)
      ASSERT_EQ(hemstitch_decompressor_write(decompressor, frame.data() + at,
                                             std::min<std::size_t>(999, frame.size() - at)),
                HEMSTITCH_OK)
          << message();
    ASSERT_EQ(hemstitch_decompressor_finish(decompressor), HEMSTITCH_OK) << message();
    EXPECT_TRUE(restored == content);
    Bytes index(hemstitch_index_bound(frame.size())), expected(index.size());
    std::size_t index_bytes = 0, expected_bytes = 0;
    const hemstitch_status status =
        hemstitch_decompressor_index(decompressor, index.data(), index.size(), &index_bytes);
    if (format == HEMSTITCH_FORMAT_GZIP) {
      ASSERT_EQ(status, HEMSTITCH_OK) << message();
      ASSERT_EQ(hemstitch_make_index(nullptr, frame.data(), frame.size(), expected.data(), expected.size(),
                                     &expected_bytes),
                HEMSTITCH_OK);
      expected.resize(expected_bytes);
      index.resize(index_bytes);
      EXPECT_TRUE(index == expected);
      EXPECT_EQ(hemstitch_decompressor_index(decompressor, index.data(), index_bytes - 1, &index_bytes),
                HEMSTITCH_OUTPUT_TOO_SMALL);
    } else {
      EXPECT_EQ(status, HEMSTITCH_WRONG_STATE) << message();
    }
    hemstitch_decompressor_free(decompressor);

    // The same, a part of the content at a time.
    restored.clear();
    ASSERT_EQ(hemstitch_decompressor_new(nullptr, append, &restored, &decompressor), HEMSTITCH_OK);
    for (std::size_t at = 0, before = 1; restored.size() != before || at < frame.size();) {
      before = restored.size();
      std::size_t taken = 0;
      ASSERT_EQ(hemstitch_decompressor_write_some(decompressor, frame.data() + at, frame.size() - at, &taken),
                HEMSTITCH_OK)
          << message();
      at += taken;
    }
    for (int finished = 0; finished == 0;)
      ASSERT_EQ(hemstitch_decompressor_finish_some(decompressor, &finished), HEMSTITCH_OK) << message();
    EXPECT_TRUE(restored == content);
    hemstitch_decompressor_free(decompressor);
  }
}

TEST(CStreams, CanBeCancelledBetweenPieces) {
  const Bytes content = wordy_bytes(3'000'000);
  int calls = 0;
  auto options = of_size<hemstitch_compress_options>();
  options.threads = 1;
  options.between_pieces = [](void* context) { return ++*static_cast<int*>(context) == 3 ? 7 : 0; };
  options.between_pieces_context = &calls;
  Bytes frame(content.size());
  std::size_t frame_bytes = 0;
  EXPECT_EQ(hemstitch_compress_with(&options, content.data(), content.size(), frame.data(), frame.size(),
                                    &frame_bytes),
            HEMSTITCH_CANCELLED);
  EXPECT_EQ(calls, 3);
  EXPECT_NE(message().find("returned 7"), std::string::npos) << message();
}

TEST(CSearchersAndMatchers, CanBeCancelledBetweenPieces) {
  const Bytes content(3'000'000);
  int calls = 0;
  const auto count = [](void* context) { return ++*static_cast<int*>(context) == 2 ? 7 : 0; };
  auto searching = of_size<hemstitch_search_options>();
  const char* const pattern = "pattern";
  searching.patterns = &pattern;
  searching.pattern_count = 1;
  searching.between_pieces = count;
  searching.between_pieces_context = &calls;
  hemstitch_searcher* searcher = nullptr;
  ASSERT_EQ(hemstitch_searcher_new(&searching, &searcher), HEMSTITCH_OK) << message();
  hemstitch_search_results found{};
  EXPECT_EQ(hemstitch_search_text(searcher, content.data(), content.size(), &found), HEMSTITCH_CANCELLED);
  EXPECT_EQ(calls, 2);
  EXPECT_NE(message().find("returned 7"), std::string::npos) << message();
  hemstitch_searcher_free(searcher);

  calls = 0;
  auto matching = of_size<hemstitch_matcher_options>();
  matching.between_pieces = count;
  matching.between_pieces_context = &calls;
  hemstitch_matcher* matcher = nullptr;
  ASSERT_EQ(hemstitch_matcher_new(&matching, &matcher), HEMSTITCH_OK) << message();
  const hemstitch_match_block blocks[] = {{content.data(), 1000, 0}, {content.data(), 1000, 0}};
  hemstitch_matches matches{};
  EXPECT_EQ(hemstitch_matcher_find(matcher, blocks, 2, &matches), HEMSTITCH_CANCELLED);
  EXPECT_NE(message().find("returned 7"), std::string::npos) << message();
  hemstitch_matcher_free(matcher);
}

TEST(CStreams, SayWhatFails) {
  const Bytes content = wordy_bytes(700'000);
  hemstitch_compressor* compressor = nullptr;
  auto options = of_size<hemstitch_compress_options>();
  options.threads = 1;
  EXPECT_EQ(hemstitch_compressor_new(&options, nullptr, nullptr, &compressor), HEMSTITCH_INVALID_OPTION);
  EXPECT_EQ(hemstitch_compressor_new(&options, append, nullptr, nullptr), HEMSTITCH_INVALID_OPTION);
  auto report = of_size<hemstitch_report>();
  options.report = &report;
  EXPECT_EQ(hemstitch_compressor_new(&options, append, nullptr, &compressor), HEMSTITCH_INVALID_OPTION);
  EXPECT_NE(message().find("hemstitch_compressor_report()"), std::string::npos) << message();
  EXPECT_EQ(compressor, nullptr);
  options.report = nullptr;
  ASSERT_EQ(hemstitch_compressor_new(&options, refuse, nullptr, &compressor), HEMSTITCH_OK);
  hemstitch_status status = hemstitch_compressor_write(compressor, content.data(), content.size());
  if (status == HEMSTITCH_OK) status = hemstitch_compressor_finish(compressor);
  EXPECT_EQ(status, HEMSTITCH_WRITE_FAILED);
  EXPECT_NE(message().find("42"), std::string::npos) << message();
  EXPECT_EQ(hemstitch_compressor_write(compressor, content.data(), 1), HEMSTITCH_WRONG_STATE);
  EXPECT_EQ(hemstitch_compressor_write(compressor, nullptr, 1), HEMSTITCH_INVALID_OPTION);
  hemstitch_compressor_free(compressor);
  hemstitch_compressor_free(nullptr);

  CompressOptions alone;
  alone.threads = 1;
  const Bytes frame = compress(content, alone);
  Bytes restored;
  hemstitch_decompressor* decompressor = nullptr;
  auto restoring = of_size<hemstitch_restore_options>();
  restoring.threads = 1;
  ASSERT_EQ(hemstitch_decompressor_new(&restoring, append, &restored, &decompressor), HEMSTITCH_OK);
  ASSERT_EQ(hemstitch_decompressor_write(decompressor, frame.data(), frame.size() - 5), HEMSTITCH_OK);
  EXPECT_EQ(hemstitch_decompressor_finish(decompressor), HEMSTITCH_TRUNCATED);
  EXPECT_EQ(hemstitch_last_error_place().frame, 1U);
  EXPECT_LE(hemstitch_last_error_place().byte_offset, frame.size() - 5);
  hemstitch_decompressor_free(decompressor);
  hemstitch_decompressor_free(nullptr);
}

TEST(CCalls, AreWatched) {
  const Bytes content = wordy_bytes(3'000'000);
  Bytes frame(hemstitch_compress_bound(content.size()));
  std::size_t bytes = 0;
  auto options = of_size<hemstitch_compress_options>();
  std::uint64_t seen = 0;
  options.progress_context = &seen;
  options.progress = [](void* context, std::uint64_t input_bytes, std::uint64_t) {
    *static_cast<std::uint64_t*>(context) = input_bytes;
    return 0;
  };
  ASSERT_EQ(
      hemstitch_compress_with(&options, content.data(), content.size(), frame.data(), frame.size(), &bytes),
      HEMSTITCH_OK);
  EXPECT_EQ(seen, content.size());
  options.progress = [](void*, std::uint64_t, std::uint64_t) { return 1; };
  EXPECT_EQ(
      hemstitch_compress_with(&options, content.data(), content.size(), frame.data(), frame.size(), &bytes),
      HEMSTITCH_CANCELLED);

  frame.resize(bytes);
  Bytes restored;
  ASSERT_EQ(hemstitch_restore_to(nullptr, frame.data(), frame.size(), append, &restored), HEMSTITCH_OK);
  EXPECT_TRUE(restored == content);
  EXPECT_EQ(hemstitch_restore_to(nullptr, frame.data(), frame.size(), refuse, nullptr),
            HEMSTITCH_WRITE_FAILED);
  EXPECT_EQ(hemstitch_restore_to(nullptr, frame.data(), frame.size(), nullptr, nullptr),
            HEMSTITCH_INVALID_OPTION);
  frame[frame.size() / 2] ^= std::byte{1};
  EXPECT_EQ(hemstitch_restore_to(nullptr, frame.data(), frame.size(), append, &restored),
            HEMSTITCH_BLOCK_CHECKSUM_MISMATCH);
  EXPECT_EQ(hemstitch_last_error_place().frame, 1U);
  EXPECT_GT(hemstitch_last_error_place().block, 1U);
  ASSERT_EQ(hemstitch_compress_with(nullptr, content.data(), 10, frame.data(), frame.size(), &bytes),
            HEMSTITCH_OK);
  EXPECT_EQ(hemstitch_last_error_place().byte_offset, UINT64_MAX);
}

TEST_WITH_THREADS(CMany, EachHasItsOwnStatus) {
  std::vector<Bytes> contents, frames;
  for (std::size_t i = 0; i < 50; ++i) {
    contents.push_back(wordy_bytes(i * 100));
    frames.emplace_back(hemstitch_compress_bound(i * 100));
  }
  std::vector<hemstitch_item> items(50);
  for (std::size_t i = 0; i < 50; ++i)
    items[i] = {contents[i].data(),
                contents[i].size(),
                frames[i].data(),
                frames[i].size(),
                7,
                HEMSTITCH_INTERNAL,
                {}};
  items[9].output_capacity = 3;
  ASSERT_EQ(hemstitch_compress_many(nullptr, items.data(), 50), HEMSTITCH_OK) << message();
  for (std::size_t i = 0; i < 50; ++i) {
    ASSERT_EQ(items[i].status, i == 9 ? HEMSTITCH_OUTPUT_TOO_SMALL : HEMSTITCH_OK) << i;
    frames[i].resize(items[i].output_bytes);
    if (i != 9) {
      ASSERT_TRUE(lz4f_restore(frames[i]) == contents[i]);
    }
  }
  EXPECT_EQ(items[9].output_bytes, 0U);
  EXPECT_EQ(hemstitch_compress_many(nullptr, nullptr, 1), HEMSTITCH_INVALID_OPTION);
  EXPECT_EQ(hemstitch_compress_many(nullptr, nullptr, 0), HEMSTITCH_OK);
  auto watched = of_size<hemstitch_compress_options>();
  auto report = of_size<hemstitch_report>();
  watched.report = &report;
  EXPECT_EQ(hemstitch_compress_many(&watched, items.data(), 50), HEMSTITCH_INVALID_OPTION);

  std::vector<Bytes> blocks(50, Bytes(6000)), restored;
  for (std::size_t i = 0; i < 50; ++i) {
    items[i] = {contents[i].data(),
                contents[i].size(),
                blocks[i].data(),
                blocks[i].size(),
                7,
                HEMSTITCH_INTERNAL,
                {}};
    restored.emplace_back(contents[i].size());
  }
  ASSERT_EQ(hemstitch_compress_lz4_blocks(nullptr, items.data(), 50), HEMSTITCH_OK) << message();
  for (std::size_t i = 0; i < 50; ++i)
    items[i] = {blocks[i].data(),
                items[i].output_bytes,
                restored[i].data(),
                restored[i].size(),
                7,
                HEMSTITCH_INTERNAL,
                {}};
  blocks[20][0] = std::byte{0xF0};
  ASSERT_EQ(hemstitch_restore_lz4_blocks(nullptr, items.data(), 50), HEMSTITCH_OK) << message();
  for (std::size_t i = 0; i < 50; ++i) {
    EXPECT_EQ(items[i].status, i == 20 ? HEMSTITCH_CORRUPT_BLOCK : HEMSTITCH_OK) << i;
    if (i != 20) {
      EXPECT_TRUE(restored[i] == contents[i]) << i;
    }
  }
}

TEST(CSearch, FindsWhatCppFinds) {
  const std::string text = "one error\ntwo\nthree ERROR errors\n";
  const char* const patterns[] = {"error"};
  auto options = of_size<hemstitch_search_options>();
  hemstitch_searcher* searcher = nullptr;
  EXPECT_EQ(hemstitch_searcher_new(nullptr, &searcher), HEMSTITCH_INVALID_OPTION);
  EXPECT_EQ(hemstitch_searcher_new(&options, &searcher), HEMSTITCH_INVALID_OPTION) << "no pattern";
  options.patterns = patterns;
  options.pattern_count = 1;
  options.wanted = 3;
  EXPECT_EQ(hemstitch_searcher_new(&options, &searcher), HEMSTITCH_INVALID_OPTION);
  EXPECT_NE(message().find("options.wanted is 3"), std::string::npos) << message();
  options.wanted = HEMSTITCH_SEARCH_LINES;
  options.ignore_case = options.matches = 1;
  ASSERT_EQ(hemstitch_searcher_new(&options, &searcher), HEMSTITCH_OK) << message();
  hemstitch_search_results results{};
  ASSERT_EQ(hemstitch_search_text(searcher, text.data(), text.size(), &results), HEMSTITCH_OK);
  ASSERT_EQ(results.text_count, 1U);
  EXPECT_EQ(results.texts[0].count, 2U);
  ASSERT_EQ(results.texts[0].line_count, 2U);
  const hemstitch_searched_line& line = results.texts[0].lines[1];
  EXPECT_EQ(line.number, 3U);
  EXPECT_STREQ(line.text, "three ERROR errors");
  ASSERT_EQ(line.match_count, 2U);
  EXPECT_EQ(line.matches[1].position, 12U);
  EXPECT_EQ(line.matches[1].bytes, 5U);
  hemstitch_search_results_free(&results);
  EXPECT_EQ(results.texts, nullptr);
  hemstitch_search_results_free(&results);
  hemstitch_search_results_free(nullptr);

  const std::uint64_t offsets[] = {0, 10, text.size()}, wrong[] = {0, 20, 10};
  ASSERT_EQ(hemstitch_find_in_texts(searcher, text.data(), offsets, 2, &results), HEMSTITCH_OK);
  ASSERT_EQ(results.match_count, 3U);
  EXPECT_EQ(results.matches[0].position, 4U);
  hemstitch_search_results_free(&results);
  EXPECT_EQ(hemstitch_search_texts(searcher, text.data(), wrong, 2, &results), HEMSTITCH_INVALID_OPTION);
  EXPECT_EQ(hemstitch_search_texts(searcher, nullptr, offsets, 2, &results), HEMSTITCH_INVALID_OPTION);
  const char* const paths[] = {"/none/such"};
  ASSERT_EQ(hemstitch_search_files(searcher, paths, 1, &results), HEMSTITCH_OK);
  ASSERT_NE(results.texts[0].error, nullptr);
  hemstitch_search_results_free(&results);
  hemstitch_cuda_texts on_device{};
  std::size_t temp_bytes = 0;
  EXPECT_EQ(hemstitch_search_temp_bytes(searcher, &on_device, &temp_bytes), HEMSTITCH_INVALID_OPTION);
  hemstitch_searcher_free(searcher);
  hemstitch_searcher_free(nullptr);
}

TEST(CMatches, CoverWhatCppCovers) {
  const Bytes text = wordy_bytes(5000);
  const hemstitch_match_block blocks[] = {{text.data(), 3000, 1000}, {text.data() + 3000, 2000, 0}};
  auto options = of_size<hemstitch_matcher_options>();
  hemstitch_matcher* matcher = nullptr;
  options.parse = "fastest";
  EXPECT_EQ(hemstitch_matcher_new(&options, &matcher), HEMSTITCH_INVALID_OPTION);
  options.parse = nullptr;
  options.backend = "none";
  EXPECT_EQ(hemstitch_matcher_new(&options, &matcher), HEMSTITCH_UNKNOWN_BACKEND);
  options.backend = nullptr;
  hemstitch_find_options find{};
  EXPECT_EQ(hemstitch_find_options_for_preset("5k", &find), HEMSTITCH_INVALID_OPTION);
  ASSERT_EQ(hemstitch_find_options_for_preset("near-1k", &find), HEMSTITCH_OK);
  options.find = &find;
  ASSERT_EQ(hemstitch_matcher_new(&options, &matcher), HEMSTITCH_OK) << message();
  ASSERT_EQ(hemstitch_matcher_prepare(matcher), HEMSTITCH_OK);
  hemstitch_matches found{}, later{};
  ASSERT_EQ(hemstitch_matcher_find(matcher, blocks, 2, &found), HEMSTITCH_OK) << message();
  ASSERT_EQ(found.block_count, 2U);
  EXPECT_GT(found.first[1], 0U);
  EXPECT_GT(found.first[2], found.first[1]);
  for (std::size_t block = 0; block < 2; ++block) {
    const auto* const data = static_cast<const std::byte*>(blocks[block].data) + blocks[block].history_bytes;
    std::uint64_t end = 0;
    for (std::size_t i = found.first[block]; i < found.first[block + 1]; ++i) {
      const hemstitch_match& match = found.matches[i];
      ASSERT_GE(match.position, end);
      end = match.position + match.length;
      ASSERT_LE(end, blocks[block].bytes - blocks[block].history_bytes);
      ASSERT_EQ(std::memcmp(data + match.position, data + match.position - match.offset, match.length), 0);
    }
  }
  hemstitch_pending_matches* pending = nullptr;
  ASSERT_EQ(hemstitch_matcher_submit(matcher, blocks, 2, &pending), HEMSTITCH_OK);
  int ready = 7;
  ASSERT_EQ(hemstitch_pending_matches_are_ready(pending, &ready), HEMSTITCH_OK);
  EXPECT_TRUE(ready == 0 || ready == 1) << ready;
  ASSERT_EQ(hemstitch_pending_matches_take(pending, &later), HEMSTITCH_OK);
  EXPECT_EQ(later.first[2], found.first[2]);
  EXPECT_EQ(std::memcmp(later.matches, found.matches, found.first[2] * sizeof(hemstitch_match)), 0);
  EXPECT_EQ(hemstitch_pending_matches_take(pending, &later), HEMSTITCH_INVALID_OPTION);
  hemstitch_webgpu_matches on_webgpu{};
  EXPECT_EQ(hemstitch_pending_matches_on_webgpu(pending, &on_webgpu), HEMSTITCH_INVALID_OPTION);
  std::vector<hemstitch_candidate> candidates(2000);
  EXPECT_EQ(hemstitch_matcher_candidates(matcher, &blocks[0], candidates.data()), HEMSTITCH_OK);
  EXPECT_EQ(hemstitch_matcher_candidates(matcher, &blocks[0], nullptr), HEMSTITCH_INVALID_OPTION);
  const hemstitch_match_block wrong{text.data(), 10, 11};
  EXPECT_EQ(hemstitch_matcher_find(matcher, &wrong, 1, &found), HEMSTITCH_INVALID_OPTION);
  hemstitch_pending_matches_free(pending);
  hemstitch_matches_free(&later);
  hemstitch_matches_free(&found);
  hemstitch_matches_free(nullptr);
  hemstitch_matcher_free(matcher);
}

TEST(CCompact, GathersScattersAndShuffles) {
  const std::uint32_t sizes[] = {3, 0, 5};
  std::uint64_t offsets[4] = {};
  ASSERT_EQ(hemstitch_scan_sizes(sizes, 3, offsets), HEMSTITCH_OK);
  EXPECT_EQ(offsets[3], 8U);
  const char* const words[] = {"abc", nullptr, "defgh"};
  const void* const sources[] = {words[0], words[1], words[2]};
  char all[8];
  EXPECT_EQ(hemstitch_gather_pieces(sources, sizes, offsets, 3, all, 7), HEMSTITCH_OUTPUT_TOO_SMALL);
  ASSERT_EQ(hemstitch_gather_pieces(sources, sizes, offsets, 3, all, 8), HEMSTITCH_OK) << message();
  EXPECT_EQ(std::string(all, 8), "abcdefgh");
  const std::uint64_t descending[] = {5, 5, 0};
  EXPECT_EQ(hemstitch_gather_pieces(sources, sizes, descending, 3, all, 8), HEMSTITCH_INVALID_OPTION);
  char first[3], last[5];
  void* const targets[] = {first, nullptr, last};
  ASSERT_EQ(hemstitch_scatter_pieces(all, 8, offsets, sizes, 3, targets), HEMSTITCH_OK) << message();
  EXPECT_EQ(std::string(last, 5), "defgh");
  char planes[8], back[8];
  ASSERT_EQ(hemstitch_shuffle_bytes(all, 8, 4, planes), HEMSTITCH_OK);
  EXPECT_EQ(std::string(planes, 8), "aebfcgdh");
  ASSERT_EQ(hemstitch_unshuffle_bytes(planes, 8, 4, back), HEMSTITCH_OK);
  EXPECT_EQ(std::string(back, 8), "abcdefgh");
  EXPECT_EQ(hemstitch_shuffle_bytes(all, 8, 0, planes), HEMSTITCH_INVALID_OPTION);
  EXPECT_EQ(hemstitch_shuffle_bytes(nullptr, 8, 4, planes), HEMSTITCH_INVALID_OPTION);
  const std::uint16_t growing[] = {9, 10, 9};
  std::uint16_t grown[3], deltas[3];
  ASSERT_EQ(hemstitch_delta_bytes(growing, 6, 2, deltas), HEMSTITCH_OK) << message();
  EXPECT_EQ(std::vector<std::uint16_t>(deltas, deltas + 3), (std::vector<std::uint16_t>{9, 1, 65535}));
  ASSERT_EQ(hemstitch_undelta_bytes(deltas, 6, 2, grown), HEMSTITCH_OK) << message();
  EXPECT_EQ(std::vector<std::uint16_t>(grown, grown + 3), std::vector<std::uint16_t>(growing, growing + 3));
  for (const auto call : {hemstitch_delta_bytes, hemstitch_undelta_bytes}) {
    EXPECT_EQ(call(growing, 6, 3, deltas), HEMSTITCH_INVALID_OPTION);
    EXPECT_EQ(call(nullptr, 6, 2, deltas), HEMSTITCH_INVALID_OPTION);
    EXPECT_EQ(call(nullptr, 0, 2, nullptr), HEMSTITCH_OK);
  }
  // Eight elements of a byte, and one left over: all bits 0 together, then all bits 1.
  const char counts[] = "\1\2\1\2\1\2\1\2z";
  char bits[9], counts_back[9];
  ASSERT_EQ(hemstitch_bitshuffle_bytes(counts, 9, 1, 8, bits), HEMSTITCH_OK) << message();
  EXPECT_EQ(std::string(bits, 9), std::string("\x55\xAA\0\0\0\0\0\0z", 9));
  ASSERT_EQ(hemstitch_bitunshuffle_bytes(bits, 9, 1, 8, counts_back), HEMSTITCH_OK) << message();
  EXPECT_EQ(std::string(counts_back, 9), counts);
  for (const auto call : {hemstitch_bitshuffle_bytes, hemstitch_bitunshuffle_bytes}) {
    EXPECT_EQ(call(counts, 9, 1, 7, bits), HEMSTITCH_INVALID_OPTION);
    EXPECT_EQ(call(counts, 9, 0, 0, bits), HEMSTITCH_INVALID_OPTION);
    EXPECT_EQ(call(nullptr, 9, 1, 0, bits), HEMSTITCH_INVALID_OPTION);
    EXPECT_EQ(call(counts, 9, 1, 0, nullptr), HEMSTITCH_INVALID_OPTION);
    EXPECT_EQ(call(nullptr, 0, 1, 0, nullptr), HEMSTITCH_OK);
  }
}

TEST(CArrays, ChunksComeBack) {
  std::string content(9000, '\0');
  for (std::size_t i = 0; i < content.size(); ++i)
    content[i] = static_cast<char>(i / 8 % 4 == 0 ? i / 64 : 0);
  hemstitch_chunk_coding coding{};
  coding.size = sizeof coding;
  coding.format = HEMSTITCH_FORMAT_ZSTD;
  coding.filter = HEMSTITCH_CHUNK_SHUFFLED;
  coding.element_bytes = 8;
  coding.block_bytes = 4096;
  coding.threads = 1;
  size_t bound = 0;
  ASSERT_EQ(hemstitch_chunk_bound(&coding, content.size(), &bound), HEMSTITCH_OK) << message();
  std::string chunks[2] = {std::string(bound, '\0'), std::string(bound, '\0')}, back(content.size(), '\0');
  hemstitch_item items[2]{};
  for (std::size_t i = 0; i < 2; ++i) {
    items[i].input = content.data();
    items[i].input_bytes = content.size();
    items[i].output = chunks[i].data();
    items[i].output_capacity = i == 0 ? bound : 20;
  }
  ASSERT_EQ(hemstitch_compress_chunks(&coding, items, 2), HEMSTITCH_OK) << message();
  EXPECT_EQ(items[0].status, HEMSTITCH_OK);
  EXPECT_EQ(items[1].status, HEMSTITCH_OUTPUT_TOO_SMALL);
  EXPECT_LT(items[0].output_bytes, content.size() / 4);
  const std::string chunk = chunks[0].substr(0, items[0].output_bytes);
  std::uint64_t content_bytes = 0;
  ASSERT_EQ(hemstitch_chunk_content_bytes(nullptr, chunk.data(), chunk.size(), &content_bytes), HEMSTITCH_OK);
  EXPECT_EQ(content_bytes, content.size());

  std::string other(content.size(), '\0');
  items[0] = {chunk.data(), chunk.size(), back.data(), back.size(), 0, HEMSTITCH_INTERNAL, {}};
  items[1] = {chunk.data(), chunk.size() - 1, other.data(), other.size(), 0, HEMSTITCH_INTERNAL, {}};
  ASSERT_EQ(hemstitch_restore_chunks(nullptr, items, 2), HEMSTITCH_OK) << message();
  EXPECT_EQ(items[0].status, HEMSTITCH_OK);
  EXPECT_EQ(items[0].output_bytes, content.size());
  EXPECT_EQ(items[1].status, HEMSTITCH_TRUNCATED);
  EXPECT_EQ(items[1].output_bytes, 0U);
  EXPECT_EQ(back, content);

  hemstitch_chunk_layout layout{};
  layout.size = sizeof layout;
  hemstitch_chunk_block blocks[3];
  EXPECT_EQ(hemstitch_read_chunk_layout(&coding, chunk.data(), chunk.size(), &layout, blocks, 2),
            HEMSTITCH_OUTPUT_TOO_SMALL);
  EXPECT_EQ(layout.block_count, 3U);
  ASSERT_EQ(hemstitch_read_chunk_layout(&coding, chunk.data(), chunk.size(), &layout, blocks, 3),
            HEMSTITCH_OK);
  EXPECT_EQ(layout.format, HEMSTITCH_FORMAT_ZSTD);
  EXPECT_EQ(layout.filter, HEMSTITCH_CHUNK_SHUFFLED);
  EXPECT_EQ(layout.element_bytes, 8U);
  EXPECT_EQ(layout.filter_block_bytes, 4096U);
  EXPECT_EQ(blocks[2].content_begin, 8192U);
  EXPECT_EQ(blocks[2].content_bytes, content.size() - 8192);
  EXPECT_EQ(blocks[2].begin + blocks[2].bytes, chunk.size());

  std::uint32_t checksum = 0;
  ASSERT_EQ(hemstitch_hdf5_fletcher32("abc", 3, &checksum), HEMSTITCH_OK);
  // Sums of 0x6162 and 0x6300, and of these sums.
  EXPECT_EQ(checksum, ((0x6162U + 0x6162 + 0x6300) % 0xFFFF) << 16 | (0x6162 + 0x6300));
}

TEST(CArrays, WrongCallsAreRefused) {
  hemstitch_chunk_coding coding{};
  coding.size = sizeof coding;
  coding.container = HEMSTITCH_CHUNK_BARE;
  size_t bound = 0;
  EXPECT_EQ(hemstitch_chunk_bound(&coding, 10, &bound), HEMSTITCH_INVALID_OPTION);
  EXPECT_EQ(hemstitch_chunk_bound(nullptr, 10, nullptr), HEMSTITCH_INVALID_OPTION);
  EXPECT_EQ(hemstitch_restore_chunks(nullptr, nullptr, 1), HEMSTITCH_INVALID_OPTION);
  EXPECT_EQ(hemstitch_restore_chunks(nullptr, nullptr, 0), HEMSTITCH_OK);
  hemstitch_item item{};
  item.input_bytes = 1;
  EXPECT_EQ(hemstitch_compress_chunks(nullptr, &item, 1), HEMSTITCH_INVALID_OPTION);
  std::uint64_t content_bytes = 0;
  EXPECT_EQ(hemstitch_chunk_content_bytes(nullptr, "x", 1, &content_bytes), HEMSTITCH_TRUNCATED);
  hemstitch_chunk_layout layout{};
  EXPECT_EQ(hemstitch_read_chunk_layout(nullptr, "x", 1, &layout, nullptr, 0), HEMSTITCH_TRUNCATED);
  const int wrong = 7;
  std::memcpy(&coding.container, &wrong, sizeof wrong);
  EXPECT_EQ(hemstitch_restore_chunks(&coding, nullptr, 0), HEMSTITCH_INVALID_OPTION);
  coding = {};
  coding.size = 3;
  EXPECT_EQ(hemstitch_restore_chunks(&coding, nullptr, 0), HEMSTITCH_INVALID_OPTION);
}

TEST(CFiles, LoadManyAndSayWhichNot) {
  std::string folder = (std::filesystem::temp_directory_path() / "hemstitch-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const std::string one = folder + "/one", two = folder + "/two", none = folder + "/none";
  std::ofstream(one) << "first";
  std::ofstream(two) << "second";
  const char* const paths[] = {one.c_str(), none.c_str(), two.c_str()};
  auto options = of_size<hemstitch_load_options>();
  options.threads = 1;
  hemstitch_files files{};
  ASSERT_EQ(hemstitch_load_files(paths, 3, &options, &files), HEMSTITCH_OK) << message();
  ASSERT_EQ(files.count, 2U);
  EXPECT_EQ(files.indices[1], 2U);
  EXPECT_EQ(std::string(static_cast<const char*>(files.bytes) + files.offsets[1], 6), "second");
  ASSERT_EQ(files.skipped_count, 1U);
  EXPECT_EQ(files.skipped[0].index, 1U);
  EXPECT_EQ(files.skipped[0].why, HEMSTITCH_SKIPPED_UNREADABLE);
  hemstitch_files_free(&files);
  options.memory_limit_bytes = 6;
  EXPECT_EQ(hemstitch_load_files(paths, 3, &options, &files), HEMSTITCH_MEMORY_LIMIT);
  hemstitch_file_loader* loader = nullptr;
  ASSERT_EQ(hemstitch_file_loader_new(paths, 3, &options, &loader), HEMSTITCH_OK);
  std::size_t batches = 0;
  for (int found = 1; found != 0; ++batches) {
    ASSERT_EQ(hemstitch_file_loader_next(loader, &files, &found), HEMSTITCH_OK) << message();
    hemstitch_files_free(&files);
  }
  EXPECT_EQ(batches, 3U);
  hemstitch_file_loader_free(loader);
  hemstitch_files_free(nullptr);
  EXPECT_EQ(hemstitch_load_files(nullptr, 3, &options, &files), HEMSTITCH_INVALID_OPTION);
  std::filesystem::remove_all(folder);
}

TEST(CChoice, SelectsAsCppDoes) {
  auto facts = of_size<hemstitch_backend_facts>();
  auto figures = of_size<hemstitch_backend_figures>();
  auto host = of_size<hemstitch_host_figures>();
  auto work = of_size<hemstitch_workload>();
  int known = 0;
  facts.backend = "cuda";
  facts.kind = HEMSTITCH_BACKEND_DEVICE;
  ASSERT_EQ(hemstitch_default_host_figures(16, &host), HEMSTITCH_OK);
  ASSERT_EQ(hemstitch_default_figures(&facts, HEMSTITCH_FORMAT_LZ4, &figures, &known), HEMSTITCH_OK);
  EXPECT_EQ(known, 1);
  auto seconds = of_size<hemstitch_stage_seconds>();
  ASSERT_EQ(hemstitch_predict(&facts, &figures, &host, &work, &seconds, &known), HEMSTITCH_OK);
  EXPECT_EQ(known, 0);
  work.content_bytes = 1'000'000'000;
  ASSERT_EQ(hemstitch_predict(&facts, &figures, &host, &work, &seconds, &known), HEMSTITCH_OK);
  EXPECT_EQ(known, 1);
  EXPECT_GT(seconds.total, seconds.start);
  EXPECT_NE(seconds.longest, nullptr);
  work.pages = facts.is_started = 1;
  const double run = seconds.kernel;
  ASSERT_EQ(hemstitch_predict(&facts, &figures, &host, &work, &seconds, &known), HEMSTITCH_OK);
  EXPECT_NE(seconds.kernel, run);  // pages have figures of their own
  EXPECT_GT(seconds.start, 0);
  // Levels are the format's.
  const auto predict_at = [&](hemstitch_format format, int level) {
    work.format = format;
    work.level = level;
    return hemstitch_predict(&facts, &figures, &host, &work, &seconds, &known);
  };
  for (const int level : {-7, -1, 1, 13, 22})
    EXPECT_EQ(predict_at(HEMSTITCH_FORMAT_ZSTD, level), HEMSTITCH_OK);
  for (const int level : {-8, 23})
    EXPECT_EQ(predict_at(HEMSTITCH_FORMAT_ZSTD, level), HEMSTITCH_INVALID_OPTION) << level;
  for (const int level : {-1, 13})
    EXPECT_EQ(predict_at(HEMSTITCH_FORMAT_LZ4, level), HEMSTITCH_INVALID_OPTION) << level;
  EXPECT_EQ(predict_at(HEMSTITCH_FORMAT_DEFAULT, 12), HEMSTITCH_OK);
  const hemstitch_backend_candidate device{&facts, &figures};
  std::size_t chosen = 7;
  EXPECT_EQ(hemstitch_select_backend(&device, 1, &host, &work, &chosen, nullptr, 0),
            HEMSTITCH_INVALID_OPTION);
  EXPECT_EQ(chosen, 7U);
  facts.kind = 9;
  EXPECT_EQ(hemstitch_default_figures(&facts, HEMSTITCH_FORMAT_LZ4, &figures, &known),
            HEMSTITCH_INVALID_OPTION);
}

TEST(CWebGpu, SaysWhyThereIsNone) {
  hemstitch_webgpu_device* device = nullptr;
  EXPECT_EQ(hemstitch_webgpu_device_new("no such device", &device), HEMSTITCH_DEVICE_UNAVAILABLE);
  EXPECT_EQ(hemstitch_webgpu_device_new(nullptr, nullptr), HEMSTITCH_INVALID_OPTION);
  EXPECT_EQ(hemstitch_webgpu_scan_sizes(nullptr, nullptr, 0, nullptr), HEMSTITCH_INVALID_OPTION);
  hemstitch_webgpu_device_free(nullptr);
  EXPECT_EQ(device, nullptr);
}

}  // namespace
}  // namespace hemstitch::testing
