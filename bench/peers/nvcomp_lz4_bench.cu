// LZ4 on the device, ours and nvCOMP's, on the same bytes in the same run.
//
// Each Silesia file is repeated to TOTAL_GB and cut into chunks of 4 KB and of 64 KB. Restoring: both read the same
// streams, written by liblz4 (LZ4_compress_default). Compressing: level 1 against nvCOMP's only level; each side's blocks
// are then restored by the other one. Every output is compared with the input on the device. Times are medians of RUNS
// calls between events, after one to warm up: kernels alone, everything resident. Rows are JSON, one a line; "mean" is
// the harmonic mean over the files, its peer_gbps likewise; "worst" our slowest file.
//
//   nvcomp_lz4_peer_bench FOLDER [TOTAL_GB [RUNS]]      default: 2 GB, 5 runs; the Silesia files are in FOLDER/silesia
#include <cuda_runtime.h>
#include <lz4.h>
#include <nvcomp/lz4.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "device_timing.hpp"
#include "format/lz4/compress/lz4_compress_cuda.hpp"
#include "format/lz4/lz4_levels.hpp"
#include "format/lz4/restore/lz4_restore_cuda.hpp"
#include "peer_chunks.cuh"
#include "shapes.hpp"

namespace hemstitch {
namespace {

using bench::check;
using bench::Chunks;
using bench::round2;
using testing::Bytes;
using Json = nlohmann::ordered_json;

constexpr const char* kFiles[] = {"dickens", "mr", "nci", "osdb", "samba", "xml", "x-ray"};
void print_row(const Json& row) {
  std::puts(row.dump().c_str());
  std::fflush(stdout);
}

class Bench {
 public:
  Bench(std::uint64_t total_bytes, int runs) : total_bytes_(total_bytes), runs_(runs) {}

  void run(const std::string& name, const Bytes& file, std::size_t chunk_bytes) {
    Chunks chunks(file, chunk_bytes, cuda::max_lz4_block_bytes(chunk_bytes) + 64, total_bytes_, stream_);
    const std::size_t bytes = chunks.write_streams(
        file, chunk_bytes, stream_, [](std::span<const std::byte> chunk, std::span<std::byte> room) {
          return static_cast<std::size_t>(LZ4_compress_default(
              reinterpret_cast<const char*>(chunk.data()), reinterpret_cast<char*>(room.data()),
              static_cast<int>(chunk.size()), static_cast<int>(room.size())));
        });
    const double ratio = static_cast<double>(file.size()) / static_cast<double>(bytes);

    const double seconds = restore_ours(chunks);
    bool verified = chunks.restored_well(stream_);
    const double peer_seconds = restore_peers(chunks);
    verified = chunks.restored_well(stream_) && verified;
    print("restore", chunk_bytes, name, chunks.bytes, seconds, peer_seconds, ratio, ratio, verified);

    const double compress_seconds = compress_ours(chunks, chunk_bytes);
    const double our_ratio = chunks.ratio(stream_);
    restore_peers(chunks, 1);
    verified = chunks.restored_well(stream_);
    const double peer_compress_seconds = compress_peers(chunks, chunk_bytes);
    const double peer_ratio = chunks.ratio(stream_);
    restore_ours(chunks, 1);
    verified = chunks.restored_well(stream_) && verified;
    print("compress", chunk_bytes, name, chunks.bytes, compress_seconds, peer_compress_seconds, our_ratio,
          peer_ratio, verified);
  }

  // Rows over all files so far, of one kind and chunk size.
  void summarise(const char* what, std::size_t chunk_bytes) {
    double seconds = 0, peer_seconds = 0, worst = 1e30, least_factor = 1e30;
    int count = 0;
    bool verified = true;
    std::string worst_file;
    Json row;
    for (const Json& result : rows_) {
      if (result["what"] != what || result["block_bytes"] != chunk_bytes) continue;
      const double gbps = result["gbps"], peer_gbps = result["peer_gbps"];
      seconds += 1 / gbps;
      peer_seconds += 1 / peer_gbps;
      least_factor = std::min(least_factor, gbps / peer_gbps);
      if (gbps < worst) worst = gbps, worst_file = result["file"];
      verified = verified && result["verified"];
      ++count;
    }
    row = {{"what", what},
           {"backend", "cuda"},
           {"format", "lz4"},
           {"level", 1},
           {"block_bytes", chunk_bytes},
           {"file", "mean"},
           {"gbps", round2(count / seconds)},
           {"span", "kernel"},
           {"peer", peer_},
           {"peer_gbps", round2(count / peer_seconds)},
           {"least_factor", round2(least_factor)},
           {"verified", verified}};
    print_row(row);
    row["file"] = "worst";
    row["worst_file"] = worst_file;
    row["gbps"] = round2(worst);
    row.erase("peer_gbps");
    row.erase("least_factor");
    print_row(row);
  }

  bool all_verified() const { return all_verified_; }

 private:
  double restore_ours(Chunks& chunks, int runs = 0) {
    chunks.forget_output(stream_);
    const cuda::DeviceRestore batch{.d_blocks = chunks.d_room_pointers.get(),
                                    .d_block_bytes = chunks.d_compressed_sizes.get(),
                                    .d_outputs = chunks.d_restored_pointers.get(),
                                    .d_capacities = chunks.d_sizes.get(),
                                    .d_output_bytes = chunks.d_restored_sizes.get(),
                                    .d_statuses = chunks.d_statuses.get(),
                                    .count = chunks.count(),
                                    .max_capacity = chunks.batch.max_block_bytes,
                                    .max_block_bytes = chunks.room_bytes};
    const cuda::DeviceBuffer<std::byte> d_scratch(cuda::restore_lz4_cuda_scratch_bytes(batch), stream_.get());
    return time(runs,
                [&] { cuda::restore_lz4_cuda(batch, d_scratch.get(), d_scratch.bytes(), stream_.get()); });
  }

  double restore_peers(Chunks& chunks, int runs = 0) {
    chunks.forget_output(stream_);
    const std::size_t chunk_bytes = chunks.batch.max_block_bytes;
    std::size_t temp_bytes = 0;
    check(nvcompBatchedLZ4DecompressGetTempSize(chunks.count(), chunk_bytes,
                                                nvcompBatchedLZ4DecompressDefaultOpts, &temp_bytes,
                                                chunks.bytes, stream_.get()),
          "nvcompBatchedLZ4DecompressGetTempSize");
    const cuda::DeviceBuffer<std::byte> d_temp(temp_bytes, stream_.get());
    return time(runs, [&] {
      check(nvcompBatchedLZ4DecompressAsync(
                reinterpret_cast<const void* const*>(chunks.d_room_pointers.get()),
                chunks.d_compressed_sizes.get(), chunks.d_sizes.get(), chunks.d_restored_sizes.get(),
                chunks.count(), d_temp.get(), temp_bytes,
                reinterpret_cast<void* const*>(chunks.d_restored_pointers.get()),
                nvcompBatchedLZ4DecompressDefaultOpts, chunks.d_peer_statuses.get(), stream_.get()),
            "nvcompBatchedLZ4DecompressAsync");
    });
  }

  double compress_ours(Chunks& chunks, std::size_t chunk_bytes) {
    const Lz4Level level = lz4_level(1, chunk_bytes);
    const cuda::DeviceLz4Output output{chunks.d_room_pointers.get(), chunks.d_room_sizes.get(),
                                       chunks.d_compressed_sizes.get(), chunks.d_statuses.get()};
    const cuda::DeviceBuffer<std::byte> d_scratch(cuda::compress_lz4_cuda_scratch_bytes(chunks.batch, level),
                                                  stream_.get());
    return time(0, [&] {
      cuda::compress_lz4_cuda(chunks.batch, level, output, d_scratch.get(), d_scratch.bytes(), stream_.get());
    });
  }

  double compress_peers(Chunks& chunks, std::size_t chunk_bytes) {
    std::size_t temp_bytes = 0;
    check(
        nvcompBatchedLZ4CompressGetTempSize(chunks.count(), chunk_bytes, nvcompBatchedLZ4CompressDefaultOpts,
                                            &temp_bytes, chunks.bytes, stream_.get()),
        "nvcompBatchedLZ4CompressGetTempSize");
    const cuda::DeviceBuffer<std::byte> d_temp(temp_bytes, stream_.get());
    return time(0, [&] {
      check(nvcompBatchedLZ4CompressAsync(
                reinterpret_cast<const void* const*>(chunks.d_data_pointers.get()), chunks.d_sizes.get(),
                chunk_bytes, chunks.count(), d_temp.get(), temp_bytes,
                reinterpret_cast<void* const*>(chunks.d_room_pointers.get()), chunks.d_compressed_sizes.get(),
                nvcompBatchedLZ4CompressDefaultOpts, chunks.d_peer_statuses.get(), stream_.get()),
            "nvcompBatchedLZ4CompressAsync");
    });
  }

  // With `runs` 0: as many as the program was told to do.
  double time(int runs, const std::function<void()>& call) {
    return bench::median_seconds(stream_.get(), runs == 0 ? runs_ : runs, call);
  }

  void print(const char* what, std::size_t chunk_bytes, const std::string& file, std::uint64_t bytes,
             double seconds, double peer_seconds, double ratio, double peer_ratio, bool verified) {
    const auto gbps = [bytes](double time) { return round2(static_cast<double>(bytes) / time / 1e9); };
    rows_.push_back({{"what", what},
                     {"backend", "cuda"},
                     {"format", "lz4"},
                     {"level", 1},
                     {"block_bytes", chunk_bytes},
                     {"file", file},
                     {"bytes", bytes},
                     {"ratio", std::round(ratio * 1000) / 1000},
                     {"gbps", gbps(seconds)},
                     {"span", "kernel"},
                     {"peer", peer_},
                     {"peer_ratio", std::round(peer_ratio * 1000) / 1000},
                     {"peer_gbps", gbps(peer_seconds)},
                     {"verified", verified}});
    print_row(rows_.back());
    all_verified_ = all_verified_ && verified;
  }

  const std::string peer_ = bench::peer_name();
  std::uint64_t total_bytes_;
  int runs_;
  cuda::Stream stream_;
  std::vector<Json> rows_;
  bool all_verified_ = true;
};

}  // namespace
}  // namespace hemstitch

int main(int argc, char** argv) try {
  using namespace hemstitch;
  if (argc < 2) {
    std::fputs("usage: nvcomp_lz4_peer_bench FOLDER [TOTAL_GB [RUNS]]\n", stderr);
    return 1;
  }
  const double total_gb = argc > 2 ? std::atof(argv[2]) : 2;
  Bench bench(static_cast<std::uint64_t>(total_gb * 1e9), argc > 3 ? std::atoi(argv[3]) : 5);
  for (const std::size_t chunk_bytes : {std::size_t{4096}, std::size_t{65536}}) {
    for (const char* file : kFiles)
      bench.run(file, testing::read_file(std::filesystem::path(argv[1]) / "silesia" / file), chunk_bytes);
    bench.summarise("restore", chunk_bytes);
    bench.summarise("compress", chunk_bytes);
  }
  return bench.all_verified() ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "nvcomp_lz4_peer_bench: %s\n", error.what());
  return 1;
}
