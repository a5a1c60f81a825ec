// Many files in one buffer: contents and order, and every reason for leaving a file out.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "files/load/read_contents.hpp"
#include "hemstitch/files.hpp"
#include "threads.hpp"

namespace hemstitch {
namespace {

namespace fs = std::filesystem;

class LoadFiles : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "hemstitch-load-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
  }

 private:
  fs::path folder_;
};

std::string content_of(const CompactedBuffer& files, std::size_t file) {
  const auto span = files.span(file);
  return std::string(reinterpret_cast<const char*>(span.data()), span.size());
}

TEST_F(LoadFiles, ASizeOfZeroThatSaysNothingIsNoEmptyFile) {
  const std::string told = "/proc/self/status";
  if (!fs::exists(told)) GTEST_SKIP() << "skipped: no /proc here";
  const CompactedBuffer files = load_files({told, write("empty", "")});
  ASSERT_EQ(files.skipped().size(), 2u);
  EXPECT_EQ(files.skipped()[0].why, SkippedFile::Why::kNotRegular);
  EXPECT_EQ(files.skipped()[1].why, SkippedFile::Why::kEmpty);
}

TEST_F_WITH_THREADS(LoadFiles, BringsThemTogetherInOrder) {
  std::mt19937 random(1);
  std::vector<std::string> paths, contents;
  for (int i = 0; i < 500; ++i) {
    contents.emplace_back(1 + random() % (i % 100 == 0 ? 3'000'000 : 3000), static_cast<char>('a' + i % 26));
    contents.back().back() = '!';
    paths.push_back(write("f" + std::to_string(i), contents.back()));
  }
  const CompactedBuffer files = load_files(paths);
  ASSERT_EQ(files.count(), paths.size());
  EXPECT_TRUE(files.skipped().empty());
  EXPECT_EQ(files.offsets().size(), paths.size() + 1);
  EXPECT_EQ(files.offsets().back(), files.bytes().size());
  EXPECT_EQ(files.d_bytes(), nullptr);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    ASSERT_EQ(files.name(i), paths[i]);
    ASSERT_EQ(files.index(i), i);
    ASSERT_TRUE(content_of(files, i) == contents[i]) << paths[i];
  }
}

TEST_F_WITH_THREADS(LoadFiles, LeavesOutWhatIsNoFile) {
  const std::string good = write("good", "good"), empty = write("empty", ""), last = write("last", "last");
  fs::create_directory(path("folder"));
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  const CompactedBuffer files =
      load_files({path("missing"), good, empty, path("folder"), path("pipe"), last});
  ASSERT_EQ(files.count(), 2u);
  EXPECT_EQ(content_of(files, 0), "good");
  EXPECT_EQ(content_of(files, 1), "last");
  EXPECT_EQ(files.index(1), 5u);
  ASSERT_EQ(files.skipped().size(), 4u);
  using Why = SkippedFile::Why;
  EXPECT_EQ(files.skipped()[0].why, Why::kUnreadable);
  EXPECT_EQ(files.skipped()[0].reason, "No such file or directory");
  EXPECT_EQ(files.skipped()[1].why, Why::kEmpty);
  EXPECT_EQ(files.skipped()[2].reason, "Is a directory");
  EXPECT_EQ(files.skipped()[3].why, Why::kNotRegular);
}

TEST_F(LoadFiles, NothingIsNothing) {
  EXPECT_EQ(load_files({}).count(), 0u);
  const CompactedBuffer files = load_files({path("missing")});
  EXPECT_EQ(files.count(), 0u);
  EXPECT_TRUE(files.bytes().empty());
}

// A file that became longer or shorter after its size was queried. (The test below can hardly force this from
// outside, and may never see it.)
TEST_F(LoadFiles, ContentsOfAnotherSizeAreNotTaken) {
  const std::string name = write("f", std::string(1000, 'x'));
  const auto read_as = [&](std::size_t bytes) -> std::optional<SkippedFile::Why> {
    const int descriptor = open(name.c_str(), O_RDONLY);
    EXPECT_GE(descriptor, 0);
    std::vector<std::byte> into(bytes);
    const std::optional<NoContents> none = read_contents(descriptor, into);
    close(descriptor);
    if (none) return none->why;
    EXPECT_TRUE(std::all_of(into.begin(), into.end(), [](std::byte byte) { return byte == std::byte{'x'}; }));
    return std::nullopt;
  };
  EXPECT_EQ(read_as(1000), std::nullopt);
  EXPECT_EQ(read_as(999), SkippedFile::Why::kChanged);
  EXPECT_EQ(read_as(1001), SkippedFile::Why::kChanged);
}

// A file with contents although its size is 0 cannot be told from one that grows. A file that is appended to
// all the time is left out, or loaded as it was at some moment.
TEST_F_WITH_THREADS(LoadFiles, FilesThatChangeAreWholeOrLeftOut) {
  std::vector<std::string> paths;
  for (int i = 0; i < 50; ++i) {
    paths.push_back(write("still" + std::to_string(i), std::string(1000, 's')));
    paths.push_back(write("moving" + std::to_string(i), std::string(1000, 'm')));
  }
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    for (int round = 0; !stop; ++round)
      for (std::size_t i = 1; i < paths.size() && !stop; i += 2) {
        if (round % 3 == 2)
          fs::resize_file(paths[i], 500);
        else
          std::ofstream(paths[i], std::ios::app) << "mmmmm";
      }
  });
  for (int round = 0; round < 20; ++round) {
    const CompactedBuffer files = load_files(paths);
    EXPECT_EQ(files.count() + files.skipped().size(), paths.size());
    std::size_t still = 0;
    for (std::size_t i = 0; i < files.count(); ++i) {
      const std::string content = content_of(files, i);
      if (files.index(i) % 2 == 0) {
        ++still;
        EXPECT_TRUE(content == std::string(1000, 's'));
      } else {
        EXPECT_EQ(content.find_first_not_of('m'), std::string::npos);
      }
    }
    EXPECT_EQ(still, 50u);
    for (const SkippedFile& file : files.skipped()) EXPECT_EQ(file.why, SkippedFile::Why::kChanged);
  }
  stop = true;
  writer.join();
}

TEST_F_WITH_THREADS(LoadFiles, BatchesKeepToTheLimit) {
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < 20; ++i)
    paths.push_back(write("f" + std::to_string(i), std::string(100 + i, 'x')));
  paths.push_back(write("large", std::string(1001, 'x')));
  const LoadOptions options{.threads = 2, .memory_limit_bytes = 1000};
  EXPECT_THROW(load_files(paths, options), Error);
  FileLoader loader(paths, options);
  std::size_t count = 0, batches = 0;
  while (!loader.done()) {
    const CompactedBuffer files = loader.next();
    EXPECT_LE(files.bytes().size(), 1000u);
    for (std::size_t i = 0; i < files.count(); ++i) EXPECT_EQ(files.index(i), count++);
    ++batches;
    if (loader.done()) {
      ASSERT_EQ(files.skipped().size(), 1u);
      EXPECT_EQ(files.skipped()[0].why, SkippedFile::Why::kTooLarge);
    }
  }
  EXPECT_EQ(count, 20u);
  EXPECT_EQ(batches, 3u);
}

}  // namespace
}  // namespace hemstitch
