// Speed of the far finder on a device, insertion with look-up and the stitch apart, on real files as one long file: each after the other, and over and over in
// an order that rotates, so that what comes again is far away.
//
// Rows name what was timed, with events, after one call to warm up: "find" (without the stitch), "stitch", "all". A figure is the median of RUNS calls. Pieces have
// 1 MB, with up to the window before them. A sample of the pieces is compared with the twin. One row a file shows what data does to it; the files are
// then repeated by themselves, without a history in the copy before.
//
//   far_device_bench FOLDER [TOTAL_GB [RUNS [SPAN_MB [TABLES]]]]
//
// Defaults: 1.08 GB, 5 runs, what is used (FarSpeed). FOLDER/silesia has the files.
#include <cuda_runtime.h>
#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "device_array.hpp"
#include "device_timing.hpp"
#include "format/zstd/zstd_levels.hpp"
#include "gpu/cuda/device_buffer.hpp"
#include "match/far/far_cuda.hpp"
#include "shapes.hpp"

namespace hemstitch {
namespace {

using testing::Bytes;
using Json = nlohmann::ordered_json;

constexpr const char* kFiles[] = {"dickens", "mr",    "nci",   "ooffice", "osdb",
                                  "reymont", "samba", "x-ray", "xml"};
constexpr std::size_t kPieceBytes = 1 << 20;
constexpr std::size_t kSampledPieces = 24;

// What is searched as one: [begin, end) of the data; its pieces' histories end there.
struct Run {
  std::size_t begin, end;
};

class Bench {
 public:
  Bench(std::size_t most_bytes, int runs, const cuda::FarSpeed& speed)
      : runs_(runs),
        speed_(speed),
        d_data_(most_bytes),
        d_found_(most_bytes),
        d_records_(most_bytes),
        d_blocks_(most_bytes / kPieceBytes * 4 + 16) {}

  void measure(const std::string& name, const Bytes& data, const std::vector<Run>& data_runs,
               const FarParameters& parameters) {
    cuda::check(cudaMemcpy(d_data_.data, data.data(), data.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
    std::vector<DeviceBlock> blocks;
    for (const Run& run : data_runs)
      for (std::size_t begin = run.begin; begin < run.end; begin += kPieceBytes)
        blocks.push_back(
            {d_data_.data + begin, static_cast<std::uint32_t>(std::min(kPieceBytes, run.end - begin)),
             static_cast<std::uint32_t>(std::min<std::size_t>(begin - run.begin, parameters.window_bytes)),
             begin});
    d_blocks_.upload(blocks);
    const DeviceBlocks pieces{d_blocks_.data, static_cast<std::uint32_t>(blocks.size()), kPieceBytes,
                              parameters.window_bytes, data.size()};
    const std::size_t scratch_bytes = cuda::find_far_cuda_scratch_bytes(pieces, parameters, speed_);
    const bench::DeviceArray<std::byte> d_scratch(scratch_bytes);
    const std::vector<double> seconds = bench::median_step_seconds(
        stream_.get(), runs_,
        {[&] {
           cuda::find_unstitched_far_cuda(pieces, parameters, d_found_.data, d_scratch.data, scratch_bytes,
                                          stream_.get(), speed_);
         },
         [&] { cuda::stitch_far_cuda(pieces, parameters, d_found_.data, d_records_.data, stream_.get()); }});
    stream_.synchronize();
    const bool verified = is_twin(name, data, blocks, parameters);
    all_verified_ = all_verified_ && verified;
    const char* const steps[] = {"find", "stitch", "all"};
    for (std::size_t i = 0; i < std::size(steps); ++i)
      fmt::print("{}\n", Json{{"what", steps[i]},
                              {"backend", "cuda"},
                              {"ways", parameters.ways},
                              {"hash_bits", parameters.hash_bits},
                              {"hash_bytes", parameters.hash_bytes},
                              {"grid_bytes", parameters.grid_bytes},
                              {"file", name},
                              {"bytes", data.size()},
                              {"gbps", static_cast<double>(data.size()) / seconds[i] * 1e-9},
                              {"span", "kernel"},
                              {"verified", verified}}
                             .dump());
    std::fflush(stdout);
  }
  bool all_verified() const { return all_verified_; }

 private:
  bool is_twin(const std::string& name, const Bytes& data, const std::vector<DeviceBlock>& blocks,
               const FarParameters& parameters) const {
    std::atomic<bool> same = true;
    std::mutex telling;
    tbb::parallel_for(std::size_t{0}, kSampledPieces, [&](std::size_t sample) {
      const std::size_t index = sample * 7919 % blocks.size();
      const DeviceBlock& piece = blocks[index];
      const WideRecords expected = find_far({std::span(data).subspan(piece.position - piece.history_bytes,
                                                                     piece.history_bytes + piece.block_bytes),
                                             piece.history_bytes},
                                            parameters);
      const std::vector<FarRecord> records = d_records_.download(piece.position, piece.block_bytes);
      for (std::size_t p = 0; p < records.size(); ++p) {
        if (far_offset(records[p]) == expected[p].offset && far_length(records[p]) == expected[p].length)
          continue;
        const std::lock_guard lock(telling);
        fmt::print(stderr, "{}: piece {}, position {}: should be ({}, {}), is ({}, {})\n", name, index, p,
                   expected[p].offset, expected[p].length, far_offset(records[p]), far_length(records[p]));
        same = false;
        return;
      }
    });
    return same;
  }

  int runs_;
  cuda::FarSpeed speed_;
  cuda::Stream stream_;
  bench::DeviceArray<std::byte> d_data_;
  bench::DeviceArray<FarRecord> d_found_, d_records_;
  bench::DeviceArray<DeviceBlock> d_blocks_;
  bool all_verified_ = true;
};

// Copies of a file, each by itself.
void measure_file(Bench& bench, const char* name, const Bytes& file, std::size_t bytes) {
  Bytes data;
  std::vector<Run> runs;
  while (data.size() + file.size() <= bytes) {
    runs.push_back({data.size(), data.size() + file.size()});
    data.insert(data.end(), file.begin(), file.end());
  }
  bench.measure(name, data, runs, zstd_level(3).far.front());
}

int measure_all(int argument_count, char** arguments) {
  const double gigabytes = argument_count > 2 ? std::atof(arguments[2]) : 1.08;
  const int runs = argument_count > 3 ? std::atoi(arguments[3]) : 5;
  cuda::FarSpeed speed;
  if (argument_count > 4) speed.span_bytes = static_cast<std::uint32_t>(std::atoi(arguments[4])) << 20;
  if (argument_count > 5) speed.most_tables = static_cast<std::uint32_t>(std::atoi(arguments[5]));
  const auto bytes = static_cast<std::size_t>(gigabytes * 1e9);
  std::vector<Bytes> files;
  for (const char* name : kFiles)
    files.push_back(testing::read_file(std::filesystem::path(arguments[1]) / "silesia" / name));
  Bytes data;
  for (std::size_t turn = 0; data.size() < bytes; ++turn)
    for (std::size_t i = 0; i < files.size(); ++i) {
      const Bytes& file = files[(turn + i) % files.size()];
      data.insert(data.end(), file.begin(),
                  file.begin() + static_cast<std::ptrdiff_t>(std::min(file.size(), bytes - data.size())));
    }
  Bench bench(bytes, runs, speed);
  std::vector<FarParameters> all = {{.hash_bits = 20, .ways = 1}};
  for (const int level : {3, 5, 16})
    for (const FarParameters& parameters : zstd_level(level).far) all.push_back(parameters);
  for (const FarParameters& parameters : all) bench.measure("corpus", data, {{0, data.size()}}, parameters);
  for (std::size_t i = 0; i < files.size(); ++i) measure_file(bench, kFiles[i], files[i], bytes / 2);
  measure_file(bench, "zeros", Bytes(files.front().size(), std::byte{0}), bytes / 4);
  return bench.all_verified() ? 0 : 1;
}

}  // namespace
}  // namespace hemstitch

int main(int argument_count, char** arguments) {
  if (argument_count < 2) {
    fmt::print(stderr, "usage: far_device_bench FOLDER [TOTAL_GB [RUNS [SPAN_MB [TABLES]]]]\n");
    return 2;
  }
  try {
    return hemstitch::measure_all(argument_count, arguments);
  } catch (const std::exception& error) {
    fmt::print(stderr, "far_device_bench: {}\n", error.what());
    return 1;
  }
}
