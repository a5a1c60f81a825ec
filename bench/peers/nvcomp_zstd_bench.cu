// Zstandard on the device, ours and nvCOMP's, on the same bytes in the same run.
//
// Each of nine Silesia files is repeated to TOTAL_GB and cut into chunks of 64 KB, each a frame of its own. Restoring: both read the same frames, written by libzstd
// at levels 1, 3 and 19 without checksum. Compressing: our levels 1, 3, 5 and 10 by batch.h, and nvCOMP's only setting; what one side writes is then restored by the
// other. Every output is compared with the input on the device. Times are medians of three calls between events, after one
// to warm up: kernels alone, everything resident. Rows are JSON, one a line; "total" is all files by the sum of their seconds, "mean" the
// harmonic mean of their speeds, "worst" the slowest.
//
//   nvcomp_zstd_peer_bench FOLDER [TOTAL_GB]      default: 1.2 GB; the Silesia files are in FOLDER/silesia
#include <nvcomp/zstd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "device_timing.hpp"
#include "format/zstd/restore/zstd_restore_cuda.hpp"
#include "hemstitch/batch.hpp"
#include "peer_chunks.cuh"
#include "zstd_frames.hpp"

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
const nvcompBatchedZstdDecompressOpts_t kOptions = nvcompBatchedZstdDecompressDefaultOpts;
const nvcompBatchedZstdCompressOpts_t kCompressOptions = nvcompBatchedZstdCompressDefaultOpts;

double restore_ours(Chunks& chunks, const cuda::Stream& stream) {
  const cuda::DeviceRestore batch{.d_blocks = chunks.d_room_pointers.get(),
                                  .d_block_bytes = chunks.d_compressed_sizes.get(),
                                  .d_outputs = chunks.d_restored_pointers.get(),
                                  .d_capacities = chunks.d_sizes.get(),
                                  .d_output_bytes = chunks.d_restored_sizes.get(),
                                  .d_statuses = chunks.d_statuses.get(),
                                  .count = chunks.count(),
                                  .max_capacity = kChunkBytes,
                                  .max_block_bytes = chunks.room_bytes};
  const cuda::DeviceBuffer<std::byte> d_scratch(cuda::restore_zstd_cuda_scratch_bytes(batch), stream.get());
  return bench::median_seconds(stream.get(), kRuns, [&] {
    cuda::restore_zstd_cuda(batch, d_scratch.get(), d_scratch.bytes(), stream.get());
  });
}

double restore_peers(Chunks& chunks, const cuda::Stream& stream) {
  std::size_t temp_bytes = 0;
  check(nvcompBatchedZstdDecompressGetTempSize(chunks.count(), kChunkBytes, kOptions, &temp_bytes,
                                               chunks.bytes, stream.get()),
        "nvcompBatchedZstdDecompressGetTempSize");
  const cuda::DeviceBuffer<std::byte> d_temp(std::max<std::size_t>(temp_bytes, 1), stream.get());
  return bench::median_seconds(stream.get(), kRuns, [&] {
    check(nvcompBatchedZstdDecompressAsync(reinterpret_cast<const void* const*>(chunks.d_room_pointers.get()),
                                           chunks.d_compressed_sizes.get(), chunks.d_sizes.get(),
                                           chunks.d_restored_sizes.get(), chunks.count(), d_temp.get(),
                                           temp_bytes,
                                           reinterpret_cast<void* const*>(chunks.d_restored_pointers.get()),
                                           kOptions, chunks.d_peer_statuses.get(), stream.get()),
          "nvcompBatchedZstdDecompressAsync");
  });
}

double compress_ours(Chunks& chunks, int level, const cuda::Stream& stream) {
  hemstitch_blocks blocks{};
  blocks.blocks = reinterpret_cast<const void* const*>(chunks.d_data_pointers.get());
  blocks.block_bytes = chunks.d_sizes.get();
  blocks.count = static_cast<std::uint32_t>(chunks.count());
  blocks.max_block_bytes = kChunkBytes;
  blocks.total_block_bytes = chunks.bytes;
  std::size_t temp_bytes = 0;
  batch::detail::check(
      hemstitch_blocks_compress_temp_bytes(HEMSTITCH_FORMAT_ZSTD, &blocks, level, &temp_bytes));
  const cuda::DeviceBuffer<std::byte> d_temp(temp_bytes, stream.get());
  return bench::median_seconds(stream.get(), kRuns, [&] {
    batch::detail::check(hemstitch_blocks_compress_async(
        HEMSTITCH_FORMAT_ZSTD, &blocks, level, reinterpret_cast<void* const*>(chunks.d_room_pointers.get()),
        chunks.d_room_sizes.get(), chunks.d_compressed_sizes.get(), chunks.d_statuses.get(), d_temp.get(),
        temp_bytes, stream.get()));
  });
}

double compress_peers(Chunks& chunks, const cuda::Stream& stream) {
  std::size_t temp_bytes = 0;
  check(nvcompBatchedZstdCompressGetTempSize(chunks.count(), kChunkBytes, kCompressOptions, &temp_bytes,
                                             chunks.bytes, stream.get()),
        "nvcompBatchedZstdCompressGetTempSize");
  const cuda::DeviceBuffer<std::byte> d_temp(std::max<std::size_t>(temp_bytes, 1), stream.get());
  return bench::median_seconds(stream.get(), kRuns, [&] {
    check(nvcompBatchedZstdCompressAsync(
              reinterpret_cast<const void* const*>(chunks.d_data_pointers.get()), chunks.d_sizes.get(),
              kChunkBytes, chunks.count(), d_temp.get(), temp_bytes,
              reinterpret_cast<void* const*>(chunks.d_room_pointers.get()), chunks.d_compressed_sizes.get(),
              kCompressOptions, chunks.d_peer_statuses.get(), stream.get()),
          "nvcompBatchedZstdCompressAsync");
  });
}

// What any of those who write may make of a chunk.
std::size_t most_chunk_bytes() {
  std::size_t peers = 0;
  check(nvcompBatchedZstdCompressGetMaxOutputChunkSize(kChunkBytes, kCompressOptions, &peers),
        "nvcompBatchedZstdCompressGetMaxOutputChunkSize");
  return std::max({peers, ZSTD_compressBound(kChunkBytes),
                   hemstitch_blocks_compress_bound(HEMSTITCH_FORMAT_ZSTD, kChunkBytes)});
}

// Prints a row for each file, and then those of all files of each kind.
class Rows {
 public:
  void add(const char* what, bool ours, const std::string& level, const std::string& file,
           std::size_t file_bytes, std::uint64_t bytes, double ratio, double seconds, bool verified) {
    const double gbps = static_cast<double>(bytes) / seconds / 1e9;
    Sums& all = sums_[{what, level, !ours}];
    print({what, level, !ours}, file, bytes, ratio, gbps, verified);
    all.bytes += file_bytes;
    all.output_bytes += static_cast<double>(file_bytes) / ratio;
    all.seconds += static_cast<double>(file_bytes) / gbps / 1e9;
    all.inverse_speeds += 1 / gbps;
    all.worst = std::min(all.worst, gbps);
    all.verified = all.verified && verified;
  }
  // Returns whether all rows are verified.
  bool summarise() const {
    bool all_verified = true;
    for (const auto& [kind, all] : sums_) {
      const double ratio = static_cast<double>(all.bytes) / all.output_bytes;
      print(kind, "total", all.bytes, ratio, static_cast<double>(all.bytes) / all.seconds / 1e9,
            all.verified);
      print(kind, "mean", all.bytes, ratio, std::size(kFiles) / all.inverse_speeds, all.verified);
      print(kind, "worst", all.bytes, ratio, all.worst, all.verified);
      all_verified = all_verified && all.verified;
    }
    return all_verified;
  }

 private:
  struct Kind {
    std::string what, level;
    bool is_peer;
    auto operator<=>(const Kind&) const = default;
  };
  struct Sums {
    std::uint64_t bytes = 0;
    double output_bytes = 0, seconds = 0, inverse_speeds = 0, worst = 1e30;
    bool verified = true;
  };

  static void print(const Kind& kind, const std::string& file, std::uint64_t bytes, double ratio, double gbps,
                    bool verified) {
    Json row{{"what", kind.what},
             {"backend", kind.is_peer ? "" : "cuda"},
             {"format", "zstd"},
             {"level", kind.level},
             {"block_bytes", kChunkBytes},
             {"file", file},
             {"bytes", bytes},
             {"ratio", std::round(ratio * 1000) / 1000},
             {"gbps", round2(gbps)},
             {"span", "kernel"}};
    if (kind.is_peer) row["peer"] = bench::peer_name();
    row["verified"] = verified;
    std::puts(row.dump().c_str());
    std::fflush(stdout);
  }

  std::map<Kind, Sums> sums_;
};

bool run(const std::filesystem::path& folder, double total_gb) {
  const cuda::Stream stream;
  Rows rows;
  for (const char* name : kFiles) {
    const Bytes file = testing::read_file(folder / name);
    Chunks chunks(file, kChunkBytes, most_chunk_bytes(), static_cast<std::uint64_t>(total_gb * 1e9), stream);
    for (const int level : {1, 3, 19}) {
      const std::size_t bytes = chunks.write_streams(
          file, kChunkBytes, stream, [&](std::span<const std::byte> chunk, std::span<std::byte> room) {
            const Bytes frame = testing::written_by_libzstd(chunk, {.level = level, .checksum = false});
            std::ranges::copy(frame, room.begin());
            return frame.size();
          });
      const double ratio = static_cast<double>(file.size()) / static_cast<double>(bytes);
      for (const bool ours : {true, false}) {
        chunks.forget_output(stream);
        const double seconds = ours ? restore_ours(chunks, stream) : restore_peers(chunks, stream);
        rows.add("restore", ours, "libzstd " + std::to_string(level), name, file.size(), chunks.bytes, ratio,
                 seconds, chunks.restored_well(stream));
      }
    }
    const auto add_written = [&](bool ours, const std::string& level, double seconds) {
      const double ratio = chunks.ratio(stream);
      chunks.forget_output(stream);
      if (ours)
        restore_peers(chunks, stream);
      else
        restore_ours(chunks, stream);
      rows.add("compress", ours, level, name, file.size(), chunks.bytes, ratio, seconds,
               chunks.restored_well(stream));
    };
    for (const int level : {1, 3, 5, 10})
      add_written(true, std::to_string(level), compress_ours(chunks, level, stream));
    add_written(false, "default", compress_peers(chunks, stream));
  }
  return rows.summarise();
}

}  // namespace
}  // namespace hemstitch

int main(int argc, char** argv) try {
  if (argc < 2) {
    std::fputs("usage: nvcomp_zstd_peer_bench FOLDER [TOTAL_GB]\n", stderr);
    return 1;
  }
  return hemstitch::run(std::filesystem::path(argv[1]) / "silesia", argc > 2 ? std::atof(argv[2]) : 1.2) ? 0
                                                                                                         : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "nvcomp_zstd_peer_bench: %s\n", error.what());
  return 1;
}
