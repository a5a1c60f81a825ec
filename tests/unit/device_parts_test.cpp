// Parts that are whole, cut off, of another release or build, or none at all.
#include "gpu/device_parts.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>
#include <vector>

#include "core/status.hpp"
#include "engine/part_backend.hpp"
#include "engine/reference/reference_backend.hpp"
#include "hemstitch/version.h"
#include "threads.hpp"

namespace hemstitch {
namespace {

class DeviceParts : public testing::Test {
 protected:
  DeviceParts()
      : folder_(std::filesystem::temp_directory_path() / ("hemstitch-parts-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
    std::ifstream file(HEMSTITCH_FAKE_PART, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
  }
  ~DeviceParts() override { std::filesystem::remove_all(folder_); }

  std::string written(const std::string& name, std::string_view bytes) const {
    const std::filesystem::path path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return path.string();
  }
  // The part, with one text in it replaced by another of the same length.
  std::string with(std::string_view text, std::string_view other) const {
    EXPECT_EQ(text.size(), other.size());
    std::string changed = bytes_;
    std::size_t count = 0;
    for (std::size_t at = changed.find(text); at != std::string::npos;
         at = changed.find(text, at + 1), ++count)
      changed.replace(at, text.size(), other);
    EXPECT_GT(count, 0u);
    return changed;
  }
  std::string reason_of(const std::string& bytes) {
    // The loader takes a name that it knows for the file that it has loaded.
    static int count = 0;
    const LoadedPart part = load_part(written("part" + std::to_string(++count) + ".so", bytes), "cuda");
    EXPECT_EQ(part.table, nullptr);
    return part.reason;
  }

  std::filesystem::path folder_;
  std::string bytes_;
};

void expect_says(const std::string& text, std::string_view words) {
  EXPECT_NE(text.find(words), std::string::npos) << text;
}

template <typename Function>
Function* function_of(const LoadedPart& part, std::size_t index) {
  return reinterpret_cast<Function*>(part.table->functions[index]);
}

TEST_F(DeviceParts, AWholePartIsCalled) {
  const LoadedPart part = load_part(HEMSTITCH_FAKE_PART, "cuda");
  ASSERT_NE(part.table, nullptr) << part.reason;
  EXPECT_EQ(function_of<int(int, int)>(part, 0)(2, 3), 5);
  // Its own copy of what messages advise is set by the caller's.
  Advice advice;
  advice.cuda_build = "ask the test";
  part.table->take_advice(advice);
  EXPECT_EQ(function_of<std::string()>(part, 3)(), "ask the test");
  EXPECT_NE(current_advice.cuda_build, "ask the test");
}

TEST_F(DeviceParts, ExceptionsOfAPartAreCaughtByTheirTypes) {
  const LoadedPart part = load_part(HEMSTITCH_FAKE_PART, "cuda");
  ASSERT_NE(part.table, nullptr) << part.reason;
  try {
    function_of<void()>(part, 1)();
    FAIL() << "throws nothing";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kDeviceLost);
    expect_says(error.what(), "lost in the part");
  }
  EXPECT_THROW(function_of<void()>(part, 2)(), std::runtime_error);
}

TEST_F(DeviceParts, OneOfAnotherNameReleaseOrBuildIsLeftOut) {
  expect_says(load_part(HEMSTITCH_FAKE_PART, "webgpu").reason, "is not Hemstitch's part for webgpu");
  std::string release = HEMSTITCH_VERSION_STRING;
  release.back() = release.back() == '9' ? '8' : '9';
  expect_says(reason_of(with(HEMSTITCH_VERSION_STRING, release)), "is of release " + release);
  std::string contract = part_contract();
  contract.front() = contract.front() == 'a' ? 'b' : 'a';
  expect_says(reason_of(with(part_contract(), contract)), "is of another build");
}

TEST_F(DeviceParts, OneThatIsCutOffAnywhereIsLeftOut) {
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{1000},
        bytes_.size() / 4, bytes_.size() / 2, bytes_.size() - 4096, bytes_.size() - 1})
    expect_says(reason_of(bytes_.substr(0, bytes)), "is cut off");
}

TEST_F(DeviceParts, WhatIsNoPartIsLeftOut) {
  expect_says(reason_of(std::string(5000, 'x')), "is no shared object");
  Dl_info standard{};
  ASSERT_NE(dladdr(reinterpret_cast<const void*>(&getpid), &standard), 0);
  expect_says(load_part(standard.dli_fname, "cuda").reason, "is not Hemstitch's part for cuda");
  expect_says(load_part((folder_ / "none").string(), "cuda").reason, "cannot be read");
  std::string other_machine = bytes_;
  other_machine[18] = '\x7f';  // e_machine
  expect_says(reason_of(other_machine), "could not be loaded");
}

TEST_F(DeviceParts, IsFoundBesideItsLibraryAndNowhereElse) {
  EXPECT_TRUE(find_part((folder_ / "bin").string(), "cuda").empty());
  // Of a tool that pip installed.
  const std::string of_python = written("lib/python3.12/site-packages/hemstitch/libhemstitch-cuda.so.0", "");
  EXPECT_EQ(find_part((folder_ / "bin").string(), "cuda"), of_python);
  EXPECT_TRUE(find_part((folder_ / "lib").string(), "cuda").empty());
  const std::string in_lib = written("lib/hemstitch/libhemstitch-cuda.so.0", "");
  EXPECT_EQ(find_part((folder_ / "bin").string(), "cuda"), in_lib);
  EXPECT_EQ(find_part((folder_ / "lib").string(), "cuda"), in_lib);
  EXPECT_TRUE(find_part((folder_ / "lib").string(), "webgpu").empty());
  const std::string beside = written("lib/libhemstitch-cuda.so.0", "");
  EXPECT_EQ(find_part((folder_ / "lib").string(), "cuda"), beside);
  // Never relative to the current folder.
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder_);
  EXPECT_TRUE(find_part("lib", "cuda").empty());
  EXPECT_TRUE(find_part("", "cuda").empty());
  std::filesystem::current_path(before);
  EXPECT_TRUE(own_folder().starts_with("/"));
}

TEST_F(DeviceParts, ABackendThatCannotBeLoadedSaysWhy) {
  const auto backend = make_part_backend("cuda", [](std::string& reason) {
    reason = "it is old";
    return std::unique_ptr<Backend>();
  });
  EXPECT_EQ(backend->unavailable_reason({}), "it is old");
  EXPECT_FALSE(backend->supports(Format::kLz4, Direction::kCompress));
  EXPECT_THROW(backend->make_engine({}), Error);
  const auto throwing = make_part_backend(
      "cuda", [](std::string&) -> std::unique_ptr<Backend> { throw std::runtime_error("it threw"); });
  EXPECT_EQ(throwing->unavailable_reason({}), "it threw");
}

TEST_F_WITH_THREADS(DeviceParts, ABackendIsLoadedOnceWhenItIsNeeded) {
  std::atomic<int> count = 0;
  const auto backend = make_part_backend("cuda", [&](std::string&) {
    ++count;
    return make_reference_backend();
  });
  EXPECT_EQ(backend->name(), "cuda");
  EXPECT_TRUE(backend->chosen_by_auto());
  EXPECT_FALSE(backend->is_started());
  EXPECT_EQ(count, 0);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] { EXPECT_TRUE(backend->supports(Format::kLz4, Direction::kCompress)); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 1);
  EXPECT_NE(backend->make_engine({}), nullptr);
}

}  // namespace
}  // namespace hemstitch
