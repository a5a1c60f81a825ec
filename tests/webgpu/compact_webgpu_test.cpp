// scan and gather, compared with their definitions.
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "compact/gather/gather.hpp"
#include "compact/gather/gather_webgpu.hpp"
#include "compact/scan/scan.hpp"
#include "compact/scan/scan_webgpu.hpp"
#include "shapes.hpp"
#include "webgpu_test.hpp"

namespace hemstitch {
namespace {

using namespace webgpu;
using testing::download;
using testing::upload;

class WebgpuCompact : public testing::WebgpuTest {};

std::vector<std::uint32_t> some_sizes(std::size_t count, std::uint32_t largest, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::uint32_t> sizes(count);
  // Every third piece is empty.
  for (std::uint32_t& size : sizes)
    size = random() % 3 == 0 ? 0 : static_cast<std::uint32_t>(random() % (largest + 1));
  return sizes;
}

std::vector<std::uint32_t> scan_on(Device& device, const std::vector<std::uint32_t>& sizes) {
  BufferPlan plan;
  const BufferId elements = plan.add("sizes", sizes.size() * 4);
  const BufferId begins = plan.add("begins", (sizes.size() + 1) * 4);
  const ScanBuffers scan = plan_scan(plan, sizes.size());
  const BufferSet buffers = device.make_buffers(plan);
  upload(device, buffers, elements, sizes);
  Recording recording;
  record_scan(recording, elements, begins, scan, static_cast<std::uint32_t>(sizes.size()));
  device.run(recording, buffers);
  return download<std::uint32_t>(device, buffers, begins, sizes.size() + 1);
}

TEST_F(WebgpuCompact, ScanAddsUpAnyNumberOfSizes) {
  for (const std::size_t count :
       {1u, 2u, 255u, 256u, 1023u, 1024u, 1025u, 16384u, 16385u, 100003u, 262144u, 262145u, 1048577u}) {
    const std::vector<std::uint32_t> sizes = some_sizes(count, count > 100000 ? 3000 : 70000, 11);
    std::vector<std::uint64_t> expected(count + 1);
    scan_sizes(sizes, expected);
    for (Device* one : both_orders()) {
      const std::vector<std::uint32_t> begins = scan_on(*one, sizes);
      for (std::size_t i = 0; i <= count; ++i)
        ASSERT_EQ(begins[i], expected[i]) << "element " << i << " of " << count;
    }
  }
}

TEST_F(WebgpuCompact, ScanNeedsMoreWorkgroupsThanADimensionAllows) {
  DeviceOptions options = testing::device_options();
  options.limits = DeviceLimits{};
  options.limits->workgroups_per_dimension = 3;
  // 8 tiles: 3 rows of 3, so there is one workgroup too many.
  const std::vector<std::uint32_t> sizes = some_sizes(8 * 1024 - 5, 1000, 12);
  std::vector<std::uint64_t> expected(sizes.size() + 1);
  scan_sizes(sizes, expected);
  for (const bool reversed : {false, true}) {
    options.reverse_workgroups = reversed;
    Device limited(options);
    const std::vector<std::uint32_t> begins = scan_on(limited, sizes);
    EXPECT_TRUE(std::equal(begins.begin(), begins.end(), expected.begin()));
  }
}

TEST_F(WebgpuCompact, MoreWorkgroupsThanTwoDimensionsAllowAreRefused) {
  EXPECT_EQ(dispatch_size(9, 3).x * dispatch_size(9, 3).y, 9u);
  EXPECT_EQ(dispatch_size(65536, 65535).x, 32768u);
  EXPECT_THROW(dispatch_size(10, 3), Error);
}

TEST_F(WebgpuCompact, GatherBringsPiecesOfAnyAlignmentTogether) {
  const testing::Bytes source = testing::random_bytes(300000, 5);
  struct Case {
    std::size_t count;
    std::uint32_t largest;
  };
  // Pieces that fill a workgroup's bytes; a few in each; more in each than it notes; thousands of empty ones.
  for (const auto& [count, largest] :
       {Case{1, 90001}, {2, 90001}, {3, 90001}, {1000, 200}, {30000, 2}, {5000, 0}}) {
    std::vector<std::uint32_t> sizes = some_sizes(count, largest, 13);
    sizes.front() = sizes.back() = 77;
    std::vector<std::uint64_t> begins64(count + 1);
    const std::uint64_t total = scan_sizes(sizes, begins64);
    std::vector<std::uint32_t> begins(begins64.begin(), begins64.end());
    std::vector<GatherPiece> pieces(count);
    std::vector<const std::byte*> sources(count);
    std::mt19937 random(3);
    for (std::size_t i = 0; i < count; ++i) {
      pieces[i] = {static_cast<std::uint32_t>(random() % (source.size() - sizes[i])), sizes[i]};
      // One piece has the alignment of its target, and one is at the beginning of the source.
      if (i == 2) pieces[i].source = begins[i] % 16;
      if (i == 1) pieces[i].source = 0;
      sources[i] = source.data() + pieces[i].source;
    }
    testing::Bytes expected(total);
    gather_pieces(sources, sizes, std::span(begins64).first(count), expected);

    for (Device* one : both_orders()) {
      BufferPlan plan;
      const GatherBuffers ids{plan.add("source", source.size()),
                              plan.add("pieces", count * sizeof(GatherPiece)),
                              plan.add("begins", (count + 1) * 4), plan.add("output", total)};
      const BufferSet buffers = one->make_buffers(plan);
      upload(*one, buffers, ids.source, source);
      upload(*one, buffers, ids.pieces, pieces);
      upload(*one, buffers, ids.begins, begins);
      Recording recording;
      record_gather(recording, ids, static_cast<std::uint32_t>(count), total);
      one->run(recording, buffers);
      EXPECT_EQ(download<std::byte>(*one, buffers, ids.output, total), expected) << count << " pieces";
    }
  }
}

}  // namespace
}  // namespace hemstitch
