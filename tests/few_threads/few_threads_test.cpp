// The library and the tool where fewer threads can be started than are wanted, down to none: they work with
// fewer, or report it. Each trial is a process of its own, since oneTBB begins once in a process.
#include "few_threads.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "cli/tool.hpp"
#include "core/parallel.hpp"
#include "hemstitch/files.hpp"
#include "hemstitch/hemstitch.hpp"
#include "hemstitch/search.hpp"
#include "shapes.hpp"

namespace hemstitch::testing {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kThreads = 12;  // wanted
constexpr std::array kAllowed{0, 1, 2, 3, 5, 8, 11, 13};

// Runs `run` in a process where so many threads can be started. Returns its exit status; -1 after a signal.
int run_with(int allowed, const std::function<int()>& run) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    alarm(60);
    allow_threads(allowed);
    _exit([&]() noexcept { return run(); }());
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) ADD_FAILURE() << "no process for a trial";
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void expect_done(const std::function<bool()>& run) {
  for (const int allowed : kAllowed)
    EXPECT_EQ(run_with(allowed, [&] { return run() ? 0 : 1; }), 0) << allowed << " threads can be started";
}

// Occupies threads for a while, so that oneTBB wants all that it may have.
void be_busy() { std::this_thread::sleep_for(std::chrono::microseconds(200)); }

TEST(FewThreads, WorkIsDividedAmongThoseThatThereAre) {
  expect_done([] {
    std::vector<int> done(200);
    run_on_threads(kThreads, [&] {
      run_in_parallel(done.size(), 1, [&](std::size_t i) {
        be_busy();
        ++done[i];
      });
    });
    return std::ranges::count(done, 1) == 200;
  });
}

// In oneTBB's own arena, which has a thread for each core.
TEST(FewThreads, OutsideOfAnArenaToo) {
  expect_done([] {
    std::vector<int> done(200);
    run_in_parallel(done.size(), 1, [&](std::size_t i) {
      be_busy();
      ++done[i];
    });
    std::vector<int> numbers(100'000);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int>(i * 7919 % numbers.size());
    sort_in_parallel(numbers.begin(), numbers.end(), std::less());
    return std::ranges::count(done, 1) == 200 && std::ranges::is_sorted(numbers);
  });
}

TEST(FewThreads, ThreadsThatCanBeStartedLaterAreTaken) {
  EXPECT_EQ(run_with(2,
                     [] {
                       if (startable_threads(kThreads) >= kThreads) return 1;
                       allow_threads(100);
                       std::this_thread::sleep_for(std::chrono::milliseconds(1100));
                       return startable_threads(kThreads) == kThreads ? 0 : 2;
                     }),
            0);
}

TEST(FewThreads, AllAreTakenWhereTheyCanBeStarted) {
  EXPECT_EQ(
      run_with(100, [] { return startable_threads(kThreads) == kThreads && refused_threads() == 0 ? 0 : 1; }),
      0);
}

TEST(FewThreads, TheLibraryCompressesAndRestores) {
  const Bytes content = wordy_bytes(2'000'000);
  for (const Format format : {Format::kLz4, Format::kGzip})
    expect_done([&] {
      CompressOptions options;
      options.format = format;
      options.threads = kThreads;
      if (format == Format::kLz4) options.block_bytes = 64 << 10;
      RestoreOptions restoring;
      restoring.threads = kThreads;
      return restore(compress(content, options), restoring) == content;
    });
}

class FewThreadsFiles : public ::testing::Test {
 protected:
  FewThreadsFiles() {
    std::string name = (fs::temp_directory_path() / "hemstitch-few-threads-XXXXXX").string();
    root_ = mkdtemp(name.data());
  }
  ~FewThreadsFiles() override { fs::remove_all(root_); }

  // Makes a folder with files, in the current folder.
  void make_files() const {
    fs::remove_all(root_ / "here");
    fs::create_directories(root_ / "here" / "top");
    fs::current_path(root_ / "here");
    const Bytes content = wordy_bytes(2'000'000);
    std::ofstream("large").write(reinterpret_cast<const char*>(content.data()),
                                 static_cast<std::streamsize>(content.size()));
    for (int i = 0; i < 300; ++i) std::ofstream("top/" + std::to_string(i)) << "some words\n";
  }

  static int run_tool(std::vector<std::string> words) {
    words.insert(words.begin(), "hemstitch");
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    return cli::run_tool(static_cast<int>(words.size()), pointers.data());
  }

  fs::path root_;
};

// Without any thread, signals could not be taken: that is an error.
TEST_F(FewThreadsFiles, TheToolWorksOrSaysSo) {
  const std::string threads = "-T" + std::to_string(kThreads);
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"-q", threads, "-B64K", "large"},
                                             {"-q", threads, "-r", "."},
                                             {"search", threads, "-r", "-c", "words", "."},
                                             {"-q", threads, "--format", "gzip", "large"}})
    for (const int allowed : kAllowed) {
      make_files();
      const int status = run_with(allowed, [&] {
        if (allowed == 0 && freopen("/dev/null", "w", stderr) == nullptr) return 99;
        if (freopen("/dev/null", "w", stdout) == nullptr) return 99;
        return run_tool(words);
      });
      const bool searches = words.front() == "search";
      EXPECT_TRUE(status == 0 || (allowed == 0 && status == (searches ? 2 : 1)))
          << words.back() << ", " << allowed << " threads can be started: " << status;
      for (const auto& entry : fs::recursive_directory_iterator("."))
        EXPECT_FALSE(entry.path().filename().string().starts_with(".hemstitch-")) << entry.path();
    }
}

TEST_F(FewThreadsFiles, FilesAreLoadedAndSearched) {
  make_files();
  expect_done([] {
    std::vector<std::string> paths;
    for (int i = 0; i < 300; ++i) paths.push_back("top/" + std::to_string(i));
    const CompactedBuffer files = load_files(paths, {.threads = kThreads});
    const TextSearcher searcher({.patterns = {"words"}, .backend = "cpu", .threads = kThreads});
    std::size_t found = 0;
    for (const auto& text : searcher.search(files.bytes(), files.offsets())) found += text.lines.size();
    return files.count() == 300 && found == 300;
  });
}

}  // namespace
}  // namespace hemstitch::testing
