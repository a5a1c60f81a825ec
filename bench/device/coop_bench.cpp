// The exhaustive and the cooperative finders on the device: speed of the kernels, and what a perfect parse makes of
// their matches ("c9", evaluate/evaluation.hpp), over blocks of 64 KB with up to 64 KB of what stands before them.
//
//   coop_device_bench FOLDER      with the Silesia files in FOLDER/silesia
//
// Files are repeated to fill the device: each by itself to 256 MB, all in one ("corpus") to 2 GB. Times are medians of
// events around one call. The twin is held against a sample of the blocks; c9 is that of the data once.
#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "device/cuda/device_block.hpp"
#include "device/cuda/device_buffer.hpp"
#include "evaluate/evaluation.hpp"
#include "evaluate/finder_choice.hpp"
#include "match/brute_force/brute_force_cuda.hpp"
#include "match/coop_stitch/coop_stitch_cuda.hpp"
#include "match/window_index/window_index_cuda.hpp"

namespace hemstitch {
namespace {

constexpr std::size_t kBlockBytes = 64 * 1024;
constexpr std::size_t kHistoryBytes = 64 * 1024;
constexpr std::size_t kFileBytesInFlight = 256u << 20;
constexpr std::size_t kCorpusBytesInFlight = 2048u << 20;
constexpr std::size_t kSlowBytesInFlight = 64u << 20;  // of searches that take a second a gigabyte and more
constexpr int kTimedCalls = 5;
constexpr std::size_t kTwinBlocks = 4;

using Bytes = std::vector<std::byte>;

struct Corpus {
  std::string name;
  Bytes bytes;
  std::size_t bytes_in_flight;
};

Bytes read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  Bytes bytes(std::filesystem::file_size(path));
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

std::vector<Corpus> corpora(const std::filesystem::path& folder) {
  Corpus all{"corpus", {}, kCorpusBytesInFlight};
  std::vector<Corpus> list;
  for (const char* name : {"dickens", "mr", "nci", "ooffice", "osdb", "reymont", "samba", "x-ray", "xml"}) {
    list.push_back({name, read_file(folder / "silesia" / name), kFileBytesInFlight});
    all.bytes.insert(all.bytes.end(), list.back().bytes.begin(), list.back().bytes.end());
  }
  list.push_back({"zeros", Bytes(16u << 20, std::byte{0}), kFileBytesInFlight});
  Bytes period(16u << 20);
  for (std::size_t i = 0; i < period.size(); ++i) period[i] = static_cast<std::byte>(i % 11 * 37);
  list.push_back({"period 11", period, kFileBytesInFlight});
  list.push_back(std::move(all));
  return list;
}

// The data over and over, cut into blocks.
class RepeatedData {
 public:
  RepeatedData(const Corpus& corpus, std::size_t bytes_in_flight, cudaStream_t stream)
      : d_bytes_(bytes_in_flight, stream), host_(bytes_in_flight / kBlockBytes) {
    const std::size_t once = std::min(corpus.bytes.size(), bytes_in_flight);
    cuda::check(cudaMemcpyAsync(d_bytes_.get(), corpus.bytes.data(), once, cudaMemcpyHostToDevice, stream),
                "upload");
    for (std::size_t filled = once; filled < bytes_in_flight;) {
      const std::size_t more = std::min(filled, bytes_in_flight - filled) / once * once;
      const std::size_t bytes = more != 0 ? more : bytes_in_flight - filled;
      cuda::check(
          cudaMemcpyAsync(d_bytes_.get() + filled, d_bytes_.get(), bytes, cudaMemcpyDeviceToDevice, stream),
          "repeat");
      filled += bytes;
    }
    for (std::size_t i = 0; i < host_.size(); ++i) {
      const std::size_t begin = i * kBlockBytes;
      host_[i] = {d_bytes_.get() + begin, kBlockBytes,
                  static_cast<std::uint32_t>(std::min(begin, kHistoryBytes)), begin};
    }
    d_blocks_ = cuda::DeviceBuffer<DeviceBlock>(host_.size(), stream);
    d_blocks_.upload(host_);
    batch_ = {d_blocks_.get(), static_cast<std::uint32_t>(host_.size()), kBlockBytes, kHistoryBytes,
              host_.size() * kBlockBytes};
    cuda::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }
  const DeviceBlocks& blocks() const { return batch_; }

 private:
  cuda::DeviceBuffer<std::byte> d_bytes_;
  std::vector<DeviceBlock> host_;
  cuda::DeviceBuffer<DeviceBlock> d_blocks_;
  DeviceBlocks batch_;
};

double median_seconds(cudaStream_t stream, const std::function<void()>& call) {
  cudaEvent_t begin, end;
  cuda::check(cudaEventCreate(&begin), "cudaEventCreate");
  cuda::check(cudaEventCreate(&end), "cudaEventCreate");
  call();
  std::vector<float> times;
  for (int i = 0; i < kTimedCalls; ++i) {
    cuda::check(cudaEventRecord(begin, stream), "cudaEventRecord");
    call();
    cuda::check(cudaEventRecord(end, stream), "cudaEventRecord");
    cuda::check(cudaEventSynchronize(end), "cudaEventSynchronize");
    times.push_back(0);
    cuda::check(cudaEventElapsedTime(&times.back(), begin, end), "cudaEventElapsedTime");
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  std::nth_element(times.begin(), times.begin() + kTimedCalls / 2, times.end());
  return static_cast<double>(times[kTimedCalls / 2]) * 1e-3;
}

// Of the blocks that hold the data for the first time, each parsed by itself.
double cost_of(const MatchRecords& records, std::size_t bytes, const FinderParameters& parameters) {
  const std::size_t block_count = bytes / kBlockBytes;
  const std::uint64_t bits = tbb::parallel_reduce(
      tbb::blocked_range<std::size_t>(0, block_count, 1), std::uint64_t{0},
      [&](const tbb::blocked_range<std::size_t>& blocks, std::uint64_t sum) {
        for (std::size_t block = blocks.begin(); block != blocks.end(); ++block) {
          const auto first = records.begin() + static_cast<std::ptrdiff_t>(block * kBlockBytes);
          const ParseFigures figures = parse_figures(MatchRecords(first, first + kBlockBytes), parameters);
          sum += figures.literal_count * parameters.literal_cost +
                 figures.match_count * parameters.match_fixed_cost;
        }
        return sum;
      },
      std::plus<>());
  return static_cast<double>(bits) / (8.0 * static_cast<double>(block_count * kBlockBytes));
}

// Where the device and the twin differ first, as a sentence; empty where they do not.
std::string difference_from_twin(const Bytes& data, const MatchRecords& records, const FinderChoice& choice) {
  const std::size_t block_count = data.size() / kBlockBytes;
  for (std::size_t sample = 0; sample < kTwinBlocks; ++sample) {
    const std::size_t begin = block_count * sample / kTwinBlocks * kBlockBytes;
    const std::size_t history = std::min(begin, kHistoryBytes);
    const MatchRecords twin =
        choice.find({std::span(data).subspan(begin - history, history + kBlockBytes), history});
    for (std::size_t i = 0; i < twin.size(); ++i)
      if (twin[i] != records[begin + i])
        return fmt::format("block at {}, position {}: the twin has ({}, {}), the device ({}, {})", begin, i,
                           record_offset(twin[i]), record_length(twin[i]), record_offset(records[begin + i]),
                           record_length(records[begin + i]));
  }
  return {};
}

struct Search {
  FinderChoice choice;
  bool slow;

  std::size_t scratch_bytes(const DeviceBlocks& blocks) const {
    switch (std::get<Finder>(choice.how)) {
      case Finder::kBruteForce:
        return cuda::brute_force_scratch_bytes(blocks, choice.parameters);
      case Finder::kWindowIndex:
        return cuda::window_index_scratch_bytes(blocks, choice.parameters);
      default:
        return cuda::coop_stitch_scratch_bytes(blocks, choice.parameters);
    }
  }
  void run(const DeviceBlocks& blocks, MatchRecord* d_records, const cuda::DeviceBuffer<std::byte>& scratch,
           cudaStream_t stream) const {
    switch (std::get<Finder>(choice.how)) {
      case Finder::kBruteForce:
        return cuda::brute_force(blocks, choice.parameters, d_records, scratch.get(), scratch.bytes(),
                                 stream);
      case Finder::kWindowIndex:
        return cuda::window_index(blocks, choice.parameters, d_records, scratch.get(), scratch.bytes(),
                                  stream);
      default:
        return cuda::coop_stitch(blocks, choice.parameters, {.d_records = d_records}, scratch.get(),
                                 scratch.bytes(), stream);
    }
  }
};

void measure(const Search& search, const Corpus& corpus, cudaStream_t stream) {
  const std::size_t in_flight = search.slow ? kSlowBytesInFlight : corpus.bytes_in_flight;
  const RepeatedData data(corpus, in_flight, stream);
  const DeviceBlocks& blocks = data.blocks();
  const cuda::DeviceBuffer<MatchRecord> d_records(blocks.total_block_bytes, stream);
  const cuda::DeviceBuffer<std::byte> scratch(search.scratch_bytes(blocks), stream);
  const double seconds =
      median_seconds(stream, [&] { search.run(blocks, d_records.get(), scratch, stream); });

  const std::size_t once = std::min(corpus.bytes.size(), in_flight) / kBlockBytes * kBlockBytes;
  MatchRecords records(once);
  cuda::check(cudaMemcpyAsync(records.data(), d_records.get(), once * sizeof(MatchRecord),
                              cudaMemcpyDeviceToHost, stream),
              "download");
  cuda::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  const std::string difference = difference_from_twin(
      Bytes(corpus.bytes.begin(), corpus.bytes.begin() + static_cast<std::ptrdiff_t>(once)), records,
      search.choice);
  nlohmann::ordered_json row{{"what", "find"},
                             {"backend", "cuda"},
                             {"finder", search.choice.name},
                             {"block_bytes", kBlockBytes},
                             {"history_bytes", kHistoryBytes},
                             {"file", corpus.name},
                             {"bytes", blocks.total_block_bytes},
                             {"gbps", static_cast<double>(blocks.total_block_bytes) / seconds * 1e-9},
                             {"span", "kernel"},
                             {"c9", cost_of(records, once, search.choice.parameters)},
                             {"verified", difference.empty()}};
  if (!difference.empty()) row["difference"] = difference;
  fmt::print("{}\n", row.dump());
  std::fflush(stdout);
}

}  // namespace
}  // namespace hemstitch

int main(int argument_count, char** arguments) {
  using namespace hemstitch;
  if (argument_count != 2) {
    fmt::print(stderr, "usage: coop_device_bench FOLDER\n");
    return 2;
  }
  try {
    const std::vector<Corpus> files = corpora(arguments[1]);
    const cuda::Stream stream;
    for (const auto& [description, slow] : {std::pair{"coop_stitch:near-1k", false},
                                            {"coop_stitch:4k", false},
                                            {"coop_stitch:16k", false},
                                            {"coop_stitch:32k", false},
                                            {"window_index", false},
                                            {"brute_force", true},
                                            {"brute_force:window_size=32768", true}}) {
      const Search search{choose_finder(description), slow};
      for (const Corpus& file : files) measure(search, file, stream.get());
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "coop_device_bench: {}\n", error.what());
    return 1;
  }
  return 0;
}
