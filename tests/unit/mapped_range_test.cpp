// Mapped ranges of files. Files in /dev/shm are memory.
#include "files/save/mapped_range.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <vector>

#include "core/descriptor.hpp"

namespace hemstitch {
namespace {

bool has_memory_files() {
  struct statfs system {};
  return statfs("/dev/shm", &system) == 0 && system.f_type == TMPFS_MAGIC && access("/dev/shm", W_OK) == 0;
}

std::uint64_t file_bytes(int descriptor) {
  struct stat status {};
  fstat(descriptor, &status);
  return static_cast<std::uint64_t>(status.st_size);
}

class MappedRangeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_memory_files()) GTEST_SKIP() << "/dev/shm is no memory here";
  }
  static Descriptor memory_file(int flags = O_RDWR) {
    return Descriptor(open("/dev/shm", flags | O_TMPFILE | O_CLOEXEC, 0600));
  }
};

TEST_F(MappedRangeTest, OnlyOfAFileThatNoOtherUserMayCut) {
  const Descriptor file = memory_file();
  for (const mode_t mode : {0600, 0644, 0660, 0602}) {
    ASSERT_EQ(fchmod(file.number(), mode), 0);
    EXPECT_EQ(MappedRange::of(file.number(), 0, 5000).has_value(), (mode & 022) == 0) << std::oct << mode;
  }
}

TEST_F(MappedRangeTest, WhatIsWrittenToItIsInTheFile) {
  const Descriptor file = memory_file();
  ASSERT_EQ(pwrite(file.number(), "before", 6, 0), 6);
  for (const auto& [at, count] :
       {std::pair<std::uint64_t, std::size_t>{6, 1}, {7, 5000}, {5007, 4096}, {8192, 100'000}}) {
    auto range = MappedRange::of(file.number(), at, count);
    ASSERT_TRUE(range);
    ASSERT_EQ(range->bytes().size(), count);
    std::ranges::fill(range->bytes(), std::byte{7});
    const MappedRange moved = std::move(*range);
    range.reset();
    std::ranges::fill(moved.bytes().first(1), std::byte{8});
    EXPECT_GE(file_bytes(file.number()), at + count);
    std::vector<std::byte> read(count);
    ASSERT_EQ(pread(file.number(), read.data(), count, static_cast<off_t>(at)), static_cast<ssize_t>(count));
    EXPECT_EQ(read.front(), std::byte{8});
    EXPECT_TRUE(
        std::all_of(read.begin() + 1, read.end(), [](std::byte byte) { return byte == std::byte{7}; }));
  }
  EXPECT_EQ(file_bytes(file.number()), 108'192u);
  char before[6];
  ASSERT_EQ(pread(file.number(), before, 6, 0), 6);
  EXPECT_EQ(std::string(before, 6), "before");
}

TEST_F(MappedRangeTest, NothingWhereItCannotBe) {
  EXPECT_FALSE(MappedRange::of(memory_file(O_WRONLY).number(), 0, 10));
  EXPECT_FALSE(MappedRange::of(memory_file().number(), 0, 0));
  const Descriptor appended = memory_file(O_RDWR | O_APPEND);
  EXPECT_FALSE(MappedRange::of(appended.number(), 0, 10));
  EXPECT_EQ(file_bytes(appended.number()), 0u);
  const Descriptor device(open("/dev/null", O_RDWR | O_CLOEXEC));
  EXPECT_FALSE(MappedRange::of(device.number(), 0, 10));
  EXPECT_FALSE(MappedRange::of(-1, 0, 10));
}

// If there is no room for the range, the file stays as it was, and the writer learns why.
TEST_F(MappedRangeTest, NothingWhereThereIsNoRoom) {
  const Descriptor file = memory_file();
  struct rlimit limit {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
  const struct rlimit small { .rlim_cur = 1 << 20, .rlim_max = limit.rlim_max };
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_TRUE(MappedRange::of(file.number(), 0, 1 << 20));
  EXPECT_FALSE(MappedRange::of(file.number(), 1 << 20, 1));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  std::signal(SIGXFSZ, before);
  EXPECT_EQ(file_bytes(file.number()), std::uint64_t{1} << 20);
}

}  // namespace
}  // namespace hemstitch
