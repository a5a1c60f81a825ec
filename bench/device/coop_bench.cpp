// The exhaustive and the cooperative finders on the device, over blocks of 64 KB with the data before them:
// the speed of the kernels, and the cost of a perfect parse of their matches ("c9", evaluate/evaluation.hpp).
// hash_chain, the finder of the levels, is measured in the same run.
//
//   coop_device_bench FOLDER [FINDER]...      all finders, or those named; FOLDER/silesia has the files
//
// Files are repeated to fill the device: each alone to 128 MB, all together ("corpus") to 512 MB; brute_force
// takes them once. Times are medians of three, measured with events around one call. A sample of the blocks
// is compared with the twin. c9 is for the data once. Presets of coop_stitch that differ in one number from a
// preset that is measured completely are measured on the corpus alone.
#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "core/parallel.hpp"
#include "device_timing.hpp"
#include "evaluate/evaluation.hpp"
#include "evaluate/finder_choice.hpp"
#include "gpu/cuda/device_buffer.hpp"
#include "match/common/cuda/device_block.hpp"
#include "match/finders.hpp"
#include "match/finders_cuda.hpp"
#include "shapes.hpp"

namespace hemstitch {
namespace {

constexpr std::size_t kBlockBytes = 64 * 1024;
constexpr std::size_t kMostHistoryBytes = 64 * 1024;
constexpr std::size_t kFileBytesInFlight = 128u << 20;
constexpr std::size_t kCorpusBytesInFlight = 512u << 20;
constexpr int kTimedCalls = 3;
constexpr std::size_t kTwinBlocks = 4;

using testing::Bytes;

struct Corpus {
  std::string name;
  Bytes bytes;
  std::size_t bytes_in_flight;
};

std::vector<Corpus> corpora(const std::filesystem::path& folder) {
  Corpus all{"corpus", {}, kCorpusBytesInFlight};
  std::vector<Corpus> list;
  for (const char* name : {"dickens", "mr", "nci", "ooffice", "osdb", "reymont", "samba", "x-ray", "xml"}) {
    list.push_back({name, testing::read_file(folder / "silesia" / name), kFileBytesInFlight});
    all.bytes.insert(all.bytes.end(), list.back().bytes.begin(), list.back().bytes.end());
  }
  list.push_back({"zeros", Bytes(16u << 20, std::byte{0}), kFileBytesInFlight});
  Bytes period(16u << 20);
  for (std::size_t i = 0; i < period.size(); ++i) period[i] = static_cast<std::byte>(i % 11 * 37);
  list.push_back({"period 11", period, kFileBytesInFlight});
  list.push_back(std::move(all));
  return list;
}

// The data, repeated, and cut into blocks.
class RepeatedData {
 public:
  RepeatedData(const Corpus& corpus, std::size_t bytes_in_flight, std::size_t history_bytes,
               cudaStream_t stream)
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
                  static_cast<std::uint32_t>(std::min(begin, history_bytes)), begin};
    }
    d_blocks_ = cuda::DeviceBuffer<DeviceBlock>(host_.size(), stream);
    d_blocks_.upload(host_);
    batch_ = {d_blocks_.get(), static_cast<std::uint32_t>(host_.size()), kBlockBytes,
              static_cast<std::uint32_t>(history_bytes), host_.size() * kBlockBytes};
    cuda::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }
  const DeviceBlocks& blocks() const { return batch_; }

 private:
  cuda::DeviceBuffer<std::byte> d_bytes_;
  std::vector<DeviceBlock> host_;
  cuda::DeviceBuffer<DeviceBlock> d_blocks_;
  DeviceBlocks batch_;
};

// The cost of the blocks with the first copy of the data, each parsed alone.
double cost_of(const MatchRecords& records, std::size_t bytes, const FinderParameters& parameters) {
  const std::size_t block_count = bytes / kBlockBytes;
  const std::uint64_t bits = tbb::parallel_reduce(
      tbb::blocked_range<std::size_t>(0, block_count, 1), std::uint64_t{0},
      [&](const tbb::blocked_range<std::size_t>& blocks, std::uint64_t sum) {
        for (std::size_t block = blocks.begin(); block != blocks.end(); ++block) {
          const auto first = records.begin() + static_cast<std::ptrdiff_t>(block * kBlockBytes);
          const ParseFigures figures =
              parse_figures({}, MatchRecords(first, first + kBlockBytes), parameters);
          sum += figures.literal_count * parameters.literal_cost +
                 figures.match_count * parameters.match_fixed_cost;
        }
        return sum;
      },
      std::plus<>());
  return static_cast<double>(bits) / (8.0 * static_cast<double>(block_count * kBlockBytes));
}

struct Search {
  FinderChoice choice;
  std::size_t history_bytes;                           // of a block; as much as the finder reaches
  enum Extent { kAll, kCorpus, kOnce } extent = kAll;  // every file; the corpus; every file, but not repeated

  AnyFinder finder() const { return choice.row->with(choice.parameters); }
};

// The finder of the levels over a sliding 32K, to compare with coop_stitch.
Search chain_search(std::uint32_t depth, std::uint32_t cap_bytes) {
  Search search{choose_finder(fmt::format("hash_chain:depth={}", depth)), 32768};
  search.choice.parameters.cap_bytes = cap_bytes;
  return search;
}

// A sentence that says where the device and the twin differ first; empty if they do not.
std::string difference_from_twin(std::span<const std::byte> data, const MatchRecords& records,
                                 const Search& search) {
  const std::size_t block_count = data.size() / kBlockBytes;
  std::array<std::string, kTwinBlocks> differences;
  run_in_parallel(kTwinBlocks, 1, [&](std::size_t sample) {
    const std::size_t begin = block_count * sample / kTwinBlocks * kBlockBytes;
    const std::size_t history = std::min(begin, search.history_bytes);
    const MatchRecords twin =
        search.choice.find({data.subspan(begin - history, history + kBlockBytes), history});
    for (std::size_t i = 0; i < twin.size() && differences[sample].empty(); ++i)
      if (twin[i] != records[begin + i])
        differences[sample] =
            fmt::format("block at {}, position {}: the twin has ({}, {}), the device ({}, {})", begin, i,
                        record_offset(twin[i]), record_length(twin[i]), record_offset(records[begin + i]),
                        record_length(records[begin + i]));
  });
  for (const std::string& difference : differences)
    if (!difference.empty()) return difference;
  return {};
}

void measure(const Search& search, const Corpus& corpus, cudaStream_t stream) {
  const std::size_t in_flight = search.extent == Search::kOnce ? corpus.bytes.size() : corpus.bytes_in_flight;
  const RepeatedData data(corpus, in_flight, search.history_bytes, stream);
  const DeviceBlocks& blocks = data.blocks();
  const cuda::DeviceBuffer<MatchRecord> d_records(blocks.total_block_bytes, stream);
  const AnyFinder finder = search.finder();
  const cuda::DeviceBuffer<std::byte> scratch(cuda::find_scratch_bytes(finder, blocks), stream);
  const double seconds = bench::median_seconds(stream, kTimedCalls, [&] {
    cuda::find(finder, blocks, {.d_records = d_records.get()}, scratch.get(), scratch.bytes(), stream);
  });

  const std::size_t once = std::min(corpus.bytes.size(), in_flight) / kBlockBytes * kBlockBytes;
  MatchRecords records(once);
  cuda::check(cudaMemcpyAsync(records.data(), d_records.get(), once * sizeof(MatchRecord),
                              cudaMemcpyDeviceToHost, stream),
              "download");
  cuda::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  const std::string difference = difference_from_twin(std::span(corpus.bytes).first(once), records, search);
  nlohmann::ordered_json row{{"what", "find"},
                             {"backend", "cuda"},
                             {"finder", search.choice.name},
                             {"block_bytes", kBlockBytes},
                             {"history_bytes", search.history_bytes},
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
  if (argument_count < 2) {
    fmt::print(stderr, "usage: coop_device_bench FOLDER [FINDER]...\n");
    return 2;
  }
  try {
    const std::vector<Corpus> files = corpora(arguments[1]);
    const cuda::Stream stream;
    std::vector<Search> searches = {chain_search(1, 16), chain_search(4, 64), chain_search(64, 64)};
    for (const char* description : {"coop_stitch:near-1k", "coop_stitch:4k", "window_index"})
      searches.push_back({choose_finder(description), kMostHistoryBytes});
    for (const char* description :
         {"coop_stitch:16k", "coop_stitch:32k", "coop_stitch:4k:top_k=8", "coop_stitch:4k:top_k=16",
          "coop_stitch:4k:top_k_policy=bucket", "coop_stitch:near-1k:top_k=8", "coop_stitch:near-1k:top_k=16",
          "coop_stitch:near-1k:top_k_policy=bucket"})
      searches.push_back({choose_finder(description), kMostHistoryBytes, Search::kCorpus});
    for (const char* description : {"brute_force", "brute_force:window_size=32768"})
      searches.push_back({choose_finder(description), kMostHistoryBytes, Search::kOnce});
    const std::span<char*> wanted(arguments + 2, static_cast<std::size_t>(argument_count - 2));
    for (const Search& search : searches)
      if (wanted.empty() || std::count(wanted.begin(), wanted.end(), search.choice.name) > 0)
        for (const Corpus& file : files)
          if (search.extent != Search::kCorpus || file.name == "corpus") measure(search, file, stream.get());
  } catch (const std::exception& error) {
    fmt::print(stderr, "coop_device_bench: {}\n", error.what());
    return 1;
  }
  return 0;
}
