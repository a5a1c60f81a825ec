// Large pieces in a file: written through a mapping if the file is memory, and otherwise as usual.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "cli/files/files.hpp"
#include "core/parallel.hpp"
#include "shapes.hpp"
#include "threads.hpp"

namespace hemstitch::cli {
namespace {

using testing::Bytes;

// 40 MB with holes, for pieces on both sides of the size from which they are mapped.
Bytes content_with_holes() {
  Bytes content = testing::random_bytes(std::size_t{40} << 20);
  std::fill(content.begin() + 1'000'001, content.begin() + 1'000'001 + (5 << 20), std::byte{0});
  std::fill(content.begin() + (20 << 20), content.begin() + (21 << 20), std::byte{0});
  std::fill(content.end() - 70'000, content.end(), std::byte{0});
  return content;
}

std::uint64_t blocks_of(const std::filesystem::path& path) {
  struct stat status {};
  EXPECT_EQ(stat(path.c_str(), &status), 0);
  return static_cast<std::uint64_t>(status.st_blocks) * 512;
}

// Uses a folder of its own in `there`.
void expect_written(const std::filesystem::path& there) {
  std::string name = there / "file_sink.XXXXXX";
  ASSERT_NE(mkdtemp(name.data()), nullptr);
  const std::filesystem::path folder = name;
  const Bytes content = content_with_holes();
  std::ofstream(folder / "source") << "x";
  const FileSource source((folder / "source").string());
  for (const bool sparse : {false, true}) {
    const std::filesystem::path path = folder / (sparse ? "sparse" : "full");
    const auto sink = FileSink::create(
        {.file = FileName::from_argument(path.string()), .overwrite = false, .sparse = sparse}, source);
    run_on_threads(4, [&] {
      std::span<const std::byte> left = content;
      for (const std::size_t bytes :
           {std::size_t{100}, std::size_t{9} << 20, std::size_t{1} << 20, left.size()}) {
        const auto piece = left.first(std::min(bytes, left.size()));
        sink->write_in_parallel(piece);
        left = left.subspan(piece.size());
      }
    });
    EXPECT_FALSE(sink->complete(source));
    EXPECT_TRUE(testing::read_file(path) == content) << path;
    // Most of the six megabytes of zeros are holes, if there are holes at all.
    if (sparse) {
      EXPECT_LT(blocks_of(path), content.size() - (5 << 20)) << path;
    } else {
      EXPECT_GE(blocks_of(path), content.size()) << path;
    }
  }
  std::filesystem::remove_all(folder);
}

TEST_WITH_THREADS(FileSink, LargePiecesOnDisk) { expect_written(std::filesystem::temp_directory_path()); }

TEST_WITH_THREADS(FileSink, LargePiecesInMemory) {
  std::error_code none;
  if (std::filesystem::space("/dev/shm", none).available < 200'000'000 || none ||
      access("/dev/shm", W_OK) != 0)
    GTEST_SKIP() << "/dev/shm has little room here";
  expect_written("/dev/shm");
}

// What this process wrote by calls of the system, in bytes.
std::uint64_t written_by_calls() {
  std::ifstream io("/proc/self/io");
  for (std::string name, count; io >> name >> count;)
    if (name == "wchar:") return std::stoull(count);
  return 0;
}

// As `hemstitch bench` fills its files, which nobody else can open: through the mapping that named outputs get as well.
TEST_WITH_THREADS(FileSink, LargePiecesIntoAFileOfOurOwnAreMapped) {
  if (written_by_calls() == 0) GTEST_SKIP() << "no /proc/self/io here";
  const Bytes content = content_with_holes();
  for (const bool own : {false, true}) {
    const Descriptor file(memfd_create("file_sink", MFD_CLOEXEC));
    ASSERT_EQ(fchmod(file.number(), 0600), 0);  // only such are mapped
    const std::uint64_t before = written_by_calls();
    const auto sink = own ? FileSink::into_own(file.number()) : FileSink::into(file.number());
    run_on_threads(4, [&] { sink->write_in_parallel(content); });
    EXPECT_EQ(written_by_calls() - before < content.size() / 2, own);
    EXPECT_TRUE(testing::read_file("/proc/self/fd/" + std::to_string(file.number())) == content);
  }
}

}  // namespace
}  // namespace hemstitch::cli
