// What restoring Zstandard costs on a CUDA device.
//
//   zstd_restore_device_bench FOLDER [GIGABYTES]
//
// FOLDER holds silesia/. Frames are written by libzstd at several levels, of 64 KB of each file, and of 4 KB to 1 MB of all files behind
// one another. They are repeated, each copy at addresses of its own, until there are GIGABYTES (1.2) of output; "1000 frames" and "100
// frames" are as many. "checksums": frames have them, and they are verified; others have none. Every figure is the median of five runs
// after one to warm up. Prints one row of a recorded run a line; a row is verified when all statuses and sizes, and all bytes of the first and
// the last copy, are right. "mean" is the harmonic mean over the nine files, "worst" the slowest of them.
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "device_array.hpp"
#include "device_timing.hpp"
#include "format/zstd/restore/zstd_restore_cuda.hpp"
#include "repeated_blocks.hpp"
#include "shapes.hpp"
#include "zstd_frames.hpp"

namespace hemstitch {
namespace {

using bench::DeviceArray;
using testing::Bytes;

constexpr int kRuns = 5;
constexpr const char* kFiles[] = {"dickens", "nci",     "samba", "mr", "osdb",
                                  "ooffice", "reymont", "x-ray", "xml"};

struct Row {
  std::string what;
  int level;
  std::size_t frame_bytes;
};

void print(const Row& row, const std::string& file, std::size_t bytes, double ratio, double gbps,
           bool verified) {
  std::printf(
      "{\"what\":\"%s\",\"backend\":\"cuda\",\"format\":\"zstd\",\"level\":\"libzstd "
      "%d\",\"block_bytes\":%zu,"
      "\"file\":\"%s\",\"bytes\":%zu,",
      row.what.c_str(), row.level, row.frame_bytes, file.c_str(), bytes);
  if (ratio != 0) std::printf("\"ratio\":%.4f,", ratio);
  std::printf("\"gbps\":%.1f,\"span\":\"kernel\",\"verified\":%s}\n", gbps, verified ? "true" : "false");
  std::fflush(stdout);
}

struct Measured {
  double gbps = 0;
  bool verified = false;
};

Measured measure(const Row& row, const std::string& file, std::span<const std::byte> raw, double gigabytes,
                 bool checksums = false) {
  std::vector<std::span<const std::byte>> contents;
  for (std::size_t begin = 0; begin < raw.size(); begin += row.frame_bytes)
    contents.push_back(raw.subspan(begin, std::min(row.frame_bytes, raw.size() - begin)));
  std::vector<Bytes> frames(contents.size());
  tbb::parallel_for(std::size_t{0}, frames.size(), [&](std::size_t i) {
    frames[i] = testing::written_by_libzstd(contents[i], {.level = row.level, .checksum = checksums});
  });
  bench::RepeatedBlocks blocks(frames, contents, raw, 0, gigabytes);
  const cuda::DeviceRestore batch = blocks.batch();
  const std::size_t scratch_bytes = cuda::restore_zstd_cuda_scratch_bytes(batch);
  const DeviceArray<std::byte> d_scratch(scratch_bytes);
  blocks.forget_output();
  const double seconds = bench::median_seconds(
      nullptr, kRuns, [&] { cuda::restore_zstd_cuda(batch, d_scratch.data, scratch_bytes, nullptr); });
  const Measured measured{static_cast<double>(blocks.bytes()) / seconds / 1e9, blocks.is_restored()};
  print(row, file, blocks.bytes(), blocks.ratio(), measured.gbps, measured.verified);
  return measured;
}

int run(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::fprintf(stderr, "zstd_restore_device_bench FOLDER [GIGABYTES]\n");
    return 1;
  }
  const double gigabytes = argc > 2 ? std::atof(argv[2]) : 1.2;
  std::vector<Bytes> files;
  Bytes all;
  for (const char* const file : kFiles) {
    files.push_back(testing::read_file(std::string(argv[1]) + "/silesia/" + file, std::size_t{1} << 30));
    all.insert(all.end(), files.back().begin(), files.back().end());
  }
  for (const int level : {1, 3, 19}) {
    const Row row{"restore", level, std::size_t{1} << 16};
    double seconds_of_each = 0, worst = 1e9;
    bool verified = true;
    for (std::size_t i = 0; i < files.size(); ++i) {
      const Measured measured = measure(row, kFiles[i], files[i], gigabytes);
      seconds_of_each += 1 / measured.gbps;
      worst = std::min(worst, measured.gbps);
      verified &= measured.verified;
    }
    const auto bytes = static_cast<std::size_t>(gigabytes * 1e9);
    print(row, "mean", bytes, 0, static_cast<double>(files.size()) / seconds_of_each, verified);
    print(row, "worst", bytes, 0, worst, verified);
    measure(row, "nine files", all, gigabytes);
  }
  for (const std::size_t frame_bytes : {std::size_t{1} << 12, std::size_t{1} << 14, std::size_t{1} << 17,
                                        std::size_t{1} << 18, std::size_t{1} << 20})
    measure({"restore", 3, frame_bytes}, "nine files", all, gigabytes);
  measure({"restore, checksums", 3, std::size_t{1} << 16}, "nine files", all, gigabytes, true);
  measure({"restore, 1000 frames", 3, std::size_t{1} << 16}, "nine files", std::span(all).first(1000 << 16),
          0);
  measure({"restore, 100 frames", 3, std::size_t{1} << 20}, "nine files", std::span(all).first(100 << 20), 0);
  return 0;
}

}  // namespace
}  // namespace hemstitch

int main(int argc, char** argv) {
  try {
    return hemstitch::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "zstd_restore_device_bench: %s\n", error.what());
    return 1;
  }
}
