// Bugs that were found. Each has a test named after it, with its cause and what would find it again.
#include <gtest/gtest.h>

#include "hemstitch/hemstitch.hpp"
#include "pipeline/frame_batch.hpp"
#include "shapes.hpp"
#include "threads.hpp"
#include "tried_one_of.hpp"

namespace hemstitch::testing {
namespace {

// Found by fuzz/frame_batches. If a history is directly before the block in memory, liblz4 searches it in
// another way than a history elsewhere, and chooses other matches of equal length. A stream's linked frame
// has the dictionary directly before its first block; batches passed it from its own place. So `-r --linked
// -D FILE` wrote other bytes than the same command for one file.
TEST(Bug, BatchesWroteOtherBytesThanStreamsForLinkedFramesWithADictionary) {
  std::vector<Bytes> inputs = {{}};
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    inputs.push_back(runs_bytes(40 + 11 * seed, seed));
    inputs.push_back(random_bytes(100 + 7 * seed, seed, 2));
  }
  inputs.push_back(runs_bytes(100'000, 1));  // more than one block
  const std::vector<std::span<const std::byte>> spans(inputs.begin(), inputs.end());
  const Bytes dictionary = runs_bytes(700, 3);
  for (const char* backend : {"cpu", "reference"})
    for (const int level : {1, 3, 9, 12}) {
      CompressOptions options;
      options.backend = backend;
      options.level = level;
      options.block_bytes = 64 * 1024;
      options.linked_blocks = true;
      options.dictionary = dictionary;
      FrameCompressor compressor(options);
      LargeBuffer output = compressor.make_output();
      const auto frames = compressor.compress(spans, output);
      ASSERT_EQ(frames.size(), inputs.size());
      // The header of an empty stream states 0 bytes; for a batch's empty input, it states no size.
      for (std::size_t i = 1; i < inputs.size(); ++i)
        EXPECT_EQ(Bytes(frames[i].begin(), frames[i].end()), compress(inputs[i], options))
            << backend << ", level " << level << ", input " << i;
    }
}

// Found by tests of the Python package. A decoder with threads reads ahead of its stream, and has the trailer
// when the stream ends. finish() did not ask for what was read ahead, so a pushed stream of more than some
// megabytes ended with "8 of 8 bytes are missing".
TEST_WITH_THREADS(Bug, PushedStreamsLostTheTrailerThatWasReadAhead) {
  const Bytes content = random_bytes(8'000'000, 1, 16);
  CompressOptions gzip;
  gzip.format = Format::kGzip;
  gzip.level = 1;
  const Bytes member = compress(content, gzip), two = member + member;
  for (const unsigned threads : {1u, 2u, 4u})
    for (const std::size_t piece_bytes : {std::size_t{100'000}, std::size_t{5'000'000}, two.size()}) {
      if (kTriedOneOf > 1 && threads != 2) continue;
      RestoreOptions options;
      options.threads = threads;
      options.backend = "cpu";
      Bytes restored;
      Decompressor decompressor(options, [&](std::span<const std::byte> piece) {
        restored.insert(restored.end(), piece.begin(), piece.end());
      });
      for (std::size_t at = 0; at < two.size(); at += piece_bytes)
        decompressor.write(std::span(two).subspan(at, std::min(piece_bytes, two.size() - at)));
      decompressor.finish();
      EXPECT_TRUE(restored == content + content) << threads << " threads, pieces of " << piece_bytes;
    }
}

}  // namespace
}  // namespace hemstitch::testing
