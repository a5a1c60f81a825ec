// Speed of what a device does for DEFLATE before it encodes: hash_chain, near_three, and a first and a second
// pass of the parse of chunks. All data stays on the device.
//
// Each of the nine Silesia files, and all of them together, is repeated to TOTAL_GB: in blocks of 1 MiB with
// up to 32 KB of the same copy before them, or in BGZF's blocks of 65,280 bytes without history. Rows name
// what was timed, with events, after one call to warm up. A figure is the median of RUNS calls. The first
// pass uses the prior prices, the second random ones (at level 12, for each 8 KB). A sample of the blocks is
// compared with the twins: near_three's offsets, and the results of both passes for the device's own
// candidates.
//
//   deflate_parse_device_bench FOLDER [TOTAL_GB [RUNS [LEVEL...]]]
//
// Defaults: 0.5 GB, 5 runs, levels 1 6 9 12. FOLDER/silesia has the files.
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

#include "deflate_prices.hpp"
#include "device_timing.hpp"
#include "format/deflate/compress/parse/deflate_parse_cuda.hpp"
#include "gpu/cuda/device_buffer.hpp"
#include "match/hash_chain/hash_chain_cuda.hpp"
#include "match/near_three/near_three_cuda.hpp"
#include "shapes.hpp"

namespace hemstitch {
namespace {

using testing::Bytes;
using Json = nlohmann::ordered_json;

constexpr const char* kFiles[] = {"dickens", "mr",    "nci",   "ooffice", "osdb",
                                  "reymont", "samba", "x-ray", "xml"};
constexpr std::size_t kSampledBlocks = 12;

struct Cut {
  std::uint32_t block_bytes, history_bytes;
};
constexpr Cut kCuts[] = {{1 << 20, 32768}, {65280, 0}};

struct Source {
  std::string name;
  Bytes bytes;
};

// An input, repeated on the device, cut into blocks, and the blocks into chunks.
struct Repeated {
  Repeated(const Source& source, std::uint64_t copies, const Cut& cut, const cuda::Stream& stream)
      : d_data(copies * source.bytes.size(), stream.get()) {
    std::vector<DeviceBlock> device_chunks;
    for (std::uint64_t copy = 0; copy < copies; ++copy) {
      cuda::check(cudaMemcpyAsync(d_data.get() + copy * source.bytes.size(), source.bytes.data(),
                                  source.bytes.size(), cudaMemcpyHostToDevice, stream.get()),
                  "cudaMemcpyAsync");
      for (std::uint64_t begin = 0; begin < source.bytes.size(); begin += cut.block_bytes) {
        const std::uint64_t position = copy * source.bytes.size() + begin;
        const auto block_bytes =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(cut.block_bytes, source.bytes.size() - begin));
        first_chunk.push_back(device_chunks.size());
        host_blocks.push_back({d_data.get() + position, block_bytes,
                               static_cast<std::uint32_t>(std::min<std::uint64_t>(begin, cut.history_bytes)),
                               position});
        for (std::uint32_t chunk = 0; chunk < block_bytes; chunk += kDeflateChunkBytes)
          device_chunks.push_back({d_data.get() + position + chunk,
                                   std::min<std::uint32_t>(kDeflateChunkBytes, block_bytes - chunk), 0,
                                   position + chunk});
      }
    }
    const auto batch = [&](cuda::DeviceBuffer<DeviceBlock>& d_blocks, const std::vector<DeviceBlock>& all,
                           std::uint32_t most_bytes, std::uint32_t history_bytes) -> DeviceBlocks {
      d_blocks = cuda::DeviceBuffer<DeviceBlock>(all.size(), stream.get());
      d_blocks.upload(all);
      return {d_blocks.get(), static_cast<std::uint32_t>(all.size()), most_bytes, history_bytes,
              d_data.bytes()};
    };
    blocks = batch(d_blocks_, host_blocks, cut.block_bytes, cut.history_bytes);
    chunks = batch(d_chunks_, device_chunks, std::min<std::uint32_t>(cut.block_bytes, kDeflateChunkBytes), 0);
    stream.synchronize();
  }

  cuda::DeviceBuffer<std::byte> d_data;
  std::vector<DeviceBlock> host_blocks;
  std::vector<std::size_t> first_chunk;  // of each block
  DeviceBlocks blocks, chunks;

 private:
  cuda::DeviceBuffer<DeviceBlock> d_blocks_, d_chunks_;
};

template <class T>
std::vector<T> download(const T* d_from, std::size_t count, const cuda::Stream& stream) {
  std::vector<T> into(count);
  cuda::check(cudaMemcpyAsync(into.data(), d_from, count * sizeof(T), cudaMemcpyDeviceToHost, stream.get()),
              "cudaMemcpyAsync");
  stream.synchronize();
  return into;
}

// The results of finding and parsing a batch.
struct Results {
  Results(const Repeated& repeated, const DeflateLevel& level, const cuda::Stream& stream)
      : d_records(repeated.d_data.bytes(), stream.get()),
        d_near_offsets(repeated.d_data.bytes(), stream.get()),
        d_sequences(cuda::device_sequence_capacity(repeated.chunks, deflate_block_plan()), stream.get()),
        d_counts(repeated.chunks.block_count, stream.get()),
        d_total(1, stream.get()),
        d_scratch(std::max({cuda::find_hash_chain_cuda_scratch_bytes(repeated.blocks, level.finder),
                            cuda::find_near_three_cuda_scratch_bytes(repeated.blocks, level.near),
                            cuda::parse_deflate_cuda_scratch_bytes(repeated.chunks)}),
                  stream.get()) {}
  cuda::DeviceSequences sequences() const { return {d_sequences.get(), d_counts.get(), d_total.get()}; }

  cuda::DeviceBuffer<MatchRecord> d_records;
  cuda::DeviceBuffer<std::uint16_t> d_near_offsets;
  cuda::DeviceBuffer<Sequence> d_sequences;
  cuda::DeviceBuffer<std::uint32_t> d_counts;
  cuda::DeviceBuffer<std::uint64_t> d_total;
  cuda::DeviceBuffer<std::byte> d_scratch;
};

class Bench {
 public:
  Bench(std::uint64_t total_bytes, int runs) : total_bytes_(total_bytes), runs_(runs) {
    for (std::uint32_t seed = 0; seed < 1000; ++seed) some_costs_.push_back(testing::random_costs(seed, 15));
  }

  void measure(const Source& source, const Cut& cut, int level_number) {
    const DeflateLevel level = deflate_level(level_number);
    const Repeated repeated(source, std::max<std::uint64_t>(total_bytes_ / source.bytes.size(), 1), cut,
                            stream_);
    const Results results(repeated, level, stream_);
    const std::uint32_t per_chunk = level.splits ? kDeflateChunkUnits : 1;
    const std::size_t costs_count = std::size_t{repeated.chunks.block_count} * per_chunk;
    const std::vector<DeflateDeviceCosts> prior(costs_count, testing::device_costs(deflate_prior_costs()));
    std::vector<DeflateDeviceCosts> random;
    for (std::size_t i = 0; i < costs_count; ++i) random.push_back(some_costs_[i % some_costs_.size()]);
    cuda::DeviceBuffer<DeflateDeviceCosts> d_prior(costs_count, stream_.get());
    cuda::DeviceBuffer<DeflateDeviceCosts> d_random(costs_count, stream_.get());
    d_prior.upload(prior);
    d_random.upload(random);
    stream_.synchronize();

    void* const d_scratch = results.d_scratch.get();
    const std::size_t scratch_bytes = results.d_scratch.bytes();
    const auto parse = [&](auto& pass, const cuda::DeviceBuffer<DeflateDeviceCosts>& d_costs) {
      pass(repeated.chunks, results.d_records.get(), results.d_near_offsets.get(), d_costs.get(), per_chunk,
           results.sequences(), d_scratch, scratch_bytes, stream_.get());
    };
    const std::vector<double> seconds = bench::median_step_seconds(
        stream_.get(), runs_,
        {[&] {
           cuda::find_hash_chain_cuda(repeated.blocks, level.finder, results.d_records.get(), d_scratch,
                                      scratch_bytes, stream_.get());
         },
         [&] {
           cuda::find_near_three_cuda(repeated.blocks, level.near, results.d_near_offsets.get(), d_scratch,
                                      scratch_bytes, stream_.get());
         },
         [&] { parse(cuda::parse_deflate_cuda, d_prior); },
         [&] { parse(cuda::parse_deflate_again_cuda, d_random); }});
    const bool again_is_right = parses_as_the_twin(source, repeated, results, random, per_chunk);
    parse(cuda::parse_deflate_cuda, d_prior);
    const bool parse_is_right = parses_as_the_twin(source, repeated, results, prior, per_chunk);
    const bool near_is_right = finds_as_the_twin(source, repeated, results, level);
    const char* const names[] = {"hash_chain", "near_three", "parse", "parse again", "all"};
    const bool verified[] = {true, near_is_right, parse_is_right, again_is_right,
                             near_is_right && parse_is_right && again_is_right};
    for (std::size_t i = 0; i < seconds.size(); ++i) {
      const Json row{{"what", names[i]},
                     {"backend", "cuda"},
                     {"level", level_number},
                     {"block_bytes", cut.block_bytes},
                     {"history_bytes", cut.history_bytes},
                     {"file", source.name},
                     {"bytes", repeated.d_data.bytes()},
                     {"gbps", static_cast<double>(repeated.d_data.bytes()) / seconds[i] * 1e-9},
                     {"span", "kernel"},
                     {"verified", verified[i]}};
      all_verified_ = all_verified_ && verified[i];
      fmt::print("{}\n", row.dump());
    }
    std::fflush(stdout);
  }
  bool all_verified() const { return all_verified_; }

 private:
  // Calls `check(block)` for a sample of blocks, on all cores. It returns what is wrong; this returns whether
  // nothing is.
  template <class Check>
  bool holds(const Source& source, const Repeated& repeated, const Check& check) const {
    std::atomic<bool> all = true;
    std::mutex telling;
    tbb::parallel_for(std::size_t{0}, kSampledBlocks, [&](std::size_t sample) {
      const std::size_t block = sample * 7919 % repeated.host_blocks.size();
      const std::string wrong = check(block);
      if (wrong.empty()) return;
      const std::lock_guard lock(telling);
      fmt::print(stderr, "{}: block {}: {}\n", source.name, block, wrong);
      all = false;
    });
    return all;
  }

  static std::span<const std::byte> content(const Source& source, const DeviceBlock& block,
                                            std::uint32_t history_bytes) {
    return std::span(source.bytes)
        .subspan(block.position % source.bytes.size() - history_bytes, history_bytes + block.block_bytes);
  }

  bool finds_as_the_twin(const Source& source, const Repeated& repeated, const Results& results,
                         const DeflateLevel& level) const {
    return holds(source, repeated, [&](std::size_t index) -> std::string {
      const DeviceBlock& block = repeated.host_blocks[index];
      const FinderInput input{content(source, block, block.history_bytes), block.history_bytes};
      const bool same = find_near_three(input, level.near) ==
                        download(results.d_near_offsets.get() + block.position, block.block_bytes, stream_);
      return same ? "" : "near_three differs";
    });
  }

  bool parses_as_the_twin(const Source& source, const Repeated& repeated, const Results& results,
                          const std::vector<DeflateDeviceCosts>& costs, std::uint32_t per_chunk) const {
    return holds(source, repeated, [&](std::size_t index) -> std::string {
      const DeviceBlock& block = repeated.host_blocks[index];
      const auto bytes = content(source, block, 0);
      std::size_t chunk = repeated.first_chunk[index];
      for (std::uint32_t begin = 0; begin < block.block_bytes; begin += kDeflateChunkBytes, ++chunk) {
        const std::size_t count = std::min<std::size_t>(kDeflateChunkBytes, block.block_bytes - begin);
        const std::uint64_t position = block.position + begin;
        const auto records = download(results.d_records.get() + position, count, stream_);
        const auto near_offsets = download(results.d_near_offsets.get() + position, count, stream_);
        const std::vector<Sequence> expected =
            testing::parse_deflate_chunk(bytes.subspan(begin, count), records, near_offsets,
                                         std::span(costs).subspan(chunk * per_chunk, per_chunk));
        const std::uint32_t listed = download(results.d_counts.get() + chunk, 1, stream_)[0];
        const std::uint64_t first =
            first_sequence(position, static_cast<std::uint32_t>(chunk), deflate_block_plan());
        if (listed != expected.size())
          return fmt::format("chunk at {}: should be {} sequences, are {}", begin, expected.size(), listed);
        const std::vector<Sequence> sequences = download(results.d_sequences.get() + first, listed, stream_);
        for (std::size_t i = 0; i < listed; ++i)
          if (sequences[i].literal_count != expected[i].literal_count ||
              sequences[i].match_length != expected[i].match_length ||
              sequences[i].offset != expected[i].offset)
            return fmt::format("chunk at {}: sequence {} differs", begin, i);
      }
      return "";
    });
  }

  std::uint64_t total_bytes_;
  int runs_;
  std::vector<DeflateDeviceCosts> some_costs_;
  cuda::Stream stream_;
  bool all_verified_ = true;
};

int measure_all(int argument_count, char** arguments) {
  const double gigabytes = argument_count > 2 ? std::atof(arguments[2]) : 0.5;
  const int runs = argument_count > 3 ? std::atoi(arguments[3]) : 5;
  std::vector<int> levels;
  for (int i = 4; i < argument_count; ++i) levels.push_back(std::atoi(arguments[i]));
  if (levels.empty()) levels = {1, 6, 9, 12};
  std::vector<Source> sources;
  Source all{"silesia", {}};
  for (const char* name : kFiles) {
    sources.push_back({name, testing::read_file(std::filesystem::path(arguments[1]) / "silesia" / name)});
    all.bytes.insert(all.bytes.end(), sources.back().bytes.begin(), sources.back().bytes.end());
  }
  sources.push_back(std::move(all));
  Bench bench(static_cast<std::uint64_t>(gigabytes * 1e9), runs);
  for (const Cut& cut : kCuts)
    for (const int level : levels)
      for (const Source& source : sources)
        // For BGZF, the corpus is enough.
        if (cut.history_bytes != 0 || source.name == "silesia") bench.measure(source, cut, level);
  return bench.all_verified() ? 0 : 1;
}

}  // namespace
}  // namespace hemstitch

int main(int argument_count, char** arguments) {
  if (argument_count < 2) {
    fmt::print(stderr, "usage: deflate_parse_device_bench FOLDER [TOTAL_GB [RUNS [LEVEL...]]]\n");
    return 2;
  }
  try {
    return hemstitch::measure_all(argument_count, arguments);
  } catch (const std::exception& error) {
    fmt::print(stderr, "deflate_parse_device_bench: {}\n", error.what());
    return 1;
  }
}
