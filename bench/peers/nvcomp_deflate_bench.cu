// DEFLATE on the device, ours and nvCOMP's, on the same bytes in the same run.
//
// Each of nine Silesia files is repeated to TOTAL_GB and cut into chunks of 64 KB, each a stream of its own. Restoring: both read the
// same streams, written by zlib at level 6. Compressing: our levels 1, 6 and 9, and all settings of nvCOMP ("level" is its algorithm); what
// one side writes is then restored by the other. Every output is compared with the input on the device. Times are medians of three
// calls between events, after one to warm up: kernels alone, everything resident; nvCOMP's slow settings, 4 and 5, are timed once, on
// SLOW_GB. Rows are JSON, one a line; "total" is all files by the sum of their seconds, "mean" the harmonic mean of their speeds, "worst" the
// slowest.
//
//   nvcomp_deflate_peer_bench FOLDER [TOTAL_GB [SLOW_GB]]      default: 1.2 and 0.4 GB; the Silesia files are in FOLDER/silesia
#include <nvcomp/deflate.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "deflate_streams.hpp"
#include "device_timing.hpp"
#include "format/deflate/block/deflate_stored.hpp"
#include "format/deflate/compress/deflate_compress_cuda.hpp"
#include "format/deflate/restore/deflate_restore_cuda.hpp"
#include "peer_chunks.cuh"

namespace hemstitch {
namespace {

using bench::check;
using bench::Chunks;
using bench::round2;
using testing::Bytes;
using Json = nlohmann::ordered_json;

constexpr const char* kFiles[] = {"dickens", "nci",     "samba", "mr", "osdb",
                                  "ooffice", "reymont", "x-ray", "xml"};
constexpr std::size_t kChunkBytes = 65536;
constexpr int kRuns = 3;
constexpr int kSlowestFrom = 4;
constexpr int kPeerSettings[] = {0, 1, 2, 4, 5};  // 3 is 2, as nvCOMP's header says

class Bench {
 public:
  Bench(double total_gb, double slow_gb)
      : total_bytes_(static_cast<std::uint64_t>(total_gb * 1e9)),
        slow_bytes_(static_cast<std::uint64_t>(slow_gb * 1e9)) {}

  void run(const std::string& name, const Bytes& file) {
    Chunks chunks(file, kChunkBytes, most_bytes(), total_bytes_, stream_);
    const std::size_t bytes = chunks.write_streams(
        file, kChunkBytes, stream_, [](std::span<const std::byte> chunk, std::span<std::byte> room) {
          const Bytes stream = testing::zlib_stream(chunk, 6);
          std::ranges::copy(stream, room.begin());
          return stream.size();
        });
    const double ratio = static_cast<double>(file.size()) / static_cast<double>(bytes);
    for (const bool ours : {true, false}) {
      const double seconds = ours ? restore_ours(chunks, kRuns) : restore_peers(chunks, kRuns);
      add(name, file.size(), "restore", ours, "zlib 6", chunks.bytes, seconds, ratio,
          chunks.restored_well(stream_));
    }
    for (const int level : {1, 6, 9}) {
      const double seconds = compress_ours(chunks, level);
      const double our_ratio = chunks.ratio(stream_);
      restore_peers(chunks, 1);
      add(name, file.size(), "compress", true, std::to_string(level), chunks.bytes, seconds, our_ratio,
          chunks.restored_well(stream_));
    }
    for (const int setting : kPeerSettings)
      if (setting < kSlowestFrom) compress_peers(chunks, name, file.size(), setting, kRuns);
    Chunks few(file, kChunkBytes, most_bytes(), slow_bytes_, stream_);
    for (const int setting : kPeerSettings)
      if (setting >= kSlowestFrom) compress_peers(few, name, file.size(), setting, 1);
  }

  // Rows over all files, of each kind.
  void summarise() const {
    for (const auto& [key, all] : sums_) {
      Json row = all.row;
      const auto print_as = [&](const char* file, double gbps) {
        row["file"] = file;
        row["gbps"] = round2(gbps);
        print(row);
      };
      row["bytes"] = all.bytes;
      row["ratio"] = std::round(static_cast<double>(all.bytes) / all.output_bytes * 1000) / 1000;
      print_as("total", static_cast<double>(all.bytes) / all.seconds / 1e9);
      print_as("mean", all.files / all.inverse_speeds);
      print_as("worst", all.worst);
    }
  }

  bool all_verified() const { return all_verified_; }

 private:
  struct Sums {
    Json row;
    std::uint64_t bytes = 0;
    double output_bytes = 0, seconds = 0, inverse_speeds = 0, worst = 1e30;
    int files = 0;
  };

  // What either library may make of a chunk.
  static std::size_t most_bytes() {
    std::size_t most = deflate_data_room(kChunkBytes);
    for (const int setting : kPeerSettings) {
      std::size_t peers = 0;
      check(nvcompBatchedDeflateCompressGetMaxOutputChunkSize(kChunkBytes, options(setting), &peers),
            "nvcompBatchedDeflateCompressGetMaxOutputChunkSize");
      most = std::max(most, peers);
    }
    return most + 64;
  }

  static nvcompBatchedDeflateCompressOpts_t options(int setting) {
    nvcompBatchedDeflateCompressOpts_t options = nvcompBatchedDeflateCompressDefaultOpts;
    options.algorithm = setting;
    return options;
  }

  double restore_ours(Chunks& chunks, int runs) {
    chunks.forget_output(stream_);
    const cuda::DeviceRestore batch{.d_blocks = chunks.d_room_pointers.get(),
                                    .d_block_bytes = chunks.d_compressed_sizes.get(),
                                    .d_outputs = chunks.d_restored_pointers.get(),
                                    .d_capacities = chunks.d_sizes.get(),
                                    .d_output_bytes = chunks.d_restored_sizes.get(),
                                    .d_statuses = chunks.d_statuses.get(),
                                    .count = chunks.count(),
                                    .max_capacity = kChunkBytes,
                                    .max_block_bytes = chunks.room_bytes};
    const cuda::DeviceBuffer<std::byte> d_scratch(cuda::restore_deflate_cuda_scratch_bytes(batch),
                                                  stream_.get());
    return time(
        runs, [&] { cuda::restore_deflate_cuda(batch, d_scratch.get(), d_scratch.bytes(), stream_.get()); });
  }

  double restore_peers(Chunks& chunks, int runs) {
    chunks.forget_output(stream_);
    std::size_t temp_bytes = 0;
    check(nvcompBatchedDeflateDecompressGetTempSize(chunks.count(), kChunkBytes,
                                                    nvcompBatchedDeflateDecompressDefaultOpts, &temp_bytes,
                                                    chunks.bytes, stream_.get()),
          "nvcompBatchedDeflateDecompressGetTempSize");
    const cuda::DeviceBuffer<std::byte> d_temp(std::max<std::size_t>(temp_bytes, 1), stream_.get());
    return time(runs, [&] {
      check(nvcompBatchedDeflateDecompressAsync(
                reinterpret_cast<const void* const*>(chunks.d_room_pointers.get()),
                chunks.d_compressed_sizes.get(), chunks.d_sizes.get(), chunks.d_restored_sizes.get(),
                chunks.count(), d_temp.get(), temp_bytes,
                reinterpret_cast<void* const*>(chunks.d_restored_pointers.get()),
                nvcompBatchedDeflateDecompressDefaultOpts, chunks.d_peer_statuses.get(), stream_.get()),
            "nvcompBatchedDeflateDecompressAsync");
    });
  }

  double compress_ours(Chunks& chunks, int number) {
    const DeflateLevel level = deflate_level(number);
    const cuda::DeviceDeflateOutput output{chunks.d_room_pointers.get(), chunks.d_room_sizes.get(),
                                           chunks.d_compressed_sizes.get(), chunks.d_statuses.get()};
    const cuda::DeviceBuffer<std::byte> d_scratch(
        cuda::compress_deflate_cuda_scratch_bytes(chunks.batch, level), stream_.get());
    return time(kRuns, [&] {
      cuda::compress_deflate_cuda(chunks.batch, level, DeflateEnd::kFinal, output, d_scratch.get(),
                                  d_scratch.bytes(), stream_.get());
    });
  }

  void compress_peers(Chunks& chunks, const std::string& name, std::size_t file_bytes, int setting,
                      int runs) {
    std::size_t temp_bytes = 0;
    check(nvcompBatchedDeflateCompressGetTempSize(chunks.count(), kChunkBytes, options(setting), &temp_bytes,
                                                  chunks.bytes, stream_.get()),
          "nvcompBatchedDeflateCompressGetTempSize");
    const cuda::DeviceBuffer<std::byte> d_temp(std::max<std::size_t>(temp_bytes, 1), stream_.get());
    const double seconds = time(runs, [&] {
      check(nvcompBatchedDeflateCompressAsync(
                reinterpret_cast<const void* const*>(chunks.d_data_pointers.get()), chunks.d_sizes.get(),
                kChunkBytes, chunks.count(), d_temp.get(), temp_bytes,
                reinterpret_cast<void* const*>(chunks.d_room_pointers.get()), chunks.d_compressed_sizes.get(),
                options(setting), chunks.d_peer_statuses.get(), stream_.get()),
            "nvcompBatchedDeflateCompressAsync");
    });
    const double ratio = chunks.ratio(stream_);
    restore_ours(chunks, 1);
    add(name, file_bytes, "compress", false, std::to_string(setting), chunks.bytes, seconds, ratio,
        chunks.restored_well(stream_));
  }

  double time(int runs, const std::function<void()>& call) {
    return bench::median_seconds(stream_.get(), runs, call);
  }

  void add(const std::string& file, std::size_t file_bytes, const char* what, bool ours,
           const std::string& level, std::uint64_t bytes, double seconds, double ratio, bool verified) {
    const double gbps = static_cast<double>(bytes) / seconds / 1e9;
    Json row{{"what", what},
             {"backend", ours ? "cuda" : ""},
             {"format", "deflate"},
             {"level", level},
             {"block_bytes", kChunkBytes},
             {"file", file},
             {"bytes", bytes},
             {"ratio", std::round(ratio * 1000) / 1000},
             {"gbps", round2(gbps)},
             {"span", "kernel"}};
    if (!ours) row["peer"] = bench::peer_name();
    row["verified"] = verified;
    print(row);
    all_verified_ = all_verified_ && verified;
    Sums& sums = sums_[std::string(what) + (ours ? "/ours/" : "/peer/") + level];
    const bool so_far = sums.files == 0 || sums.row["verified"].get<bool>();
    sums.row = row;
    sums.row["verified"] = so_far && verified;
    sums.bytes += file_bytes;
    sums.output_bytes += static_cast<double>(file_bytes) / ratio;
    sums.seconds += static_cast<double>(file_bytes) / gbps / 1e9;
    sums.inverse_speeds += 1 / gbps;
    sums.worst = std::min(sums.worst, gbps);
    ++sums.files;
  }

  static void print(const Json& row) {
    std::puts(row.dump().c_str());
    std::fflush(stdout);
  }

  std::uint64_t total_bytes_, slow_bytes_;
  cuda::Stream stream_;
  std::map<std::string, Sums> sums_;
  bool all_verified_ = true;
};

}  // namespace
}  // namespace hemstitch

int main(int argc, char** argv) try {
  using namespace hemstitch;
  if (argc < 2) {
    std::fputs("usage: nvcomp_deflate_peer_bench FOLDER [TOTAL_GB [SLOW_GB]]\n", stderr);
    return 1;
  }
  Bench bench(argc > 2 ? std::atof(argv[2]) : 1.2, argc > 3 ? std::atof(argv[3]) : 0.4);
  for (const char* file : kFiles)
    bench.run(file, testing::read_file(std::filesystem::path(argv[1]) / "silesia" / file));
  bench.summarise();
  return bench.all_verified() ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "nvcomp_deflate_peer_bench: %s\n", error.what());
  return 1;
}
