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
#include <nvcomp/version.h>
#include <tbb/parallel_for.h>

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
#include "gpu/cuda/device_buffer.hpp"
#include "shapes.hpp"

namespace hemstitch {
namespace {

using testing::Bytes;
using Json = nlohmann::ordered_json;

constexpr const char* kFiles[] = {"dickens", "mr", "nci", "osdb", "samba", "xml", "x-ray"};
// nvCOMP asks for 4; this is what allocations have.
constexpr std::size_t kAlignmentBytes = 16;

std::size_t aligned(std::size_t bytes) {
  return (bytes + kAlignmentBytes - 1) / kAlignmentBytes * kAlignmentBytes;
}

void check(nvcompStatus_t status, const char* call) {
  if (status != nvcompSuccess)
    throw std::runtime_error(std::string(call) + ": nvCOMP status " + std::to_string(int(status)));
}

__global__ void count_differences(const std::byte* const* d_left, const std::byte* const* d_right,
                                  const std::size_t* d_bytes, const std::size_t* d_got_bytes,
                                  std::uint64_t count, unsigned long long* d_differences) {
  unsigned long long differences = 0;
  for (std::uint64_t chunk = blockIdx.x; chunk < count; chunk += gridDim.x) {
    differences += d_bytes[chunk] != d_got_bytes[chunk];
    for (std::size_t i = threadIdx.x; i < d_bytes[chunk]; i += blockDim.x)
      differences += d_left[chunk][i] != d_right[chunk][i];
  }
  if (differences > 0) atomicAdd(d_differences, differences);
}

// An array of one element a chunk, in device memory.
template <class T>
cuda::DeviceBuffer<T> on_device(const std::vector<T>& elements, const cuda::Stream& stream) {
  cuda::DeviceBuffer<T> d_elements(elements.size(), stream.get());
  d_elements.upload(elements);
  stream.synchronize();
  return d_elements;
}

// A file's chunks, repeated in device memory, with room for each one's compressed form and for what is restored.
struct Chunks {
  Chunks(const Bytes& file, std::size_t chunk_bytes, std::uint64_t total_bytes, const cuda::Stream& stream)
      : copies(std::max<std::uint64_t>(1, total_bytes / file.size())),
        per_copy((file.size() + chunk_bytes - 1) / chunk_bytes),
        room_bytes(aligned(cuda::max_lz4_block_bytes(chunk_bytes) + 64)),
        bytes(copies * file.size()),
        d_data(copies * aligned(file.size()), stream.get()),
        d_restored(copies * aligned(file.size()), stream.get()),
        d_rooms(copies * per_copy * room_bytes, stream.get()) {
    std::vector<DeviceBlock> blocks;
    std::vector<std::byte*> data, restored, rooms;
    std::vector<std::size_t> sizes;
    std::uint64_t position = 0;
    for (std::uint64_t copy = 0; copy < copies; ++copy) {
      std::byte* const d_copy = d_data.get() + copy * aligned(file.size());
      cuda::check(cudaMemcpyAsync(d_copy, file.data(), file.size(), cudaMemcpyHostToDevice, stream.get()),
                  "cudaMemcpyAsync");
      for (std::size_t begin = 0; begin < file.size(); begin += chunk_bytes) {
        const std::size_t size = std::min(chunk_bytes, file.size() - begin);
        blocks.push_back({d_copy + begin, static_cast<std::uint32_t>(size), 0, position});
        position += size;
        data.push_back(d_copy + begin);
        restored.push_back(d_restored.get() + copy * aligned(file.size()) + begin);
        rooms.push_back(d_rooms.get() + rooms.size() * room_bytes);
        sizes.push_back(size);
      }
    }
    d_blocks = on_device(blocks, stream);
    d_data_pointers = on_device(data, stream);
    d_restored_pointers = on_device(restored, stream);
    d_room_pointers = on_device(rooms, stream);
    d_sizes = on_device(sizes, stream);
    d_room_sizes = on_device(std::vector<std::size_t>(sizes.size(), room_bytes), stream);
    d_compressed_sizes = cuda::DeviceBuffer<std::size_t>(sizes.size(), stream.get());
    d_restored_sizes = cuda::DeviceBuffer<std::size_t>(sizes.size(), stream.get());
    d_statuses = cuda::DeviceBuffer<hemstitch_status>(sizes.size(), stream.get());
    d_peer_statuses = cuda::DeviceBuffer<nvcompStatus_t>(sizes.size(), stream.get());
    batch = {d_blocks.get(), static_cast<std::uint32_t>(sizes.size()),
             static_cast<std::uint32_t>(chunk_bytes), 0, bytes};
    host_rooms = rooms;
    stream.synchronize();
  }

  std::uint64_t count() const { return copies * per_copy; }

  std::uint64_t copies;
  std::size_t per_copy, room_bytes;
  std::uint64_t bytes;
  cuda::DeviceBuffer<std::byte> d_data, d_restored, d_rooms;
  cuda::DeviceBuffer<DeviceBlock> d_blocks;
  cuda::DeviceBuffer<std::byte*> d_data_pointers, d_restored_pointers, d_room_pointers;
  cuda::DeviceBuffer<std::size_t> d_sizes, d_room_sizes, d_compressed_sizes, d_restored_sizes;
  cuda::DeviceBuffer<hemstitch_status> d_statuses;
  cuda::DeviceBuffer<nvcompStatus_t> d_peer_statuses;
  DeviceBlocks batch;
  std::vector<std::byte*> host_rooms;
};

void print_row(const Json& row) {
  std::puts(row.dump().c_str());
  std::fflush(stdout);
}

class Bench {
 public:
  Bench(std::uint64_t total_bytes, int runs) : total_bytes_(total_bytes), runs_(runs) {}

  void run(const std::string& name, const Bytes& file, std::size_t chunk_bytes) {
    Chunks chunks(file, chunk_bytes, total_bytes_, stream_);
    const std::size_t bytes = write_streams(file, chunk_bytes, chunks);
    const double ratio = static_cast<double>(file.size()) / static_cast<double>(bytes);

    const double seconds = restore_ours(chunks);
    bool verified = restored_well(chunks);
    const double peer_seconds = restore_peers(chunks);
    verified = restored_well(chunks) && verified;
    print("restore", chunk_bytes, name, chunks.bytes, seconds, peer_seconds, ratio, ratio, verified);

    const double compress_seconds = compress_ours(chunks, chunk_bytes);
    const double our_ratio = ratio_of(chunks);
    restore_peers(chunks, 1);
    verified = restored_well(chunks);
    const double peer_compress_seconds = compress_peers(chunks, chunk_bytes);
    const double peer_ratio = ratio_of(chunks);
    restore_ours(chunks, 1);
    verified = restored_well(chunks) && verified;
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
  static double round2(double value) { return std::round(value * 100) / 100; }

  // liblz4's blocks of the file, in the rooms of all its copies. Returns what the file becomes.
  std::size_t write_streams(const Bytes& file, std::size_t chunk_bytes, Chunks& chunks) {
    std::vector<std::byte> rooms(chunks.per_copy * chunks.room_bytes);
    std::vector<std::size_t> sizes(chunks.per_copy);
    tbb::parallel_for(std::size_t{0}, chunks.per_copy, [&](std::size_t chunk) {
      const std::size_t begin = chunk * chunk_bytes, size = std::min(chunk_bytes, file.size() - begin);
      sizes[chunk] = static_cast<std::size_t>(
          LZ4_compress_default(reinterpret_cast<const char*>(file.data() + begin),
                               reinterpret_cast<char*>(rooms.data() + chunk * chunks.room_bytes),
                               static_cast<int>(size), static_cast<int>(chunks.room_bytes)));
    });
    std::vector<std::size_t> all_sizes;
    for (std::uint64_t copy = 0; copy < chunks.copies; ++copy) {
      cuda::check(cudaMemcpyAsync(chunks.d_rooms.get() + copy * rooms.size(), rooms.data(), rooms.size(),
                                  cudaMemcpyHostToDevice, stream_.get()),
                  "cudaMemcpyAsync");
      all_sizes.insert(all_sizes.end(), sizes.begin(), sizes.end());
    }
    chunks.d_compressed_sizes.upload({all_sizes.data(), all_sizes.size()});
    stream_.synchronize();
    std::size_t bytes = 0;
    for (const std::size_t size : sizes) bytes += size;
    return bytes;
  }

  double restore_ours(Chunks& chunks, int runs = 0) {
    forget_output(chunks);
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
    forget_output(chunks);
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

  void forget_output(Chunks& chunks) {
    cuda::check(cudaMemsetAsync(chunks.d_restored.get(), 0xA5, chunks.d_restored.bytes(), stream_.get()),
                "cudaMemsetAsync");
    cuda::check(
        cudaMemsetAsync(chunks.d_restored_sizes.get(), 0, chunks.d_restored_sizes.bytes(), stream_.get()),
        "cudaMemsetAsync");
  }

  bool restored_well(Chunks& chunks) {
    std::vector<unsigned long long> differences{0};
    cuda::DeviceBuffer<unsigned long long> d_differences = on_device(differences, stream_);
    constexpr int kBlocks = 4096, kThreads = 256;
    count_differences<<<kBlocks, kThreads, 0, stream_.get()>>>(
        chunks.d_data_pointers.get(), chunks.d_restored_pointers.get(), chunks.d_sizes.get(),
        chunks.d_restored_sizes.get(), chunks.count(), d_differences.get());
    cuda::check_launch("count_differences");
    d_differences.download({differences.data(), differences.size()});
    stream_.synchronize();
    return differences[0] == 0;
  }

  double ratio_of(Chunks& chunks) {
    std::vector<std::size_t> sizes(chunks.count());
    chunks.d_compressed_sizes.download({sizes.data(), sizes.size()});
    stream_.synchronize();
    std::uint64_t total = 0;
    for (const std::size_t size : sizes) total += size;
    return static_cast<double>(chunks.bytes) / static_cast<double>(total);
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

  const std::string peer_ = "nvCOMP " + std::to_string(NVCOMP_VER_MAJOR) + "." +
                            std::to_string(NVCOMP_VER_MINOR) + "." + std::to_string(NVCOMP_VER_PATCH) + "." +
                            std::to_string(NVCOMP_VER_BUILD);
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
