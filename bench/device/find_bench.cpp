// Speed of the device's finders on real files, device-resident.
//
// For each file and level: builds the chains, or finds (build included), over the file repeated to `total` bytes, in
// blocks with up to 32 KB of the same copy before them, or with none; warms up, takes the median of five runs (or RUNS) between
// events, and holds a sample of blocks against the twin. One JSON row a line, as in bench/results.
//
//   find_bench CORPORA [TOTAL_GB [RUNS]]
#include <cuda_runtime.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "device/cuda/device_block.hpp"
#include "device/cuda/device_buffer.hpp"
#include "match/hash_chain/hash_chain.hpp"
#include "match/hash_chain/hash_chain_cuda.hpp"
#include "match/hash_step/hash_step.hpp"
#include "match/hash_step/hash_step_cuda.hpp"
#include "shapes.hpp"

namespace hemstitch {
namespace {

using testing::Bytes;

constexpr const char* kFiles[] = {"dickens", "mr", "nci", "osdb", "samba", "xml", "x-ray"};

struct Source {
  std::string name;
  Bytes bytes;
};

// Memory for all runs: allocating gigabytes takes longer than a run.
struct Memory {
  Memory(std::uint64_t total_bytes, const cuda::Stream& stream)
      : d_data(total_bytes, stream.get()),
        d_records(total_bytes, stream.get()),
        d_scratch(4 * total_bytes, stream.get()) {}

  cuda::DeviceBuffer<std::byte> d_data;
  cuda::DeviceBuffer<MatchRecord> d_records;
  cuda::DeviceBuffer<std::byte> d_scratch;
};

// A file repeated on the device, as often as it fits, cut into blocks.
struct Repeated {
  Repeated(const Source& source, const Memory& memory, std::uint32_t block_bytes, std::uint32_t history_bytes,
           const cuda::Stream& stream) {
    const std::uint64_t copies = memory.d_data.bytes() / source.bytes.size();
    std::byte* d_data = memory.d_data.get();
    for (std::uint64_t copy = 0; copy < copies; ++copy) {
      cuda::check(copy == 0 ? cudaMemcpyAsync(d_data, source.bytes.data(), source.bytes.size(),
                                              cudaMemcpyHostToDevice, stream.get())
                            : cudaMemcpyAsync(d_data + copy * source.bytes.size(), d_data,
                                              source.bytes.size(), cudaMemcpyDeviceToDevice, stream.get()),
                  "cudaMemcpyAsync");
      for (std::uint64_t begin = 0; begin < source.bytes.size(); begin += block_bytes) {
        const std::uint64_t position = copy * source.bytes.size() + begin;
        blocks.push_back(
            {d_data + position,
             static_cast<std::uint32_t>(std::min<std::uint64_t>(block_bytes, source.bytes.size() - begin)),
             static_cast<std::uint32_t>(std::min<std::uint64_t>(begin, history_bytes)), position});
      }
    }
    d_blocks = cuda::DeviceBuffer<DeviceBlock>(blocks.size(), stream.get());
    d_blocks.upload(blocks);
    batch = {d_blocks.get(), static_cast<std::uint32_t>(blocks.size()), block_bytes, history_bytes,
             copies * source.bytes.size()};
    stream.synchronize();
  }

  std::vector<DeviceBlock> blocks;
  cuda::DeviceBuffer<DeviceBlock> d_blocks;
  DeviceBlocks batch;
};

double median_seconds(int runs, const cuda::Stream& stream, const std::function<void()>& work) {
  cudaEvent_t begin, end;
  cuda::check(cudaEventCreate(&begin), "cudaEventCreate");
  cuda::check(cudaEventCreate(&end), "cudaEventCreate");
  std::vector<float> milliseconds;
  for (int run = 0; run <= runs; ++run) {
    cuda::check(cudaEventRecord(begin, stream.get()), "cudaEventRecord");
    work();
    cuda::check(cudaEventRecord(end, stream.get()), "cudaEventRecord");
    cuda::check(cudaEventSynchronize(end), "cudaEventSynchronize");
    float elapsed = 0;
    cuda::check(cudaEventElapsedTime(&elapsed, begin, end), "cudaEventElapsedTime");
    if (run > 0) milliseconds.push_back(elapsed);  // the first warms up
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  std::nth_element(milliseconds.begin(), milliseconds.begin() + runs / 2, milliseconds.end());
  return milliseconds[runs / 2] / 1000.0;
}

// Whether the records of some blocks are those of the twin.
bool verify(const Source& source, const Repeated& repeated, const cuda::DeviceBuffer<MatchRecord>& d_records,
            const cuda::Stream& stream, const std::function<MatchRecords(const FinderInput&)>& twin) {
  for (std::size_t sample = 0; sample < 6; ++sample) {
    const DeviceBlock& block = repeated.blocks[sample * 7919 % repeated.blocks.size()];
    const std::uint64_t begin = block.position % source.bytes.size();
    const FinderInput input{
        std::span(source.bytes).subspan(begin - block.history_bytes, block.history_bytes + block.block_bytes),
        block.history_bytes};
    MatchRecords records(block.block_bytes);
    cuda::check(cudaMemcpyAsync(records.data(), d_records.get() + block.position,
                                records.size() * sizeof(MatchRecord), cudaMemcpyDeviceToHost, stream.get()),
                "cudaMemcpyAsync");
    stream.synchronize();
    const MatchRecords expected = twin(input);
    for (std::size_t p = 0; p < records.size(); ++p)
      if (records[p] != expected[p]) {
        fmt::print(stderr, "{}: block at {}, position {}: should be ({}, {}), is ({}, {})\n", source.name,
                   begin, p, record_offset(expected[p]), record_length(expected[p]),
                   record_offset(records[p]), record_length(records[p]));
        return false;
      }
  }
  return true;
}

struct Config {
  const char* level;
  std::uint32_t block_bytes;
  std::uint32_t history_bytes;
  HashChainParameters chain;  // depth 0: hash_step
  HashStepParameters step;
};

void print_row(const char* what, const Config& config, const std::string& file, std::uint64_t bytes,
               double seconds, bool verified) {
  fmt::print(
      "{{\"what\":\"{}\",\"backend\":\"cuda\",\"level\":\"{}\",\"block_bytes\":{},\"history_bytes\":{},"
      "\"file\":\"{}\","
      "\"bytes\":{},\"gbps\":{:.2f},\"span\":\"kernel\",\"verified\":{}}}\n",
      what, config.level, config.block_bytes, config.history_bytes, file, bytes,
      static_cast<double>(bytes) / seconds / 1e9, verified);
  std::fflush(stdout);
}

void run(const Source& source, const Config& config, const Memory& memory, int runs,
         const cuda::Stream& stream) {
  const Repeated repeated(source, memory, config.block_bytes, config.history_bytes, stream);
  const bool step = config.chain.depth == 0;
  const std::size_t scratch_bytes =
      step ? cuda::find_hash_step_cuda_scratch_bytes(repeated.batch, config.step)
           : cuda::find_hash_chain_cuda_scratch_bytes(repeated.batch, config.chain);
  const cuda::DeviceBuffer<std::byte>& d_scratch = memory.d_scratch;
  const cuda::DeviceBuffer<MatchRecord>& d_records = memory.d_records;
  const std::uint64_t bytes = repeated.batch.total_block_bytes;
  if (!step && config.chain.depth <= 4)
    print_row("build", config, source.name, bytes,
              median_seconds(runs, stream,
                             [&] {
                               cuda::build_hash_chains_cuda(repeated.batch, config.chain, d_scratch.get(),
                                                            scratch_bytes, stream.get());
                             }),
              true);
  const double seconds = median_seconds(runs, stream, [&] {
    if (step)
      cuda::find_hash_step_cuda(repeated.batch, config.step, d_records.get(), d_scratch.get(), scratch_bytes,
                                stream.get());
    else
      cuda::find_hash_chain_cuda(repeated.batch, config.chain, d_records.get(), d_scratch.get(),
                                 scratch_bytes, stream.get());
  });
  const bool verified = verify(source, repeated, d_records, stream, [&](const FinderInput& input) {
    return step ? find_hash_step(input, config.step) : find_hash_chain(input, config.chain);
  });
  print_row("find", config, source.name, bytes, seconds, verified);
}

}  // namespace
}  // namespace hemstitch

int main(int argument_count, char** arguments) {
  using namespace hemstitch;
  if (argument_count < 2) {
    fmt::print(stderr, "usage: find_bench CORPORA [TOTAL_GB [RUNS]]\n");
    return 1;
  }
  const std::uint64_t total_bytes =
      static_cast<std::uint64_t>((argument_count > 2 ? std::atof(arguments[2]) : 2.0) * 1e9);
  const cuda::Stream stream;
  const Memory memory(total_bytes, stream);
  const int runs = argument_count > 3 ? std::atoi(arguments[3]) : 5;
  std::vector<Source> sources;
  Source corpus{"corpus", {}};
  for (const char* name : kFiles) {
    sources.push_back({name, testing::read_file(std::filesystem::path(arguments[1]) / "silesia" / name)});
    corpus.bytes.insert(corpus.bytes.end(), sources.back().bytes.begin(), sources.back().bytes.end());
  }
  sources.push_back(std::move(corpus));
  constexpr std::size_t kSynthetic = 16 << 20;
  sources.push_back({"zeros", Bytes(kSynthetic, std::byte{0})});
  for (const std::size_t period : {2, 11, 300, 4096})
    sources.push_back({fmt::format("period {}", period), testing::periodic_bytes(kSynthetic, period)});
  sources.push_back({"random", testing::random_bytes(kSynthetic, 1)});

  const auto chain = [](std::uint32_t depth, std::uint32_t cap_bytes, std::uint32_t window_bytes) {
    return HashChainParameters{
        .hash_bits = 14, .depth = depth, .cap_bytes = cap_bytes, .window_bytes = window_bytes};
  };
  const Config configs[] = {
      {"d1s", 65536, 32768, chain(1, 64, 32768), {}},  // at depth 1 any cap gives the same records
      {"d4s", 65536, 32768, chain(4, 64, 32768), {}},
      {"d64s", 65536, 32768, chain(64, 64, 32768), {}},
      {"d4s", 65536, 0, chain(4, 64, 65535), {}},
      {"d64s", 65536, 0, chain(64, 64, 65535), {}},
      {"lz4 1", 65536, 0, {.depth = 0}, {.hash_bits = 13, .cap_bytes = 16}},
      {"lz4 3", 262'144, 0, chain(4, 64, 65535), {}},
      {"lz4 1", 4096, 0, {.depth = 0}, {.hash_bits = 11, .cap_bytes = 16}},
  };
  for (const Config& config : configs)
    for (const Source& source : sources) run(source, config, memory, runs, stream);
  return 0;
}
