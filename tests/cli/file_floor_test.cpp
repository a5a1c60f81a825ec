// The ways to fill a new file that the floor of `hemstitch bench --span file` is the fastest of.
#include "cli/bench/file_floor.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <string>

#include "core/descriptor.hpp"
#include "shapes.hpp"
#include "threads.hpp"

namespace hemstitch::cli {
namespace {

// In memory, where each of them must work if the system knows it at all.
TEST_WITH_THREADS(FileFloor, EachWayFillsTheWholeFile) {
  for (const std::size_t bytes : {1UL, 1UL << 20, (3UL << 20) + 5}) {
    const testing::Bytes content = testing::random_bytes(bytes);
    for (const Filling way : kFillings) {
      const Descriptor file(memfd_create("file_floor", MFD_CLOEXEC));
      ASSERT_EQ(fchmod(file.number(), 0600), 0);  // only such are mapped
      const bool is_filled = fill(way, file.number(), content, 4);
      EXPECT_TRUE(is_filled || way == Filling::kPopulated);
      if (is_filled) {
        EXPECT_TRUE(testing::read_file("/proc/self/fd/" + std::to_string(file.number())) == content)
            << bytes << " bytes, way " << static_cast<int>(way);
      }
    }
  }
}

TEST_WITH_THREADS(FileFloor, AFileThatCannotBeMappedIsWritten) {
  EXPECT_FALSE(fill(Filling::kAllocated, STDIN_FILENO, testing::random_bytes(10), 2));
  EXPECT_TRUE(std::isfinite(floor_seconds(testing::random_bytes(100'000), 2)));
  EXPECT_TRUE(std::isfinite(floor_seconds({}, 2)));
}

}  // namespace
}  // namespace hemstitch::cli
