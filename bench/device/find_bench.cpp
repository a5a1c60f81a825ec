// Speed of the device's finders, alone and followed by the optimal parse, on real files and on synthetic
// ones. All data stays on the device.
//
// Each input is repeated to TOTAL_GB, or to half of that without a parse, in blocks with up to 32 KB of the
// same copy before them, or with none. Rows name what was timed, with events, after one call to warm up:
// "build" (only the chains), "find" (with the build), "find+parse". A figure is the median of RUNS calls, or
// of three at depth 64. A sample of the blocks is compared with the twins, records and sequences. find+parse
// prices a literal with 9 bits and a match with 25, as in founding document 000 (docs/founding.md): "cost" is
// that of the whole input, where 1 is raw. "scratch_bytes_per_byte" is all device memory besides the input:
// records, the larger scratch of the two stages, and room for the sequences. "worst" is the slowest of the
// real files.
//
//   find_device_bench FOLDER [TOTAL_GB [RUNS [LEVEL...]]]
//
// Defaults: 2 GB, 5 runs, all levels. FOLDER/silesia has the files.
#include <cuda_runtime.h>
#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "device_timing.hpp"
#include "format/lz4/lz4_levels.hpp"
#include "gpu/cuda/device_buffer.hpp"
#include "gpu/cuda/scratch.hpp"
#include "match/common/cuda/device_block.hpp"
#include "match/finders.hpp"
#include "match/finders_cuda.hpp"
#include "parse/optimal/optimal_cuda.hpp"
#include "shapes.hpp"

namespace hemstitch {
namespace {

using testing::Bytes;
using Json = nlohmann::ordered_json;

constexpr const char* kRealFiles[] = {"dickens", "mr", "nci", "osdb", "samba", "xml", "x-ray"};
constexpr std::size_t kMadeBytes = 16 << 20;
constexpr std::size_t kSampledBlocks = 32;
constexpr int kRunsAtDepth64 = 3;

// The flat costs of founding document 000 (docs/founding.md), with its shortest and longest match.
constexpr BlockPlan kPlan = lzss_block_plan(5, 258);
constexpr FullLengthCostModel kCosts{};

enum class Kind { kReal, kCorpus, kMade };

struct Source {
  std::string name;
  Bytes bytes;
  Kind kind;
};

struct Config {
  const char* level;
  std::uint32_t block_bytes;
  std::uint32_t history_bytes;
  AnyFinder finder;
  bool parse = false;
  bool corpus_alone = false;
};

// The memory of all runs: to allocate gigabytes takes longer than a run.
struct Memory {
  Memory(std::uint64_t total_bytes, std::size_t scratch_bytes, const cuda::Stream& stream)
      : d_data(total_bytes, stream.get()),
        d_records(total_bytes, stream.get()),
        d_sequences(first_sequence(total_bytes, most_blocks(total_bytes), kPlan), stream.get()),
        d_counts(most_blocks(total_bytes), stream.get()),
        d_total(1, stream.get()),
        d_scratch(scratch_bytes, stream.get()) {}

  // For the configurations that parse, all with blocks of 64 KB. Each copy of an input may end with a short
  // block.
  static std::uint32_t most_blocks(std::uint64_t total_bytes) {
    return static_cast<std::uint32_t>(total_bytes / 65536 * 2);
  }
  cuda::DeviceSequences sequences() const { return {d_sequences.get(), d_counts.get(), d_total.get()}; }

  cuda::DeviceBuffer<std::byte> d_data;
  cuda::DeviceBuffer<MatchRecord> d_records;
  cuda::DeviceBuffer<Sequence> d_sequences;
  cuda::DeviceBuffer<std::uint32_t> d_counts;
  cuda::DeviceBuffer<std::uint64_t> d_total;
  cuda::DeviceBuffer<std::byte> d_scratch;
};

// An input, repeated on the device as often as it fits, and cut into blocks.
struct Repeated {
  Repeated(const Source& source, const Memory& memory, const Config& config, const cuda::Stream& stream) {
    const std::uint64_t copies = memory.d_data.bytes() / (config.parse ? 1 : 2) / source.bytes.size();
    std::byte* d_data = memory.d_data.get();
    for (std::uint64_t copy = 0; copy < copies; ++copy) {
      cuda::check(copy == 0 ? cudaMemcpyAsync(d_data, source.bytes.data(), source.bytes.size(),
                                              cudaMemcpyHostToDevice, stream.get())
                            : cudaMemcpyAsync(d_data + copy * source.bytes.size(), d_data,
                                              source.bytes.size(), cudaMemcpyDeviceToDevice, stream.get()),
                  "cudaMemcpyAsync");
      for (std::uint64_t begin = 0; begin < source.bytes.size(); begin += config.block_bytes) {
        const std::uint64_t position = copy * source.bytes.size() + begin;
        blocks.push_back({d_data + position,
                          static_cast<std::uint32_t>(
                              std::min<std::uint64_t>(config.block_bytes, source.bytes.size() - begin)),
                          static_cast<std::uint32_t>(std::min<std::uint64_t>(begin, config.history_bytes)),
                          position});
      }
    }
    blocks_in_a_copy = blocks.size() / copies;
    d_blocks = cuda::DeviceBuffer<DeviceBlock>(blocks.size(), stream.get());
    d_blocks.upload(blocks);
    batch = {d_blocks.get(), static_cast<std::uint32_t>(blocks.size()), config.block_bytes,
             config.history_bytes, copies * source.bytes.size()};
    stream.synchronize();
  }

  std::vector<DeviceBlock> blocks;
  std::size_t blocks_in_a_copy;
  cuda::DeviceBuffer<DeviceBlock> d_blocks;
  DeviceBlocks batch;
};

template <class T>
std::vector<T> download(const T* d_from, std::size_t count, const cuda::Stream& stream) {
  std::vector<T> into(count);
  cuda::check(cudaMemcpyAsync(into.data(), d_from, count * sizeof(T), cudaMemcpyDeviceToHost, stream.get()),
              "cudaMemcpyAsync");
  stream.synchronize();
  return into;
}

class Bench {
 public:
  Bench(std::vector<Source> sources, std::uint64_t total_bytes, int runs)
      // Each byte needs at most 4 bytes of scratch: with histories half as long as blocks, the links need 3.
      : sources_(std::move(sources)), runs_(runs), memory_(total_bytes, 4 * total_bytes, stream_) {}

  void measure(const Config& config) {
    slowest_ = {};
    for (const Source& source : sources_)
      if (source.kind == Kind::kCorpus || !config.corpus_alone) measure(source, config);
    for (auto& [what, row] : slowest_) {
      row["of"] = row["file"];
      row["file"] = "worst";
      fmt::print("{}\n", row.dump());
    }
  }
  bool all_verified() const { return all_verified_; }

 private:
  void measure(const Source& source, const Config& config) {
    const Repeated repeated(source, memory_, config, stream_);
    const auto* const chain = std::get_if<HashChainParameters>(&config.finder);
    const int runs = chain != nullptr && chain->depth >= 64 ? std::min(runs_, kRunsAtDepth64) : runs_;
    const std::size_t find_scratch_bytes = cuda::find_scratch_bytes(config.finder, repeated.batch);
    check_scratch(find_scratch_bytes);
    void* const d_scratch = memory_.d_scratch.get();
    MatchRecord* const d_records = memory_.d_records.get();
    const auto find = [&] {
      cuda::find(config.finder, repeated.batch, {.d_records = d_records}, d_scratch, find_scratch_bytes,
                 stream_.get());
    };
    if (chain != nullptr && chain->depth <= 4)
      add_row("build", source, config, repeated,
              bench::median_seconds(stream_.get(), runs,
                                    [&] {
                                      cuda::build_hash_chains_cuda(repeated.batch, *chain, d_scratch,
                                                                   find_scratch_bytes, stream_.get());
                                    }),
              true);
    const std::size_t parse_scratch_bytes =
        config.parse ? cuda::parse_optimal_cuda_scratch_bytes(repeated.batch, kCosts) : 0;
    check_scratch(parse_scratch_bytes);
    std::vector<std::function<void()>> steps = {find};
    if (config.parse)
      steps.push_back([&] {
        cuda::parse_optimal_cuda(repeated.batch, d_records, kPlan, kCosts, memory_.sequences(), d_scratch,
                                 parse_scratch_bytes, stream_.get());
      });
    const std::vector<double> seconds = bench::median_step_seconds(stream_.get(), runs, steps);
    add_row("find", source, config, repeated, seconds[0],
            compare(source, repeated, [&](std::size_t sample, const FinderInput& input) {
              return records_differ(repeated, sample, find_reference(config.finder, input).records);
            }));
    if (!config.parse) return;

    const std::uint64_t cost = cost_of_first_copy(repeated);
    const bool same = compare(source, repeated, [&](std::size_t sample, const FinderInput& input) {
      return sequences_differ(repeated, sample, find_reference(config.finder, input).records);
    });
    const std::uint64_t bytes = repeated.batch.total_block_bytes;
    const std::uint64_t device_bytes =
        bytes * sizeof(MatchRecord) + std::max(find_scratch_bytes, parse_scratch_bytes) +
        cuda::device_sequence_capacity(repeated.batch, kPlan) * sizeof(Sequence) +
        repeated.blocks.size() * sizeof(std::uint32_t);
    add_row("find+parse", source, config, repeated, seconds[2], same,
            {{"cost", static_cast<double>(cost) / (8.0 * kCostUnitsPerBit) /
                          static_cast<double>(source.bytes.size())},
             {"scratch_bytes_per_byte", static_cast<double>(device_bytes) / static_cast<double>(bytes)}});
  }

  void check_scratch(std::size_t bytes) const {
    cuda::check_scratch("find_device_bench", bytes, memory_.d_scratch.get(), memory_.d_scratch.bytes());
  }

  void add_row(const char* what, const Source& source, const Config& config, const Repeated& repeated,
               double seconds, bool verified, const Json& more = Json::object()) {
    const std::uint64_t bytes = repeated.batch.total_block_bytes;
    Json row{{"what", what},
             {"backend", "cuda"},
             {"level", config.level},
             {"block_bytes", config.block_bytes},
             {"history_bytes", config.history_bytes},
             {"file", source.name},
             {"bytes", bytes},
             {"gbps", static_cast<double>(bytes) / seconds * 1e-9},
             {"span", "kernel"}};
    row.update(more);
    row["verified"] = verified;
    all_verified_ = all_verified_ && verified;
    fmt::print("{}\n", row.dump());
    std::fflush(stdout);
    if (source.kind != Kind::kReal) return;
    const auto slowest = slowest_.find(what);
    if (slowest == slowest_.end() || slowest->second["gbps"] > row["gbps"]) slowest_[what] = row;
  }

  // Passes a sample of blocks to `differ`, on all cores. It returns what is wrong with one, or an empty
  // string.
  bool compare(const Source& source, const Repeated& repeated,
               const std::function<std::string(std::size_t, const FinderInput&)>& differ) const {
    std::atomic<bool> same = true;
    std::mutex telling;
    tbb::parallel_for(std::size_t{0}, kSampledBlocks, [&](std::size_t sample) {
      const std::size_t index = sample * 7919 % repeated.blocks.size();
      const DeviceBlock& block = repeated.blocks[index];
      const std::uint64_t begin = block.position % source.bytes.size();
      const std::string difference =
          differ(index, {std::span(source.bytes)
                             .subspan(begin - block.history_bytes, block.history_bytes + block.block_bytes),
                         block.history_bytes});
      if (difference.empty()) return;
      const std::lock_guard lock(telling);
      fmt::print(stderr, "{}: block {}: {}\n", source.name, index, difference);
      same = false;
    });
    return same;
  }

  std::string records_differ(const Repeated& repeated, std::size_t index,
                             const MatchRecords& expected) const {
    const DeviceBlock& block = repeated.blocks[index];
    const std::vector<MatchRecord> records =
        download(memory_.d_records.get() + block.position, block.block_bytes, stream_);
    for (std::size_t p = 0; p < records.size(); ++p)
      if (records[p] != expected[p])
        return fmt::format("position {}: should be ({}, {}), is ({}, {})", p, record_offset(expected[p]),
                           record_length(expected[p]), record_offset(records[p]), record_length(records[p]));
    return {};
  }

  std::string sequences_differ(const Repeated& repeated, std::size_t index,
                               const MatchRecords& records) const {
    const std::vector<Sequence> expected = parse_optimal({records, kPlan}, kCosts);
    const std::vector<Sequence> sequences = sequences_of(repeated, index);
    if (sequences.size() != expected.size())
      return fmt::format("should be {} sequences, are {}", expected.size(), sequences.size());
    for (std::size_t i = 0; i < sequences.size(); ++i) {
      const Sequence &is = sequences[i], &should = expected[i];
      if (is.literal_count != should.literal_count || is.match_length != should.match_length ||
          is.offset != should.offset)
        return fmt::format("sequence {}: should be ({}, {}, {}), is ({}, {}, {})", i, should.literal_count,
                           should.match_length, should.offset, is.literal_count, is.match_length, is.offset);
    }
    return {};
  }

  std::vector<Sequence> sequences_of(const Repeated& repeated, std::size_t index) const {
    const std::uint32_t count = download(memory_.d_counts.get() + index, 1, stream_)[0];
    return download(memory_.d_sequences.get() + first_sequence(repeated.blocks[index].position,
                                                               static_cast<std::uint32_t>(index), kPlan),
                    count, stream_);
  }

  std::uint64_t cost_of_first_copy(const Repeated& repeated) const {
    const std::size_t count = repeated.blocks_in_a_copy;
    const DeviceBlock& last = repeated.blocks[count - 1];
    const std::vector<std::uint32_t> counts = download(memory_.d_counts.get(), count, stream_);
    const std::vector<Sequence> sequences = download(
        memory_.d_sequences.get(),
        first_sequence(last.position, static_cast<std::uint32_t>(count - 1), kPlan) + counts.back(), stream_);
    std::uint64_t cost = 0;
    for (std::size_t i = 0; i < count; ++i)
      cost += parse_cost(
          std::span(sequences).subspan(
              first_sequence(repeated.blocks[i].position, static_cast<std::uint32_t>(i), kPlan), counts[i]),
          kCosts);
    return cost;
  }

  std::vector<Source> sources_;
  int runs_;
  cuda::Stream stream_;
  Memory memory_;
  std::map<std::string, Json> slowest_;  // for the current configuration, by what was timed
  bool all_verified_ = true;
};

int measure_all(int argument_count, char** arguments) {
  const double gigabytes = argument_count > 2 ? std::atof(arguments[2]) : 2;
  const int runs = argument_count > 3 ? std::atoi(arguments[3]) : 5;
  std::vector<Source> sources;
  Source corpus{"corpus", {}, Kind::kCorpus};
  for (const char* name : kRealFiles) {
    sources.push_back(
        {name, testing::read_file(std::filesystem::path(arguments[1]) / "silesia" / name), Kind::kReal});
    corpus.bytes.insert(corpus.bytes.end(), sources.back().bytes.begin(), sources.back().bytes.end());
  }
  sources.push_back(std::move(corpus));
  sources.push_back({"zeros", Bytes(kMadeBytes, std::byte{0}), Kind::kMade});
  for (const std::size_t period : {2, 11, 300, 4096})
    sources.push_back(
        {fmt::format("period {}", period), testing::periodic_bytes(kMadeBytes, period), Kind::kMade});
  sources.push_back({"random", testing::random_bytes(kMadeBytes, 1), Kind::kMade});

  const auto chain = [](std::uint32_t depth, std::uint32_t cap_bytes, std::uint32_t window_bytes) {
    return HashChainParameters{
        .hash_bits = 14,
        .depth = depth,
        .cap_bytes = cap_bytes,
        .window_bytes = window_bytes,
        .stitch_reach = depth < 64 ? kHashChainStitchReach : kHashChainDeepStitchReach};
  };
  const Config configs[] = {
      {"d1s", 65536, 32768, chain(1, 64, 32768), true},  // at depth 1, the records are the same with any cap
      {"d4s", 65536, 32768, chain(4, 64, 32768), true},
      {"d64s", 65536, 32768, chain(64, 64, 32768), true},
      {"d4s", 65536, 0, chain(4, 64, 65535), false, true},
      {"d64s", 65536, 0, chain(64, 64, 65535), false, true},
      {"lz4 3", 262'144, 0, lz4_level(3, 262'144).finder, false, true},
      {"lazy_scan", 65536, 32768, LazyScanParameters::from(LazyScanParameters::defaults()), false, true},
  };
  Bench all(std::move(sources), static_cast<std::uint64_t>(gigabytes * 1e9), runs);
  for (const Config& config : configs)
    if (argument_count <= 4 || std::find(arguments + 4, arguments + argument_count,
                                         std::string_view(config.level)) != arguments + argument_count)
      all.measure(config);
  return all.all_verified() ? 0 : 1;
}

}  // namespace
}  // namespace hemstitch

int main(int argument_count, char** arguments) {
  if (argument_count < 2) {
    fmt::print(stderr, "usage: find_device_bench FOLDER [TOTAL_GB [RUNS [LEVEL...]]]\n");
    return 2;
  }
  try {
    return hemstitch::measure_all(argument_count, arguments);
  } catch (const std::exception& error) {
    fmt::print(stderr, "find_device_bench: {}\n", error.what());
    return 1;
  }
}
