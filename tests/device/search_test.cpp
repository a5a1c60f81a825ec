// search on a CUDA device, compared with the CPU's (find_in_texts).
#include "hemstitch/search.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>

#include "cuda_test.hpp"
#include "gpu/cuda/device_buffer.hpp"
#include "gpu/cuda/staged_upload.hpp"
#include "hemstitch/files.hpp"
#include "hemstitch/hemstitch.hpp"
#include "search/search_cuda.hpp"
#include "search/search_cuda_device.hpp"
#include "search/search_tuning.hpp"
#include "search_cases.hpp"
#include "shapes.hpp"

namespace hemstitch {
namespace {

using testing::SearchCase;

constexpr std::uint64_t kUnwritten = 0xA5A5A5A5A5A5A5A5u;

class SearchDeviceTest : public CudaStreamTest {
 protected:
  // The device's matches, with `room` for so many if it is given. `alignment` is that of the texts' address.
  std::vector<SearchMatch> find(const SearchCase& one, std::size_t alignment = 0,
                                std::optional<std::uint64_t> room = std::nullopt) {
    const std::span<const std::byte> bytes = std::as_bytes(std::span(one.texts));
    // Exactly this large, so that memcheck sees reads outside.
    const cuda::DeviceBuffer<std::byte> d_bytes(alignment + bytes.size(), stream());
    if (!bytes.empty())
      cuda::check(cudaMemcpyAsync(d_bytes.get() + alignment, bytes.data(), bytes.size(),
                                  cudaMemcpyHostToDevice, stream()),
                  "cudaMemcpyAsync");
    cuda::DeviceBuffer<std::uint64_t> d_offsets(one.offsets.size(), stream());
    d_offsets.upload(one.offsets);
    const PatternTable table(one.patterns);
    cuda::DeviceBuffer<std::uint32_t> d_table(table.words.size(), stream());
    d_table.upload(table.words);
    const CudaTexts texts{d_bytes.get() + alignment, bytes.size(), d_offsets.get(), one.offsets.size() - 1};
    const cuda::DevicePatterns patterns{table.places, d_table.get()};
    const cuda::DeviceBuffer<std::byte> d_scratch(cuda::search_cuda_scratch_bytes(texts), stream());
    const cuda::DeviceBuffer<std::uint64_t> d_total(1, stream());
    cuda::count_matches_cuda(texts, patterns, d_total.get(), d_scratch.get(), d_scratch.bytes(), stream());
    std::vector<std::uint64_t> total(1);
    d_total.download(total);
    stream_->synchronize();

    const std::uint64_t asked = room.value_or(total[0]);
    const cuda::DeviceBuffer<PackedMatch> d_matches(asked + 1, stream());
    cuda::check(cudaMemsetAsync(d_matches.get(), 0xA5, d_matches.bytes(), stream()), "cudaMemsetAsync");
    cuda::write_matches_cuda(texts, patterns, d_matches.get(), asked, d_scratch.get(), d_scratch.bytes(),
                             stream());
    std::vector<PackedMatch> packed(asked + 1);
    d_matches.download(packed);
    stream_->synchronize();
    EXPECT_EQ(packed.back().word, kUnwritten) << one.name << ": wrote behind its room";
    packed.pop_back();
    return testing::unpacked(packed);
  }
};

TEST_F(SearchDeviceTest, FindsWhatTheCpuFinds) {
  std::size_t alignment = 0;
  for (const SearchCase& one : testing::search_cases(kSearchTileBytes, true)) {
    ASSERT_EQ(testing::search_difference(one, find(one, alignment % 16)), "")
        << "alignment " << alignment % 16;
    ++alignment;
  }
}

TEST_F(SearchDeviceTest, FindsAtEveryAlignment) {
  const std::string text = testing::random_letters(3 * kSearchTileBytes, "abc", 9);
  for (const std::vector<std::string>& patterns :
       {std::vector<std::string>{"abca"}, {"a"}, {"abcabcab"}, {"ab", "cccc", "b"}})
    for (std::size_t alignment = 0; alignment < 16; ++alignment)
      for (const std::size_t bytes : {text.size(), text.size() - 2049, std::size_t{100}}) {
        const SearchCase one("aligned", text.substr(0, bytes), testing::random_offsets(bytes, 999, 2),
                             PatternSet(patterns, false));
        ASSERT_EQ(testing::search_difference(one, find(one, alignment)), "") << "alignment " << alignment;
      }
}

TEST_F(SearchDeviceTest, DropsNoneOfAMillion) {
  const std::string run(1 << 20, 'x');
  const SearchCase one("a million", run, PatternSet({"x"}, false));
  const std::vector<SearchMatch> found = find(one);
  EXPECT_EQ(found.size(), run.size());
  EXPECT_EQ(testing::search_difference(one, found), "");
  const SearchCase other("a million, any case", run, testing::random_offsets(run.size(), 100'000, 1),
                         PatternSet({"XX", "xxx"}, true));
  EXPECT_EQ(testing::search_difference(other, find(other)), "");
}

TEST_F(SearchDeviceTest, WritesTheFirstWhereThereIsLittleRoom) {
  const std::string text = testing::random_letters(4 * kSearchTileBytes, "ab", 10);
  const SearchCase one("room", text, PatternSet({"ab"}, false));
  const std::vector<SearchMatch> all = one.expected();
  for (const std::uint64_t room :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{3000}, std::uint64_t{all.size()}}) {
    const std::vector<SearchMatch> found = find(one, 0, room);
    EXPECT_TRUE(std::equal(found.begin(), found.end(), all.begin()));
  }
}

// Files with and without content that the device can restore: those that it returns must be right, and it
// must return all that it can.
TEST_F(SearchDeviceTest, FindsInsideCompressedFiles) {
  namespace fs = std::filesystem;
  std::string folder = (fs::temp_directory_path() / "hemstitch-search-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  std::vector<std::string> paths, contents;
  std::vector<bool> whole;
  const auto add = [&](const std::string& content, const CompressOptions& options,
                       std::size_t damaged_byte = 0) {
    std::vector<std::byte> packed = compress(std::as_bytes(std::span(content)), options);
    if (damaged_byte != 0) packed[packed.size() - damaged_byte] ^= std::byte{0x20};
    paths.push_back(folder + "/" + std::to_string(paths.size()));
    std::ofstream(paths.back(), std::ios::binary)
        .write(reinterpret_cast<const char*>(packed.data()), static_cast<std::streamsize>(packed.size()));
    contents.push_back(content);
    // A last byte that is apart does not depend on another block.
    whole.push_back(damaged_byte == 0 &&
                    !(options.linked_blocks && content.size() > options.block_bytes + 1));
  };
  CompressOptions independent, checked, linked;
  independent.linked_blocks = checked.linked_blocks = false;
  linked.linked_blocks = true;
  independent.block_bytes = checked.block_bytes = linked.block_bytes = 65536;
  checked.content_checksum = true;
  for (std::uint32_t i = 0; i < 60; ++i) {
    const std::string words = testing::random_letters(i * i * 101, i % 7 == 0 ? "ab" : "abcdefgh \n", i);
    add(words, i % 3 == 0 ? checked : i % 3 == 1 ? independent : linked);
  }
  for (const std::size_t bytes : {65535u, 65536u, 65537u, 66000u})
    add(testing::random_letters(bytes, "abcdefgh \n", 99), linked);
  std::string noise;
  for (const std::byte byte : testing::random_bytes(200'000)) noise += static_cast<char>(byte);
  add(noise, checked);
  add(std::string(3'000'000, 'a'), checked);
  const std::string text = testing::random_letters(150'000, "abcdefgh", 1);
  for (const std::size_t byte : {1u, 6u, 300u, 30'000u}) add(text, checked, byte);
  // BGZF, whose last member has 28 bytes; a short file of gzip, which counts as one block, and a long one.
  CompressOptions bgzf, gzip;
  bgzf.format = Format::kBgzf;
  gzip.format = Format::kGzip;
  for (const std::size_t bytes : {0u, 1u, 65'280u, 65'281u, 300'000u})
    for (const CompressOptions& options : {bgzf, gzip})
      add(testing::random_letters(bytes, "abcdefgh \n", static_cast<std::uint32_t>(bytes)), options);
  for (const std::size_t byte : {30u, 36u, 5000u}) add(text, bgzf, byte);
  for (const std::size_t byte : {1u, 8u, 5000u}) add(text, gzip, byte);
  add(std::string(3'000'000, 'a'), gzip);
  whole.back() = false;
  std::ofstream(folder + "/plain") << text;
  paths.push_back(folder + "/plain");
  contents.push_back(text);
  whole.push_back(false);

  const CompactedBuffer files = load_files(paths);
  ASSERT_EQ(files.count(), paths.size());
  const PatternSet patterns({"abc", "ba", "aaaaaaaaaaaaaaaaaaaa"}, false);
  const auto search = make_cuda_search({}, patterns);
  for (const bool texts : {true, false}) {
    std::vector<bool> given(paths.size(), false);
    search->find_in_compressed(
        {files.bytes(), files.offsets()}, UINT64_MAX, texts, [&](std::span<const RestoredFile> restored) {
          for (const RestoredFile& one : restored) {
            const std::string& content = contents[one.file];
            std::vector<SearchMatch> found = testing::unpacked(one.matches);
            for (SearchMatch& match : found) match.position -= one.begin;
            EXPECT_EQ(found, find_in_texts(content, std::vector<std::uint64_t>{0, content.size()}, patterns))
                << "file " << one.file;
            if (texts && !found.empty()) {
              EXPECT_TRUE(one.text == content) << "file " << one.file;
            }
            EXPECT_FALSE(given[one.file]);
            given[one.file] = true;
          }
        });
    EXPECT_EQ(given, whole);
  }
  fs::remove_all(folder);
}

// With the public interface: texts that load_files() loaded, on a stream of the caller's.
TEST_F(SearchDeviceTest, SearchersFindInDeviceMemory) {
  const std::string text = testing::random_letters(300'000, "abcAB \n", 4);
  const std::vector<std::uint64_t> offsets = testing::random_offsets(text.size(), 77, 3);
  SearchOptions options{.patterns = {"ab", "bca", "c"}, .ignore_case = true};
  const TextSearcher on_host(options);
  options.backend = "cuda";
  const TextSearcher searcher(options);
  const std::span<const std::byte> bytes = std::as_bytes(std::span(text));
  const std::vector<SearchMatch> expected = on_host.find(bytes, offsets);
  EXPECT_EQ(searcher.find(bytes, offsets), expected);

  cuda::DeviceBuffer<std::byte> d_bytes(bytes.size(), stream());
  d_bytes.upload(bytes);
  cuda::DeviceBuffer<std::uint64_t> d_offsets(offsets.size(), stream());
  d_offsets.upload(offsets);
  const CudaTexts texts{d_bytes.get(), bytes.size(), d_offsets.get(), offsets.size() - 1};
  const std::size_t temp_bytes = searcher.temp_bytes(texts);
  const cuda::DeviceBuffer<std::byte> d_temp(temp_bytes, stream());
  const cuda::DeviceBuffer<std::uint64_t> d_found(expected.size() + 1, stream());
  searcher.count_async(texts, d_found.get(), d_temp.get(), temp_bytes, stream());
  searcher.write_async(texts, d_found.get() + 1, expected.size(), d_temp.get(), temp_bytes, stream());
  std::vector<std::uint64_t> found(expected.size() + 1);
  d_found.download(found);
  cuda::check(cudaStreamSynchronize(stream()), "cudaStreamSynchronize");
  EXPECT_EQ(found.front(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_EQ(found[i + 1], expected[i].position << 16 | expected[i].bytes) << i;
  EXPECT_THROW(searcher.count_async(texts, d_found.get(), d_temp.get(), 0, stream()), Error);
}

// Lines must be the same wherever the matches are found, and whatever the texts restore to.
TEST_F(SearchDeviceTest, SearchersGiveTheLinesOfTheProcessor) {
  std::string all;
  std::vector<std::uint64_t> offsets{0};
  for (std::uint32_t i = 0; i < 50; ++i) {
    const std::string text = testing::random_letters(i * 300, "abc \n", i);
    if (i % 3 == 0) {
      CompressOptions how;
      how.linked_blocks = i % 2 == 0;
      const auto packed = compress(std::as_bytes(std::span(text)), how);
      all.append(reinterpret_cast<const char*>(packed.data()), packed.size());
    } else {
      all += text;
    }
    offsets.push_back(all.size());
  }
  for (int round = 0; round < 8; ++round) {
    SearchOptions options{.patterns = {"ab", "c"}};
    options.whole_words = (round & 1) != 0;
    options.invert = (round & 2) != 0;
    options.decompress = (round & 4) != 0;
    const auto expected = TextSearcher(options).search(std::as_bytes(std::span(all)), offsets);
    options.backend = "cuda";
    const auto found = TextSearcher(options).search(std::as_bytes(std::span(all)), offsets);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].count, expected[i].count) << i;
      ASSERT_EQ(found[i].lines.size(), expected[i].lines.size()) << i;
      for (std::size_t line = 0; line < found[i].lines.size(); ++line)
        EXPECT_EQ(found[i].lines[line].text, expected[i].lines[line].text);
    }
  }
}

// Memory that is not pinned: all of it must arrive, with any size, one copy after the other.
TEST_F(SearchDeviceTest, StagedUploadsArrive) {
  cuda::StagedUpload upload(cuda::open_device({}));
  const std::vector<std::byte> data = testing::random_bytes((40u << 20) + 3);
  cuda::DeviceBuffer<std::byte> d_data(data.size(), stream());
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{512} << 10,
                                  (std::size_t{1} << 20) + 1, std::size_t{8} << 20, data.size()}) {
    const auto from = std::span(data).last(bytes);
    upload.copy(d_data.get(), from, stream());
    std::vector<std::byte> arrived(bytes);
    if (bytes != 0)
      cuda::check(cudaMemcpyAsync(arrived.data(), d_data.get(), bytes, cudaMemcpyDeviceToHost, stream()),
                  "cudaMemcpyAsync");
    ASSERT_EQ(cudaStreamSynchronize(stream()), cudaSuccess);
    EXPECT_TRUE(std::equal(from.begin(), from.end(), arrived.begin(), arrived.end())) << bytes;
  }
}

TEST_F(SearchDeviceTest, NeedsItsScratch) {
  const CudaTexts texts{nullptr, 100, nullptr, 1};
  const std::size_t bytes = cuda::search_cuda_scratch_bytes(texts);
  ASSERT_GT(bytes, 0u);
  EXPECT_THROW(cuda::count_matches_cuda(texts, {}, nullptr, nullptr, bytes, stream()), Error);
  EXPECT_THROW(cuda::write_matches_cuda(texts, {}, nullptr, 0, nullptr, bytes - 1, stream()), Error);
}

}  // namespace
}  // namespace hemstitch
