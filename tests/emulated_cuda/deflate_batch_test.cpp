// Streams of zlib, gzip and BGZF restored by the kernels of the batch interface on the processor, compared with the
// reference: what tests/device does on a device, for machines without one.
#include <gtest/gtest.h>

#include "conformance_files.hpp"
#include "deflate_batch_kernels.hpp"
#include "format/deflate/frame/deflate_stream_reference.hpp"
#include "gzip_members.hpp"
#include "kernel_batch.hpp"

namespace hemstitch {
namespace {

using namespace testing;

std::vector<RestoredByKernel> restored_by_batch(Format format, std::span<const KernelBlock> streams) {
  return restored_by_kernels(streams, [format](const cuda::DeviceRestore& batch) {
    const hemstitch_deflate_streams given{reinterpret_cast<const void* const*>(batch.d_blocks),
                                          batch.d_block_bytes, batch.count, batch.max_block_bytes};
    Bytes temp(deflate_restore_temp_bytes_of_kernels(given, format, batch.max_capacity));
    deflate_restore_by_kernels(given, format, reinterpret_cast<void* const*>(batch.d_outputs),
                               batch.d_capacities, batch.max_capacity, batch.d_history_bytes,
                               batch.d_output_bytes, batch.d_statuses, {temp.data(), temp.size()}, nullptr);
  });
}

RestoredByKernel restored_by_reference(Format format, const KernelBlock& stream) {
  RestoredByKernel expected{HEMSTITCH_OK, Bytes(stream.capacity)};
  const DeflateStreamRestored restored =
      restore_deflate_stream_reference(format, stream.data, stream.history, expected.content);
  expected.status = static_cast<hemstitch_status>(restored.status);
  expected.content.resize(restored.output_bytes);
  return expected;
}

// Of the many cases some, and all at the end, which are made one by one.
std::vector<StreamCase> some_of(std::vector<StreamCase> cases) {
  std::vector<StreamCase> some;
  for (std::size_t i = 0; i < cases.size(); ++i)
    if (i % (29 * kTriedOneOf) == 0 || i + 20 >= cases.size()) some.push_back(std::move(cases[i]));
  return some;
}

void expect_by_reference(Format format, const std::vector<StreamCase>& cases) {
  std::vector<KernelBlock> streams;
  for (const StreamCase& one : cases) streams.push_back({one.stream, one.history, one.capacity});
  const auto restored = restored_by_batch(format, streams);
  std::size_t sound = 0;
  for (std::size_t i = 0; i < streams.size(); ++i) {
    ASSERT_EQ(restored[i], restored_by_reference(format, streams[i]))
        << i << ": " << restored[i].status << ", " << restored[i].content.size() << " bytes";
    sound += restored[i].status == HEMSTITCH_OK;
  }
  EXPECT_GT(sound, 0u);
}

TEST(EmulatedDeflateBatch, ZlibStreamsAreRestoredAsByTheReference) {
  expect_by_reference(Format::kZlib, some_of(zlib_cases()));
}

TEST(EmulatedDeflateBatch, GzipMembersAreRestoredAsByTheReference) {
  expect_by_reference(Format::kGzip, some_of(gzip_cases()));
}

TEST(EmulatedDeflateBatch, BgzfMembersAreRestoredAsByTheReference) {
  expect_by_reference(Format::kBgzf, some_of(bgzf_cases()));
}

// A stream of a batch is one member: files of several are refused, and of BGZF all but the one that is an end marker alone.
TEST(EmulatedDeflateBatch, ConformanceFiles) {
  struct {
    const char* name;
    Format format;
    std::size_t single_members;  // valid files of one, at least
  } const formats[] = {{"zlib", Format::kZlib, 15}, {"gzip", Format::kGzip, 56}, {"bgzf", Format::kBgzf, 1}};
  for (const auto& [name, format, single_members] : formats) {
    const std::vector<ConformanceFile> files = conformance_files(name);
    std::vector<KernelBlock> streams;
    for (const ConformanceFile& file : files) streams.push_back({file.data, {}, file.room});
    const auto restored = restored_by_batch(format, streams);
    std::size_t valid = 0;
    for (std::size_t i = 0; i < files.size(); ++i) {
      SCOPED_TRACE(files[i].name);
      EXPECT_EQ(restored[i], restored_by_reference(format, streams[i]));
      if (restored[i].status != HEMSTITCH_OK) continue;
      EXPECT_NE(files[i].verdict, "invalid");
      EXPECT_EQ(restored[i].content.size(), files[i].room);
      valid += files[i].verdict == "valid";
    }
    EXPECT_GE(valid, single_members) << name;
  }
}

// zlib takes a dictionary only where the header names it, so what stands before an output is no history of any other stream.
TEST(EmulatedDeflateBatch, WhatNoHeaderNamesIsNoHistory) {
  const Bytes content = wordy_bytes(300), history = wordy_bytes(5000);
  const Bytes named = zlib_stream(content, 6, Z_DEFAULT_STRATEGY, 8, MAX_WBITS, history);
  const Bytes plain = zlib_stream(content, 6, Z_DEFAULT_STRATEGY, 8, MAX_WBITS);
  const Bytes unnamed = Bytes(plain.begin(), plain.begin() + 2) + Bytes(named.begin() + 6, named.end());
  const std::vector<KernelBlock> streams{
      {named, history, 300}, {plain, history, 300}, {unnamed, history, 300}};
  const auto restored = restored_by_batch(Format::kZlib, streams);
  EXPECT_EQ(restored[0], (RestoredByKernel{HEMSTITCH_OK, content}));
  EXPECT_EQ(restored[1], (RestoredByKernel{HEMSTITCH_OK, content}));
  EXPECT_EQ(restored[2], (RestoredByKernel{HEMSTITCH_CORRUPT_BLOCK, {}}));

  const StreamCase needy = member_that_needs_history(gzip_member(content), 10, content);
  const std::vector<KernelBlock> members{{needy.stream, needy.history, 300}};
  EXPECT_EQ(restored_by_batch(Format::kGzip, members)[0], (RestoredByKernel{HEMSTITCH_CORRUPT_BLOCK, {}}));
}

}  // namespace
}  // namespace hemstitch
