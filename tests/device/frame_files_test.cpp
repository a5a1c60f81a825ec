// Files to device memory and back: the contents that the processor restores, the bytes that it writes, its
// error messages, and no remains of an incomplete file.
#include <exception>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "batch/zstd_chunk.hpp"
#include "core/bytes.hpp"
#include "cuda_test.hpp"
#include "files/frame_files_device.hpp"
#include "format/formats.hpp"
#include "format/lz4/frame/lz4_frame.hpp"
#include "gpu/cuda/device_buffer.hpp"
#include "hemstitch/files.h"
#include "hemstitch/files.hpp"
#include "shapes.hpp"
#include "skippable_frames.hpp"

namespace hemstitch {
namespace {

namespace fs = std::filesystem;
using testing::Bytes;

// Small enough that short files have many pieces and groups.
constexpr FrameLoadSizes kSmall{.most_piece_bytes = 40'000,
                                .least_piece_bytes = 10'000,
                                .piece_files = 3,
                                .most_group_bytes = 100'000,
                                .least_group_bytes = 50'000,
                                .group_pieces = 4,
                                .groups = 3};

class FrameFilesDeviceTest : public CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    std::string pattern = (fs::temp_directory_path() / "hemstitch-frames-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, std::span<const std::byte> content) const {
    std::ofstream(path(name), std::ios::binary)
        .write(reinterpret_cast<const char*>(content.data()), static_cast<std::streamsize>(content.size()));
    return path(name);
  }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

 private:
  fs::path folder_;
};

Bytes on_host(const DeviceContent& content) {
  Bytes bytes(content.bytes());
  if (!bytes.empty())
    cuda::check(cudaMemcpy(bytes.data(), content.data(), bytes.size(), cudaMemcpyDeviceToHost), "cudaMemcpy");
  return bytes;
}

// Freed at the end, so that it does not look like a leak.
struct OnDevice {
  explicit OnDevice(const Bytes& bytes) : count(bytes.size()) {
    cuda::check(cudaMalloc(reinterpret_cast<void**>(&data), std::max<std::size_t>(count, 1)), "cudaMalloc");
    cuda::check(cudaMemcpy(data, bytes.data(), count, cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  ~OnDevice() { cudaFree(data); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  std::span<const std::byte> span() const { return {data, count}; }

  std::byte* data = nullptr;
  std::size_t count;
};

Bytes joined(std::initializer_list<Bytes> parts) {
  Bytes all;
  for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

// With liblz4: these tests are about the transfers.
CompressOptions plain(const Bytes& content) {
  CompressOptions options;
  options.backend = "cpu";
  options.block_bytes = 64 << 10;
  options.content_bytes = content.size();
  return options;
}

template <class Call>
std::optional<Error> error_of(const Call& call) {
  try {
    call();
    return std::nullopt;
  } catch (const Error& error) {
    return error;
  }
}

TEST_F(FrameFilesDeviceTest, LoadsFramesOfEveryKind) {
  const Bytes text = testing::wordy_bytes(700'000), noise = testing::random_bytes(300'000);
  const Bytes both = joined({noise, text, noise});
  CompressOptions unsized = plain(text), checked = plain(both), bare = plain(noise), linked = plain(text),
                  large = plain(both), bgzf, gzip;
  bgzf.backend = gzip.backend = "cpu";
  bgzf.format = Format::kBgzf;
  gzip.format = Format::kGzip;
  unsized.content_bytes.reset();
  checked.content_checksum = true;
  bare.block_checksums = false;
  linked.linked_blocks = true;
  large.block_bytes = 4 << 20;
  const Bytes skippable = testing::skippable_frame(50'000);
  struct Case {
    Bytes content, file;
    bool on_device = true;
  };
  const std::vector<Case> cases{
      {text, compress(text, plain(text))},
      {noise, compress(noise, bare)},
      {text, compress(text, unsized)},
      {both, compress(both, checked)},
      {both, compress(both, large)},
      {joined({text, both, noise}), joined({compress(text, unsized), skippable, compress({}, unsized),
                                            compress(both, checked), compress(noise, bare), skippable})},
      {Bytes(3'000'000), compress(Bytes(3'000'000), plain(Bytes(3'000'000)))},
      {{}, compress({}, unsized)},
      {Bytes(1), compress(Bytes(1), plain(Bytes(1)))},
      {text, compress(text, linked), false},
      {text, compress(text, bgzf)},
      {{}, compress({}, bgzf)},
      {joined({both, text}), joined({compress(both, bgzf), compress(text, bgzf)})},
      {text, compress(text, gzip)},
      {{}, compress({}, gzip)},
      {both, compress(both, gzip), false},
      {joined({text, text}), joined({compress(text, gzip), compress(text, gzip)}), false},
  };
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < cases.size(); ++i) paths.push_back(write(std::to_string(i), cases[i].file));
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const DeviceContent loaded = load_frame(paths[i]);
    EXPECT_EQ(loaded.restored_on_device(), cases[i].on_device) << i;
    EXPECT_EQ(on_host(loaded), cases[i].content) << i;
  }
  for (const unsigned threads : {1u, 2u, 7u}) {
    const std::vector<DeviceContent> loaded = load_frames_cuda(paths, {.threads = threads}, kSmall);
    ASSERT_EQ(loaded.size(), cases.size());
    for (std::size_t i = 0; i < cases.size(); ++i) {
      EXPECT_EQ(loaded[i].restored_on_device(), cases[i].on_device) << i;
      ASSERT_EQ(on_host(loaded[i]), cases[i].content) << i;
    }
  }
}

// Blocks of any size in a frame that does not state it: rooms are not filled, and contents are moved
// together.
TEST_F(FrameFilesDeviceTest, ShortBlocksAreMovedTogether) {
  std::vector<Bytes> parts;
  Bytes file, content;
  FrameHeader header;
  header.block_bytes = 64 << 10;
  file = write_lz4_frame_header(header);
  for (std::uint32_t i = 0; i < 300; ++i) {
    const Bytes part = testing::wordy_bytes(1 + i * 211 % 65'536, i + 1);
    CompressOptions options = plain(part);
    options.block_checksums = false;
    const Bytes frame = compress(part, options);
    file.insert(file.end(), frame.begin() + 15, frame.end() - 4);  // its block
    content.insert(content.end(), part.begin(), part.end());
  }
  file.resize(file.size() + 4);
  const std::string name = write("flushed", file);
  for (const auto& sizes : {FrameLoadSizes{}, kSmall}) {
    const DeviceContent loaded = std::move(load_frames_cuda({name}, {}, sizes).front());
    EXPECT_TRUE(loaded.restored_on_device());
    EXPECT_EQ(on_host(loaded), content);
  }
}

TEST_F(FrameFilesDeviceTest, SavesTheBytesOfTheReference) {
  const Bytes text = testing::wordy_bytes(1'000'000);
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{1}, std::size_t{60} << 10, (std::size_t{60} << 10) + 1,
        std::size_t{64} << 10, (std::size_t{128} << 10) + 1, std::size_t{1'000'000}})
    for (const bool checksums : {true, false})
      for (const int level : {1, 9}) {
        const Bytes content(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(bytes));
        const OnDevice d_content(content);
        FrameSaveOptions options;
        options.level = level;
        options.block_bytes = 64 << 10;
        options.block_checksums = checksums;
        CompressOptions same = plain(content);
        same.backend = "reference";
        same.level = level;
        same.block_checksums = checksums;
        if (bytes == 0) same.content_bytes.reset();  // as in the tool
        Bytes expected;
        Compressor compressor(same, [&](std::span<const std::byte> piece) {
          expected.insert(expected.end(), piece.begin(), piece.end());
        });
        compressor.write(content);
        compressor.finish();
        for (const auto& sizes : {FrameSaveSizes{}, FrameSaveSizes{.batch_bytes = 1, .piece_bytes = 5000},
                                  FrameSaveSizes{.batch_bytes = 200'000, .piece_bytes = 70'000}}) {
          EXPECT_EQ(save_frame_cuda(d_content.span(), path("saved"), options, sizes), expected.size());
          ASSERT_EQ(testing::read_file(path("saved")), expected) << bytes << " bytes at level " << level;
        }
        EXPECT_EQ(on_host(load_frame(path("saved"))), content);
      }
  EXPECT_EQ(entries(), 1u);
}

TEST_F(FrameFilesDeviceTest, SavesZstandardAsFramesWithASeekTable) {
  constexpr std::size_t kFrameBytes = 64 << 10;
  CompressOptions seekable;
  seekable.format = Format::kZstd;
  seekable.seekable_bytes = seekable.block_bytes = kFrameBytes;
  const auto writer = FormatTable::instance().of(Format::kZstd).make_writer(seekable);
  const Bytes text = testing::mixed_bytes(1'000'000);
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{1}, kFrameBytes, kFrameBytes + 1, std::size_t{1'000'000}})
    for (const int level : {1, 3}) {
      const Bytes content(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(bytes));
      const OnDevice d_content(content);
      Bytes expected(bytes == 0 ? writer->room().end_bytes : 0);
      if (bytes == 0) expected.resize(writer->write_end(0, std::nullopt, expected.data()));
      std::vector<FrameWriter::BlockBytes> frames;
      for (std::size_t at = 0; at < bytes; at += kFrameBytes) {
        const auto part = std::span(content).subspan(at, std::min(kFrameBytes, bytes - at));
        Bytes frame(zstd_chunk_bound(part.size()));
        frame.resize(compress_zstd_chunk_reference(part, zstd_level(level), frame).bytes);
        frames.push_back({static_cast<std::uint32_t>(frame.size()), static_cast<std::uint32_t>(part.size())});
        expected.insert(expected.end(), frame.begin(), frame.end());
      }
      Bytes table(writer->room().table_bytes_of(frames.size()));
      table.resize(writer->write_table(frames, table.data()));
      expected.insert(expected.end(), table.begin(), table.end());
      const FrameSaveOptions options{.format = Format::kZstd, .level = level, .block_bytes = kFrameBytes};
      for (const auto& sizes : {FrameSaveSizes{}, FrameSaveSizes{.batch_bytes = 1, .piece_bytes = 5000},
                                FrameSaveSizes{.batch_bytes = 200'000, .piece_bytes = 70'000}}) {
        EXPECT_EQ(save_frame_cuda(d_content.span(), path("saved"), options, sizes), expected.size());
        ASSERT_EQ(testing::read_file(path("saved")), expected) << bytes << " bytes at level " << level;
      }
      EXPECT_EQ(restore(expected), content);
      // With the defaults: level 3, frames of 4 MB.
      save_frame(d_content.span(), path("saved"), {.format = Format::kZstd});
      EXPECT_EQ(restore(testing::read_file(path("saved"))), content);
    }
  EXPECT_EQ(entries(), 1u);
}

TEST_F(FrameFilesDeviceTest, RealFilesComeBack) {
  const auto folder = testing::corpora();
  if (!folder) GTEST_SKIP() << "HEMSTITCH_CORPORA is not set";
  std::vector<std::string> paths;
  std::vector<Bytes> contents;
  for (const char* const corpus : {"silesia", "canterbury", "calgary"}) {
    if (!fs::is_directory(*folder / corpus)) continue;
    for (const auto& file : fs::directory_iterator(*folder / corpus)) {
      contents.push_back(testing::read_file(file.path()));
      const OnDevice d_content(contents.back());
      paths.push_back(path(std::to_string(paths.size())));
      save_frame(d_content.span(), paths.back(), {.level = paths.size() % 2 == 0 ? 1 : 3});
    }
  }
  const std::vector<DeviceContent> loaded = load_frames(paths);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    EXPECT_TRUE(loaded[i].restored_on_device()) << i;
    ASSERT_EQ(on_host(loaded[i]), contents[i]) << i;
  }
}

TEST_F(FrameFilesDeviceTest, WhatIsWrongIsToldAsTheProcessorTellsIt) {
  const Bytes text = testing::wordy_bytes(300'000);
  CompressOptions checked = plain(text), with_dictionary = plain(text), unsized = plain(text);
  checked.content_checksum = true;
  with_dictionary.dictionary = text;
  unsized.content_bytes.reset();
  const Bytes good = compress(text, plain(text)), with_checksum = compress(text, checked);
  const auto status_of = [&](const Bytes& file) {
    const std::string name = write("wrong", file);
    const auto error = error_of([&] { load_frames_cuda({name}, {}, kSmall); });
    if (!error) return Status::kOk;
    EXPECT_NE(std::string(error->what()).find(name), std::string::npos) << error->what();
    return error->status();
  };
  EXPECT_EQ(status_of({}), Status::kTruncated);
  EXPECT_EQ(status_of(joined({good, Bytes(5, std::byte{9})})), Status::kTrailingGarbage);
  EXPECT_EQ(status_of(compress(text, with_dictionary)), Status::kDictionaryNeeded);
  for (std::size_t bytes = 4; bytes < good.size(); bytes += 7919)
    EXPECT_EQ(status_of(Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(bytes))),
              Status::kTruncated)
        << bytes;
  Bytes wrong = good;
  wrong[good.size() / 2] ^= std::byte{1};
  EXPECT_EQ(status_of(wrong), Status::kBlockChecksumMismatch);
  wrong = with_checksum;
  wrong.back() ^= std::byte{1};
  EXPECT_EQ(status_of(wrong), Status::kContentChecksumMismatch);
  write("unchecked", wrong);
  EXPECT_EQ(on_host(load_frame(path("unchecked"), {.verify_content_checksum = false})), text);
  EXPECT_EQ(on_host(load_frame(path("unchecked"), {.verify_checksums = false})), text);
  EXPECT_EQ(error_of([&] { load_frame(path("missing")); })->status(), Status::kReadFailed);
  EXPECT_EQ(error_of([&] { load_frame(fs::temp_directory_path().string()); })->status(), Status::kReadFailed);

  // One bad file among others: the error is its own, and nothing is kept.
  const std::string sound = write("sound", good);
  write("wrong", Bytes(good.begin(), good.end() - 1));
  EXPECT_EQ(error_of([&] { load_frames({sound, path("wrong"), sound}); })->status(), Status::kTruncated);
  cuda::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

TEST_F(FrameFilesDeviceTest, MutatedFilesEndAsOnTheProcessor) {
  const Bytes text = testing::wordy_bytes(150'000);
  CompressOptions bare = plain(text);
  bare.block_checksums = false;
  RestoreOptions on_processor;
  on_processor.backend = "cpu";
  std::mt19937 random(1);
  CompressOptions bgzf;
  bgzf.backend = "cpu";
  bgzf.format = Format::kBgzf;
  CompressOptions gzip = bgzf;
  gzip.format = Format::kGzip;
  for (const Bytes& good :
       {compress(text, plain(text)), compress(text, bare), compress(text, bgzf), compress(text, gzip)})
    for (int round = 0; round < 60; ++round) {
      Bytes file = good;
      for (std::size_t flips = 1 + random() % 3; flips > 0; --flips) {
        // Half of the changes are where headers are.
        const std::size_t at = random() % (random() % 2 == 0 ? 20 : file.size());
        file[at] = static_cast<std::byte>(random());
      }
      const std::string name = write("mutated", file);
      std::optional<Bytes> expected;
      const auto expected_error = error_of([&] { expected = restore(file, on_processor); });
      const auto error = error_of([&] {
        const auto loaded = load_frames_cuda({name}, {}, round % 2 == 0 ? kSmall : FrameLoadSizes{});
        ASSERT_TRUE(expected) << round;
        EXPECT_EQ(on_host(loaded.front()), *expected) << round;
      });
      ASSERT_EQ(error.has_value(), expected_error.has_value()) << round;
      if (error) {
        EXPECT_EQ(error->status(), expected_error->status()) << round << ": " << error->what();
      }
    }
  cuda::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

TEST_F(FrameFilesDeviceTest, ManyFilesInOneCall) {
  std::vector<std::string> paths;
  std::vector<Bytes> contents;
  for (std::uint32_t i = 0; i < 400; ++i) {
    contents.push_back(testing::wordy_bytes(1 + i * 7919 % 30'000, i));
    paths.push_back(write(std::to_string(i), compress(contents.back(), plain(contents.back()))));
  }
  const std::vector<DeviceContent> loaded = load_frames(paths);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    EXPECT_TRUE(loaded[i].restored_on_device()) << i;
    ASSERT_EQ(on_host(loaded[i]), contents[i]) << i;
  }
  EXPECT_TRUE(load_frames({}).empty());
}

TEST_F(FrameFilesDeviceTest, ManyThreadsAtOnce) {
  const Bytes text = testing::wordy_bytes(900'000);
  const OnDevice d_text(text);
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i)
    threads.emplace_back([&, i] {
      const std::string name = path("of " + std::to_string(i));
      for (int round = 0; round < 5; ++round) try {
          save_frame_cuda(d_text.span(), name, {.level = 1, .block_bytes = 65536, .threads = 2},
                          {.batch_bytes = 300'000, .piece_bytes = 50'000});
          const auto loaded = load_frames_cuda({name, name}, {.threads = 3}, kSmall);
          EXPECT_EQ(on_host(loaded[0]), text);
          EXPECT_EQ(on_host(loaded[1]), text);
        } catch (const std::exception& error) {
          ADD_FAILURE() << error.what();
        }
    });
  for (std::thread& thread : threads) thread.join();
}

// Work that the caller's stream still has to do on the content must be done before it is saved.
TEST_F(FrameFilesDeviceTest, FollowsTheCallersStream) {
  const Bytes before = testing::wordy_bytes(20'000'000, 1), after = testing::wordy_bytes(20'000'000, 2);
  const OnDevice d_content(before), d_before(before), d_after(after);
  const cuda::Stream stream;
  // At the end the content is `after`.
  for (int i = 0; i < 200; ++i)
    cuda::check(cudaMemcpyAsync(d_content.data, (i % 2 == 0 ? d_before : d_after).data, after.size(),
                                cudaMemcpyDeviceToDevice, stream.get()),
                "cudaMemcpyAsync");
  save_frame(d_content.span(), path("saved"), {.stream = stream.get()});
  DeviceContent loaded = load_frame(path("saved"), {.stream = stream.get()});
  EXPECT_EQ(on_host(loaded), after);
  loaded = {};
  stream.synchronize();
}

TEST_F(FrameFilesDeviceTest, NothingIsLeftWhereSavingFails) {
  const Bytes text = testing::wordy_bytes(100'000);
  EXPECT_EQ(error_of([&] { save_frame(text, path("saved")); })->status(), Status::kInvalidOption);
  const OnDevice d_text(text);
  EXPECT_EQ(error_of([&] { save_frame(d_text.span(), path("missing/saved")); })->status(),
            Status::kWriteFailed);
  EXPECT_EQ(entries(), 0u);
}

TEST_F(FrameFilesDeviceTest, TheCInterfaceDoesTheSame) {
  const Bytes text = testing::wordy_bytes(300'000);
  const OnDevice d_text(text);
  const std::string name = path("saved");
  std::uint64_t bytes = 0;
  ASSERT_EQ(hemstitch_save_frame(d_text.data, text.size(), name.c_str(), nullptr, &bytes), HEMSTITCH_OK)
      << hemstitch_last_error_message();
  EXPECT_EQ(bytes, fs::file_size(name));
  const char* const paths[] = {name.c_str(), name.c_str()};
  hemstitch_device_content contents[2]{};
  ASSERT_EQ(hemstitch_load_frames(paths, 2, nullptr, contents), HEMSTITCH_OK)
      << hemstitch_last_error_message();
  for (hemstitch_device_content& content : contents) {
    Bytes back(content.bytes);
    cuda::check(cudaMemcpy(back.data(), content.data, back.size(), cudaMemcpyDeviceToHost), "cudaMemcpy");
    EXPECT_EQ(back, text);
    EXPECT_EQ(content.restored_on_device, 1);
    hemstitch_release_content(&content);
    EXPECT_EQ(content.data, nullptr);
  }
}

}  // namespace
}  // namespace hemstitch
