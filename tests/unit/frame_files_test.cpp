// Files to devices and back, as far as no device is needed: options, statuses, and new files that appear once
// they are complete.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "files/save/new_file.hpp"
#include "hemstitch/files.h"
#include "hemstitch/files.hpp"
#include "shapes.hpp"
#include "threads.hpp"

namespace hemstitch {
namespace {

namespace fs = std::filesystem;
using testing::Bytes;

class FrameFilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "hemstitch-frames-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  static void write(const std::string& path, const std::string& content) {
    std::ofstream(path, std::ios::binary) << content;
  }
  static std::string read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
};

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

mode_t mode_of(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(lstat(path.c_str(), &status), 0);
  return status.st_mode & 07777;
}

template <class Call>
Status status_of(const Call& call) {
  try {
    call();
    return Status::kOk;
  } catch (const Error& error) {
    return error.status();
  }
}

TEST_F(FrameFilesTest, NewFilesAppearWhole) {
  write(path("there"), "before");
  chmod(path("there").c_str(), 0640);
  for (const char* const name : {"there", "new"}) {
    NewFile file(path(name));
    file.write(4, bytes_of("ward"));
    file.write(0, bytes_of("back"));
    EXPECT_EQ(read(path("there")), "before");
    EXPECT_FALSE(fs::exists(path("new")));
    file.complete();
    EXPECT_EQ(read(path(name)), "backward");
    write(path("there"), "before");
  }
  EXPECT_EQ(mode_of(path("there")), 0640u);
  const mode_t mask = umask(0);
  umask(mask);
  EXPECT_EQ(mode_of(path("new")), 0666u & ~mask);
  EXPECT_EQ(entries(), 2u);
}

TEST_F(FrameFilesTest, NothingIsLeftOfIncompleteOnes) {
  write(path("there"), "before");
  {
    NewFile file(path("there"));
    file.write(0, bytes_of("half"));
    EXPECT_EQ(entries(), 2u);
  }
  EXPECT_EQ(read(path("there")), "before");
  EXPECT_EQ(entries(), 1u);
  fs::create_directory(path("folder"));
  EXPECT_EQ(status_of([&] { NewFile file(path("folder")); }), Status::kWriteFailed);
  EXPECT_EQ(status_of([&] { NewFile file(path("missing/file")); }), Status::kWriteFailed);
  EXPECT_EQ(entries(), 2u);
  // A link is replaced, and its target stays as it is.
  fs::create_symlink(path("there"), path("link"));
  NewFile file(path("link"));
  file.write(0, bytes_of("new"));
  file.complete();
  EXPECT_FALSE(fs::is_symlink(path("link")));
  EXPECT_EQ(read(path("there")), "before");
  EXPECT_EQ(read(path("link")), "new");
}

TEST_F_WITH_THREADS(FrameFilesTest, ManyThreadsWriteOneFile) {
  constexpr std::size_t kPart = 10'000;
  const Bytes content = testing::random_bytes(8 * kPart);
  NewFile file(path("file"));
  std::vector<std::thread> threads;
  for (std::size_t part = 8; part-- > 0;)
    threads.emplace_back(
        [&, part] { file.write(part * kPart, std::span(content).subspan(part * kPart, kPart)); });
  for (std::thread& thread : threads) thread.join();
  file.complete();
  EXPECT_EQ(testing::read_file(path("file")), content);
}

TEST_F(FrameFilesTest, OptionsAreCheckedAtTheDoor) {
  const auto refuses = [&](const FrameSaveOptions& options) {
    return status_of([&] { save_frame({}, path("file"), options); }) == Status::kInvalidOption;
  };
  EXPECT_TRUE(refuses({.level = -1}));
  EXPECT_TRUE(refuses({.level = 13}));
  EXPECT_TRUE(refuses({.block_bytes = 1000}));
  EXPECT_TRUE(refuses({.threads = 5000}));
  EXPECT_TRUE(refuses({.format = Format::kGzip}));
  EXPECT_TRUE(refuses({.format = Format::kZstd, .level = 23}));
  for (const std::size_t block_bytes : {1000, 32 << 20})
    EXPECT_TRUE(refuses({.format = Format::kZstd, .block_bytes = block_bytes}));
  EXPECT_EQ(status_of([&] { load_frame(path("file"), {.threads = 5000}); }), Status::kInvalidOption);
  EXPECT_EQ(entries(), 0u);

  hemstitch_device_content content{};
  EXPECT_EQ(hemstitch_load_frame(nullptr, nullptr, &content), HEMSTITCH_INVALID_OPTION);
  EXPECT_EQ(hemstitch_load_frame("file", nullptr, nullptr), HEMSTITCH_INVALID_OPTION);
  EXPECT_EQ(hemstitch_save_frame(nullptr, 1, "file", nullptr, nullptr), HEMSTITCH_INVALID_OPTION);
  EXPECT_EQ(hemstitch_save_frame(nullptr, 0, nullptr, nullptr, nullptr), HEMSTITCH_INVALID_OPTION);
  hemstitch_release_content(nullptr);
  hemstitch_release_content(&content);
}

#ifndef HEMSTITCH_CUDA
TEST_F(FrameFilesTest, BuildsWithoutCudaSaySo) {
  EXPECT_EQ(status_of([&] { load_frame(path("file")); }), Status::kDeviceUnavailable);
  EXPECT_EQ(status_of([&] { save_frame({}, path("file")); }), Status::kDeviceUnavailable);
  hemstitch_device_content content{};
  const std::string name = path("file");
  EXPECT_EQ(hemstitch_load_frame(name.c_str(), nullptr, &content), HEMSTITCH_DEVICE_UNAVAILABLE);
  EXPECT_NE(std::string(hemstitch_last_error_message()).find("no CUDA"), std::string::npos);
  EXPECT_EQ(hemstitch_save_frame(nullptr, 0, name.c_str(), nullptr, nullptr), HEMSTITCH_DEVICE_UNAVAILABLE);
  EXPECT_EQ(entries(), 0u);
}
#endif

}  // namespace
}  // namespace hemstitch
