// What restoring DEFLATE costs on a CUDA device.
//
//   deflate_restore_device_bench FOLDER [GIGABYTES]
//
// FOLDER holds silesia/. Streams are written at level 6, by libdeflate as BGZF's members (65,280 bytes) and by zlib (64 KB), of each file; by zlib of 4 KB, 256 KB
// and 1 MB of all files behind one another; and of bytes that hardly shrink. They are repeated, each copy at addresses of its own, until there
// are GIGABYTES (1.2) of output; "1000", "100" and "5127 streams" are as many; "one giant" is a stream of 20 MB among 9,100 of 10 KB, "no giant" is these without it. Batches of all files, and of bytes that hardly shrink, are restored by each way besides the one that
// is chosen: "a warp each", "several warps each", "many warps each". Every figure is the median of five runs after one to warm up.
// Prints one row of a recorded run a line; a row is verified when all statuses and sizes, and all bytes of the first and the last
// copy, are right. "mean" is the harmonic mean over the nine files, "worst" the slowest of them.
#include <libdeflate.h>
#include <tbb/parallel_for.h>
#include <zlib.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "deflate_streams.hpp"
#include "device_array.hpp"
#include "device_timing.hpp"
#include "format/deflate/restore/deflate_restore_ways_cuda.hpp"
#include "repeated_blocks.hpp"
#include "shapes.hpp"

namespace hemstitch {
namespace {

using bench::DeviceArray;
using testing::Bytes;

constexpr int kRuns = 5;
constexpr int kLevel = 6;
constexpr std::size_t kMemberBytes = 65280;
constexpr const char* kFiles[] = {"dickens", "nci",     "samba", "mr", "osdb",
                                  "ooffice", "reymont", "x-ray", "xml"};

enum class Writer { kLibdeflate, kZlib };

Bytes stream_of(std::span<const std::byte> content, Writer writer) {
  if (writer == Writer::kZlib) return testing::zlib_stream(content, kLevel);
  libdeflate_compressor* compressor = libdeflate_alloc_compressor(kLevel);
  Bytes data(libdeflate_deflate_compress_bound(compressor, content.size()));
  data.resize(
      libdeflate_deflate_compress(compressor, content.data(), content.size(), data.data(), data.size()));
  libdeflate_free_compressor(compressor);
  return data;
}

void print(const std::string& what, Writer writer, std::size_t chunk_bytes, const std::string& file,
           std::size_t bytes, double ratio, double gbps, bool verified) {
  std::printf(
      "{\"what\":\"%s\",\"backend\":\"cuda\",\"format\":\"deflate\",\"level\":\"%s "
      "6\",\"block_bytes\":%zu,\"file\":\"%s\","
      "\"bytes\":%zu,",
      what.c_str(), writer == Writer::kZlib ? "zlib" : "libdeflate", chunk_bytes, file.c_str(), bytes);
  if (ratio != 0) std::printf("\"ratio\":%.4f,", ratio);
  std::printf("\"gbps\":%.1f,\"span\":\"kernel\",\"verified\":%s}\n", gbps, verified ? "true" : "false");
  std::fflush(stdout);
}

struct Measured {
  double gbps = 0;
  bool verified = false;
};

// Which ways are measured.
enum class Ways { kChosen, kAll };

// Prints the rows as well; returns that of the way that is chosen.
// The first `giant_bytes` are a stream of their own.
Measured measure(const std::string& what, const std::string& file, std::span<const std::byte> raw,
                 std::size_t chunk_bytes, Writer writer, double gigabytes, Ways ways = Ways::kChosen,
                 std::size_t giant_bytes = 0) {
  std::vector<std::span<const std::byte>> contents;
  for (std::size_t begin = 0; begin < raw.size(); begin += contents.back().size())
    contents.push_back(raw.subspan(
        begin, begin == 0 && giant_bytes != 0 ? giant_bytes : std::min(chunk_bytes, raw.size() - begin)));
  std::vector<Bytes> streams(contents.size());
  tbb::parallel_for(std::size_t{0}, streams.size(),
                    [&](std::size_t i) { streams[i] = stream_of(contents[i], writer); });
  constexpr std::size_t kAroundStream = 26;  // as a member has
  bench::RepeatedBlocks blocks(streams, contents, raw, kAroundStream, gigabytes);
  const cuda::DeviceRestore batch = blocks.batch();
  const std::size_t scratch_bytes = cuda::restore_deflate_cuda_scratch_bytes(batch);
  const DeviceArray<std::byte> d_scratch(scratch_bytes);
  const auto measure_way = [&](const std::string& row, cuda::DeflateWay way) {
    blocks.forget_output();
    const double seconds = bench::median_seconds(nullptr, kRuns, [&] {
      cuda::restore_deflate_cuda(way, batch, d_scratch.data, scratch_bytes, nullptr);
    });
    const Measured measured{static_cast<double>(blocks.bytes()) / seconds / 1e9, blocks.is_restored()};
    print(row, writer, chunk_bytes, file, blocks.bytes(), blocks.ratio(), measured.gbps, measured.verified);
    return measured;
  };
  if (ways == Ways::kAll) {
    measure_way(what + ", a warp each", cuda::DeflateWay::kMany);
    measure_way(what + ", several warps each", cuda::DeflateWay::kFew);
    measure_way(what + ", many warps each", cuda::DeflateWay::kFewest);
  }
  return measure_way(what, cuda::deflate_way(batch));
}

int run(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::fprintf(stderr, "deflate_restore_device_bench FOLDER [GIGABYTES]\n");
    return 1;
  }
  const double gigabytes = argc > 2 ? std::atof(argv[2]) : 1.2;
  Bytes all;
  for (const auto& [writer, chunk_bytes] :
       {std::pair{Writer::kLibdeflate, kMemberBytes}, {Writer::kZlib, std::size_t{65536}}}) {
    double seconds_of_each = 0, worst = 1e9;
    bool verified = true;
    for (const char* const file : kFiles) {
      const Bytes raw = testing::read_file(std::string(argv[1]) + "/silesia/" + file, std::size_t{1} << 30);
      const Measured measured = measure("restore", file, raw, chunk_bytes, writer, gigabytes);
      seconds_of_each += 1 / measured.gbps;
      worst = std::min(worst, measured.gbps);
      verified &= measured.verified;
      if (writer == Writer::kZlib) all.insert(all.end(), raw.begin(), raw.end());
    }
    const auto bytes = static_cast<std::size_t>(gigabytes * 1e9);
    print("restore", writer, chunk_bytes, "mean", bytes, 0, std::size(kFiles) / seconds_of_each, verified);
    print("restore", writer, chunk_bytes, "worst", bytes, 0, worst, verified);
  }
  for (const std::size_t chunk_bytes :
       {std::size_t{4096}, std::size_t{1} << 16, std::size_t{1} << 18, std::size_t{1} << 20})
    measure("restore", "nine files", all, chunk_bytes, Writer::kZlib, gigabytes, Ways::kAll);
  const Bytes noise = testing::random_bytes(std::size_t{30} << 20, 1, 240);
  measure("restore", "bytes below 240", noise, kMemberBytes, Writer::kLibdeflate, gigabytes, Ways::kAll);
  measure("restore, 1000 streams", "nine files", std::span(all).first(1000 * 65536), 65536, Writer::kZlib, 0,
          Ways::kAll);
  measure("restore, 100 streams", "nine files", std::span(all).first(100 << 20), 1 << 20, Writer::kZlib, 0,
          Ways::kAll);
  // Between one and three rounds of warps.
  measure("restore, 5127 streams", "nine files", all, 65536, Writer::kZlib, 0.34, Ways::kAll);
  measure("restore, 10254 streams", "nine files", all, 65536, Writer::kZlib, 0.68, Ways::kAll);
  // One of 20 MB among 9,100 of 10 KB, and these without it.
  constexpr std::size_t kGiantBytes = 20'000'000, kAroundBytes = 91'000'000;
  measure("restore, one giant", "nine files", std::span(all).first(kGiantBytes + kAroundBytes), 10'000,
          Writer::kZlib, 0, Ways::kChosen, kGiantBytes);
  measure("restore, no giant", "nine files", std::span(all).subspan(kGiantBytes, kAroundBytes), 10'000,
          Writer::kZlib, 0);
  return 0;
}

}  // namespace
}  // namespace hemstitch

int main(int argc, char** argv) {
  try {
    return hemstitch::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "deflate_restore_device_bench: %s\n", error.what());
    return 1;
  }
}
