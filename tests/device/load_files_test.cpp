// Many files on the device: the same bytes and places as on the host, even if a file changes while it is
// read.
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "cuda_test.hpp"
#include "gpu/cuda/cuda_error.hpp"
#include "hemstitch/files.hpp"

namespace hemstitch {
namespace {

namespace fs = std::filesystem;

LoadOptions to_device() {
  LoadOptions options;
  options.to_device = true;
  return options;
}

class LoadFilesDeviceTest : public CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    std::string pattern = (fs::temp_directory_path() / "hemstitch-load-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ / name, std::ios::binary) << content;
    return (folder_ / name).string();
  }

 private:
  fs::path folder_;
};

void expect_the_same_on_the_device(const CompactedBuffer& files) {
  std::vector<std::byte> bytes(files.bytes().size());
  std::vector<std::uint64_t> offsets(files.count() + 1);
  if (!bytes.empty())
    cuda::check(cudaMemcpy(bytes.data(), files.d_bytes(), bytes.size(), cudaMemcpyDeviceToHost),
                "cudaMemcpy");
  cuda::check(cudaMemcpy(offsets.data(), files.d_offsets(), offsets.size() * sizeof(std::uint64_t),
                         cudaMemcpyDeviceToHost),
              "cudaMemcpy");
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), files.bytes().begin(), files.bytes().end()));
  EXPECT_TRUE(std::equal(offsets.begin(), offsets.end(), files.offsets().begin(), files.offsets().end()));
}

TEST_F(LoadFilesDeviceTest, BringsThemToTheDevice) {
  std::mt19937 random(1);
  std::vector<std::string> paths;
  for (int i = 0; i < 300; ++i) {
    std::string content(random() % (i % 50 == 0 ? 5'000'000 : 5000), ' ');
    for (char& c : content) c = static_cast<char>(random());
    paths.push_back(write(std::to_string(i), content));
  }
  paths.push_back("missing");
  const CompactedBuffer files = load_files(paths, to_device());
  EXPECT_EQ(files.count() + files.skipped().size(), paths.size());
  EXPECT_GT(files.count(), 290u);
  expect_the_same_on_the_device(files);

  LoadOptions small_batches = to_device();
  small_batches.memory_limit_bytes = 6'000'000;
  FileLoader loader(paths, small_batches);
  std::size_t count = 0;
  while (!loader.done()) {
    const CompactedBuffer batch = loader.next();
    count += batch.count();
    expect_the_same_on_the_device(batch);
  }
  EXPECT_EQ(count, files.count());
}

TEST_F(LoadFilesDeviceTest, NothingIsNothing) {
  expect_the_same_on_the_device(load_files({write("empty", "")}, to_device()));
}

TEST_F(LoadFilesDeviceTest, FilesThatChangeLeaveNoHoles) {
  std::vector<std::string> paths;
  for (int i = 0; i < 100; ++i)
    paths.push_back(write(std::to_string(i), std::string(20'000, static_cast<char>('a' + i % 26))));
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    for (int round = 0; !stop; ++round)
      for (std::size_t i = 1; i < paths.size() && !stop; i += 2)
        std::ofstream(paths[i], round % 3 == 0 ? std::ios::trunc : std::ios::app) << "more and more";
  });
  for (int round = 0; round < 20; ++round) {
    const CompactedBuffer files = load_files(paths, to_device());
    EXPECT_GE(files.count(), 50u);
    for (std::size_t i = 0; i < files.count(); ++i)
      if (files.index(i) % 2 == 0) {
        ASSERT_EQ(files.span(i).size(), 20'000u);
        EXPECT_EQ(files.span(i)[0], static_cast<std::byte>('a' + files.index(i) % 26));
      }
    expect_the_same_on_the_device(files);
  }
  stop = true;
  writer.join();
}

}  // namespace
}  // namespace hemstitch
