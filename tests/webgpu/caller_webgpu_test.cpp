// The public functions for callers with a WebGPU device of their own: compaction, loading and search in their
// buffers.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "hemstitch/compact.hpp"
#include "hemstitch/files.hpp"
#include "hemstitch/search.hpp"
#include "hemstitch/webgpu.hpp"
#include "search/search_webgpu.hpp"
#include "search_cases.hpp"
#include "shapes.hpp"
#include "webgpu_test.hpp"

namespace hemstitch {
namespace {

using webgpu::Buffer;
using webgpu::BufferUse;

// The suite's device plays the caller's; it was made without the public interface.
class WebgpuCaller : public testing::WebgpuTest {
 protected:
  static WebgpuDevice on_callers() { return {device().get(), device().queue()}; }

  // A buffer of the caller's, whose size is a multiple of 16 bytes.
  template <typename Element>
  static Buffer buffer_of(const std::vector<Element>& elements, std::size_t room = 0) {
    const std::uint64_t bytes = (std::max(elements.size(), room) * sizeof(Element) + 15) / 16 * 16;
    Buffer buffer = device().make_buffer("caller's", bytes, BufferUse::kStorage);
    device().write(buffer, std::as_bytes(std::span(elements)));
    return buffer;
  }
  template <typename Element>
  static std::vector<Element> read(const Buffer& buffer, std::size_t count) {
    std::vector<Element> elements(count);
    device().read(buffer, std::as_writable_bytes(std::span(elements)));
    return elements;
  }
  template <typename Call>
  static Status status_of(const Call& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.status();
    }
    return Status::kOk;
  }
};

TEST_F(WebgpuCaller, SizesAreScannedAndPiecesGathered) {
  std::mt19937 random(4);
  const WebgpuDevice on = on_callers();
  EXPECT_EQ(on.device(), device().get());
  EXPECT_EQ(on.queue(), device().queue());
  const testing::Bytes source = testing::random_bytes(100'003, 6);
  for (const std::uint32_t count : {0u, 1u, 5u, 1000u, 300'000u}) {
    std::vector<std::uint32_t> sizes(count), pieces;
    std::vector<const std::byte*> sources;
    for (std::uint32_t& size : sizes) {
      size = static_cast<std::uint32_t>(random() % (count > 1000 ? 7 : 3000));
      pieces.push_back(static_cast<std::uint32_t>(random() % (source.size() - size)));
      sources.push_back(source.data() + pieces.back());
      pieces.push_back(size);
    }
    std::vector<std::uint64_t> offsets(count + 1);
    testing::Bytes expected(scan_sizes(sizes, offsets));
    gather_pieces(sources, sizes, std::span(offsets).first(count), expected);

    const Buffer d_sizes = buffer_of(sizes), d_pieces = buffer_of(pieces), d_source = buffer_of(source);
    const Buffer d_begins = buffer_of(std::vector<std::uint32_t>(count + 1, 77));
    const Buffer d_output = buffer_of(testing::Bytes{}, expected.size() + 1);
    scan_sizes(on, d_sizes.get(), count, d_begins.get());
    gather_pieces(on, {.source = d_source.get(),
                       .pieces = d_pieces.get(),
                       .begins = d_begins.get(),
                       .output = d_output.get(),
                       .piece_count = count});
    // The caller's queue keeps the order.
    EXPECT_EQ(read<std::uint32_t>(d_begins, count + 1),
              std::vector<std::uint32_t>(offsets.begin(), offsets.end()));
    EXPECT_EQ(read<std::byte>(d_output, expected.size()), expected) << count << " pieces";
  }
}

TEST_F(WebgpuCaller, WhatCannotBeIsRefused) {
  EXPECT_EQ(status_of([] { WebgpuDevice(nullptr, device().queue()); }), Status::kInvalidOption);
  EXPECT_EQ(status_of([] { WebgpuDevice(device().get(), nullptr); }), Status::kInvalidOption);
  EXPECT_EQ(status_of([] { WebgpuDevice("no such adapter"); }), Status::kDeviceUnavailable);
  const WebgpuDevice on = on_callers();
  const Buffer words = buffer_of(std::vector<std::uint32_t>(8)),
               other = buffer_of(std::vector<std::uint32_t>(8));
  const Buffer odd = device().make_buffer("odd", 36, BufferUse::kStorage);
  EXPECT_EQ(status_of([&] { scan_sizes(on, words.get(), 7, words.get()); }), Status::kInvalidOption);
  EXPECT_EQ(status_of([&] { scan_sizes(on, nullptr, 7, words.get()); }), Status::kInvalidOption);
  EXPECT_EQ(status_of([&] { scan_sizes(on, words.get(), 8, other.get()); }), Status::kInvalidOption);
  EXPECT_EQ(status_of([&] { scan_sizes(on, words.get(), 7, odd.get()); }), Status::kInvalidOption);
  EXPECT_EQ(status_of([&] { scan_sizes(on, words.get(), 7, other.get()); }), Status::kOk);
  EXPECT_EQ(status_of([&] {
              gather_pieces(on, {words.get(), other.get(), other.get(), words.get(), 1});
            }),
            Status::kInvalidOption);
  // WebGPU itself must refuse a buffer that no shader may write.
  const Buffer staging = device().make_buffer("staging", 64, BufferUse::kDownload);
  EXPECT_EQ(status_of([&] { scan_sizes(on, words.get(), 7, staging.get()); }), Status::kDeviceFault);
}

class WebgpuCallerFiles : public WebgpuCaller {
 protected:
  void SetUp() override {
    WebgpuCaller::SetUp();
    folder_ = (std::filesystem::temp_directory_path() / "hemstitch-webgpu-XXXXXX").string();
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::vector<std::string> add_files(std::size_t count) const {
    std::vector<std::string> paths;
    for (std::uint32_t i = 0; i < count; ++i) {
      paths.push_back(folder_ + "/" + std::to_string(i));
      std::ofstream(paths.back()) << testing::random_letters(i * 37, "abcAB \n", i);
    }
    return paths;
  }

 private:
  std::string folder_;
};

TEST_F(WebgpuCallerFiles, FilesAreLoadedAndSearchedThere) {
  LoadOptions options;
  options.webgpu = on_callers();
  const std::vector<std::string> paths = add_files(120);
  CompactedBuffer files = load_files(paths, options);
  ASSERT_EQ(files.count(), paths.size() - 1);  // the empty file is skipped
  ASSERT_NE(files.webgpu_bytes(), nullptr);
  const Buffer there = device().wrap(static_cast<WGPUBuffer>(files.webgpu_bytes()));
  const Buffer offsets_there = device().wrap(static_cast<WGPUBuffer>(files.webgpu_offsets()));
  EXPECT_GE(there.bytes(), files.bytes().size() + 16);
  const std::vector<std::byte> read_bytes = read<std::byte>(there, files.bytes().size() + 16);
  EXPECT_TRUE(std::equal(files.bytes().begin(), files.bytes().end(), read_bytes.begin()));
  EXPECT_EQ(std::count(read_bytes.end() - 16, read_bytes.end(), std::byte{0}), 16);
  EXPECT_EQ(read<std::uint32_t>(offsets_there, files.count() + 1),
            std::vector<std::uint32_t>(files.offsets().begin(), files.offsets().end()));

  const SearchOptions what{.patterns = {"ab", "bca", "c"}, .ignore_case = true};
  const TextSearcher on_host(what), searcher(what, on_callers());
  const auto expected = on_host.find(files.bytes(), files.offsets());
  ASSERT_FALSE(expected.empty());
  EXPECT_EQ(searcher.find({files.webgpu_bytes(), files.offsets()}), expected);
  EXPECT_EQ(searcher.find(files.bytes(), files.offsets()), expected);
  EXPECT_EQ(status_of([&] {
              static_cast<void>(searcher.find(WebgpuTexts{nullptr, files.offsets()}));
            }),
            Status::kInvalidOption);
  EXPECT_EQ(status_of([&] {
              static_cast<void>(searcher.find(WebgpuTexts{files.webgpu_offsets(), files.offsets()}));
            }),
            Status::kInvalidOption);
  EXPECT_EQ(status_of([&] {
              static_cast<void>(on_host.find(WebgpuTexts{files.webgpu_bytes(), files.offsets()}));
            }),
            Status::kInvalidOption);

  // Without a device, and without files.
  EXPECT_EQ(load_files(paths).webgpu_bytes(), nullptr);
  EXPECT_NE(load_files({}, options).webgpu_bytes(), nullptr);
}

TEST_F(WebgpuCallerFiles, BatchesAreLoadedThere) {
  LoadOptions options;
  options.webgpu = on_callers();
  options.memory_limit_bytes = 20'000;
  options.threads = 2;
  FileLoader loader(add_files(120), options);
  std::size_t count = 0;
  while (!loader.done()) {
    const CompactedBuffer files = loader.next();
    const Buffer there = device().wrap(static_cast<WGPUBuffer>(files.webgpu_bytes()));
    const std::vector<std::byte> bytes = read<std::byte>(there, files.bytes().size());
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), files.bytes().begin(), files.bytes().end()));
    count += files.count();
  }
  EXPECT_EQ(count, 119u);
}

TEST_F(WebgpuCaller, BuffersInPiecesDropNothing) {
  for (const testing::SearchCase& one : testing::search_cases(4096, false)) {
    std::vector<std::byte> bytes(one.texts.size());
    std::transform(one.texts.begin(), one.texts.end(), bytes.begin(), [](char c) { return std::byte(c); });
    const Buffer there = buffer_of(bytes);
    webgpu::TextSearch search({std::shared_ptr<webgpu::Device>(), &device()}, one.patterns,
                              {.piece_bytes = 5003, .turn_matches = 1009});
    ASSERT_EQ(testing::search_difference(one, testing::unpacked(search.find(there, one.offsets))), "");
  }
}

}  // namespace
}  // namespace hemstitch
