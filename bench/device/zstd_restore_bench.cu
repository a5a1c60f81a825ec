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
#include "gpu/cuda/cuda_error.hpp"
#include "shapes.hpp"
#include "zstd_frames.hpp"

namespace hemstitch {
namespace {

using bench::DeviceArray;
using cuda::check;
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
  const std::size_t count = (raw.size() + row.frame_bytes - 1) / row.frame_bytes;
  std::vector<Bytes> frames(count);
  const auto content_of = [&](std::size_t i) {
    const std::size_t begin = i * row.frame_bytes;
    return raw.subspan(begin, std::min(row.frame_bytes, raw.size() - begin));
  };
  tbb::parallel_for(std::size_t{0}, count, [&](std::size_t i) {
    frames[i] = testing::written_by_libzstd(content_of(i), {.level = row.level, .checksum = checksums});
  });
  Bytes packed;
  std::vector<std::size_t> begins;
  for (const Bytes& frame : frames) {
    begins.push_back(packed.size());
    packed.insert(packed.end(), frame.begin(), frame.end());
  }
  const auto copies =
      std::max<std::size_t>(1, static_cast<std::size_t>(gigabytes * 1e9 / static_cast<double>(raw.size())));
  const DeviceArray<std::byte> d_frames(copies * packed.size()), d_output(copies * raw.size());
  std::vector<const std::byte*> addresses;
  std::vector<std::byte*> outputs;
  std::vector<std::size_t> sizes, capacities;
  for (std::size_t copy = 0; copy < copies; ++copy) {
    check(cudaMemcpy(d_frames.data + copy * packed.size(), packed.data(), packed.size(), cudaMemcpyDefault),
          "cudaMemcpy");
    for (std::size_t i = 0; i < count; ++i) {
      addresses.push_back(d_frames.data + copy * packed.size() + begins[i]);
      outputs.push_back(d_output.data + copy * raw.size() + i * row.frame_bytes);
      sizes.push_back(frames[i].size());
      capacities.push_back(content_of(i).size());
    }
  }
  const DeviceArray<const std::byte*> d_addresses(addresses);
  const DeviceArray<std::byte*> d_outputs(outputs);
  const DeviceArray<std::size_t> d_sizes(sizes), d_capacities(capacities), d_output_bytes(sizes.size());
  const DeviceArray<hemstitch_status> d_statuses(sizes.size());
  const cuda::DeviceRestore batch{.d_blocks = d_addresses.data,
                                  .d_block_bytes = d_sizes.data,
                                  .d_outputs = d_outputs.data,
                                  .d_capacities = d_capacities.data,
                                  .d_output_bytes = d_output_bytes.data,
                                  .d_statuses = d_statuses.data,
                                  .count = sizes.size(),
                                  .max_capacity = row.frame_bytes,
                                  .max_block_bytes = *std::max_element(sizes.begin(), sizes.end())};
  const std::size_t scratch_bytes = cuda::restore_zstd_cuda_scratch_bytes(batch);
  const DeviceArray<std::byte> d_scratch(scratch_bytes);
  check(cudaMemset(d_output.data, 0, copies * raw.size()), "cudaMemset");
  const double seconds = bench::median_seconds(
      nullptr, kRuns, [&] { cuda::restore_zstd_cuda(batch, d_scratch.data, scratch_bytes, nullptr); });
  bool verified = d_output_bytes.download(0, sizes.size()) == capacities;
  for (const hemstitch_status status : d_statuses.download(0, sizes.size()))
    verified &= status == HEMSTITCH_OK;
  for (const std::size_t copy : {std::size_t{0}, copies - 1})
    verified &= std::ranges::equal(d_output.download(copy * raw.size(), raw.size()), raw);
  const std::size_t bytes = copies * raw.size();
  const double gbps = static_cast<double>(bytes) / seconds / 1e9;
  print(row, file, bytes, static_cast<double>(raw.size()) / static_cast<double>(packed.size()), gbps,
        verified);
  return {gbps, verified};
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
