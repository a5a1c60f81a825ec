// What the parses cost on a CUDA device, alone: records are found beforehand, by the twin, and lie on the device.
//
//   parse_device_bench FOLDER [GIGABYTES [FILE...]]
//
// FOLDER holds silesia/; files are all of it, or those named and their sum. Each file's blocks are repeated until there are GIGABYTES (2) of input; a position has one
// record. Every figure is the median of five runs after one to warm up. Prints one row of a recorded run a line; a
// row is verified when the lists of the file's first copy equal the twins'. Rows whose level names a kernel's shape
// ("near 64, 12 warps a multiprocessor") time that kernel alone: they are what the tuning headers were chosen by.
#include <tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "compact/scan/scan_cuda.hpp"
#include "device_array.hpp"
#include "device_timing.hpp"
#include "format/lz4/compress/lz4_lengths.cuh"
#include "gpu/cuda/cuda_error.hpp"
#include "match/hash_chain/hash_chain.hpp"
#include "parse/greedy/greedy.hpp"
#include "parse/greedy/greedy_cuda.hpp"
#include "parse/lazy/lazy.hpp"
#include "parse/lazy/lazy_cuda.hpp"
#include "parse/optimal/optimal_cuda.hpp"
#include "parse/optimal/optimal_kernel.cuh"
#include "parse/optimal/optimal_reference.hpp"
#include "parse/parse.hpp"
#include "parse/walk/walk.cuh"
#include "shapes.hpp"

namespace hemstitch {
namespace {

using bench::DeviceArray;
using bench::median_seconds;
using cuda::check;

constexpr int kRuns = 5;

class Bench {
 public:
  // `bytes` in blocks of 64 KB, found by depth 4 and the stitch, then repeated up to `gigabytes`.
  Bench(std::string file, const std::vector<std::byte>& bytes, double gigabytes) : file_(std::move(file)) {
    constexpr std::size_t kFoundBlockBytes = 65536;
    records_.resize(bytes.size());
    tbb::parallel_for(
        std::size_t{0}, (bytes.size() + kFoundBlockBytes - 1) / kFoundBlockBytes, [&](std::size_t i) {
          const std::size_t begin = i * kFoundBlockBytes;
          const auto block =
              std::span(bytes).subspan(begin, std::min(kFoundBlockBytes, bytes.size() - begin));
          const MatchRecords found = find_hash_chain({block, 0}, {.hash_bits = 13, .depth = 4});
          std::copy(found.begin(), found.end(), records_.begin() + static_cast<std::ptrdiff_t>(begin));
        });
    copies_ = std::max<std::size_t>(
        1, static_cast<std::size_t>(gigabytes * 1e9 / static_cast<double>(bytes.size())));
    total_ = copies_ * records_.size();
    d_records_ = std::make_unique<DeviceArray<MatchRecord>>(total_);
    for (std::size_t copy = 0; copy < copies_; ++copy)
      if (copy == 0)
        check(cudaMemcpy(d_records_->data, records_.data(), records_.size() * 4, cudaMemcpyHostToDevice),
              "cudaMemcpy");
      else
        check(cudaMemcpy(d_records_->data + copy * records_.size(), d_records_->data, records_.size() * 4,
                         cudaMemcpyDeviceToDevice),
              "cudaMemcpy");
  }

  void run(std::uint32_t block_bytes, bool shapes) {
    block_bytes_ = block_bytes;
    std::vector<DeviceBlock> blocks;
    for (std::size_t copy = 0; copy < copies_; ++copy)
      for (std::size_t begin = 0; begin < records_.size(); begin += block_bytes)
        blocks.push_back(
            {nullptr, static_cast<std::uint32_t>(std::min<std::size_t>(block_bytes, records_.size() - begin)),
             0, copy * records_.size() + begin});
    DeviceArray<DeviceBlock> d_blocks(blocks.size());
    check(
        cudaMemcpy(d_blocks.data, blocks.data(), blocks.size() * sizeof(DeviceBlock), cudaMemcpyHostToDevice),
        "cudaMemcpy");
    const DeviceBlocks batch{d_blocks.data, static_cast<std::uint32_t>(blocks.size()), block_bytes, 0,
                             total_};

    const BlockPlan plan = lz4_block_plan();
    DeviceArray<Sequence> d_sequences(cuda::device_sequence_capacity(batch, plan));
    DeviceArray<std::uint32_t> d_counts(blocks.size());
    DeviceArray<std::uint64_t> d_total(1);
    const cuda::DeviceSequences out{d_sequences.data, d_counts.data, d_total.data};
    const Lz4CostModel lz4;
    const FullLengthCostModel flat;
    DeviceArray<std::byte> d_scratch(std::max(cuda::parse_optimal_cuda_scratch_bytes(batch, lz4),
                                              cuda::parse_optimal_cuda_scratch_bytes(batch, flat)));

    const auto measure = [&](const char* level, const std::function<void()>& parse,
                             const std::function<std::vector<Sequence>(const ParseInput&)>& twin) {
      const double seconds = median_seconds(nullptr, kRuns, parse);
      row(level, seconds, verified(blocks, out, plan, twin));
    };
    measure(
        "greedy", [&] { cuda::parse_greedy_cuda(batch, d_records_->data, plan, out, nullptr); },
        [](const ParseInput& input) { return parse_greedy(input); });
    measure(
        "lazy", [&] { cuda::parse_lazy_cuda(batch, d_records_->data, plan, 0, out, nullptr); },
        [](const ParseInput& input) { return parse_lazy(input); });
    measure(
        "optimal",
        [&] {
          cuda::parse_optimal_cuda(batch, d_records_->data, plan, lz4, out, d_scratch.data, d_scratch.count,
                                   nullptr);
        },
        [&](const ParseInput& input) { return parse_optimal(input, lz4); });
    measure(
        "optimal, flat",
        [&] {
          cuda::parse_optimal_cuda(batch, d_records_->data, plan, flat, out, d_scratch.data, d_scratch.count,
                                   nullptr);
        },
        [&](const ParseInput& input) { return parse_optimal(input, flat); });
    if (shapes) measure_shapes(batch, blocks, plan, out);
  }

 private:
  void measure_shapes(const DeviceBlocks& batch, const std::vector<DeviceBlock>& blocks,
                      const BlockPlan& plan, const cuda::DeviceSequences& out) {
    std::vector<std::uint64_t> first_segment = {0};
    for (const DeviceBlock& block : blocks)
      first_segment.push_back(first_segment.back() + cuda::segment_count(block.block_bytes));
    DeviceArray<std::uint64_t> d_first_segment(first_segment.size());
    check(cudaMemcpy(d_first_segment.data, first_segment.data(), first_segment.size() * 8,
                     cudaMemcpyHostToDevice),
          "cudaMemcpy");
    DeviceArray<std::uint16_t> d_lengths(total_);
    int multiprocessors = 0;
    check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0),
          "cudaDeviceGetAttribute");
    constexpr int kMostWarps = 24;
    DeviceArray<uint4> d_far(std::size_t{kMostWarps} * static_cast<unsigned>(multiprocessors) *
                             cuda::kFarBatches * 32);

    const cuda::StoredDecision decide{d_lengths.data};
    const auto walk = [&](auto kernel) {
      kernel<<<batch.block_count, cuda::kWalkThreads>>>(batch.d_blocks, decide,
                                                        cuda::RecordOffset<>{d_records_->data}, plan, out);
      cuda::check_launch("walk");
    };
    // Decisions alone are no lists: a walk makes those, behind the time.
    const auto solve = [&](auto kernel, const auto& model, const char* level) {
      int most_warps = 0;
      check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&most_warps, kernel, 32, 0), "occupancy");
      for (const int warps : {6, 8, 12, 16, 24}) {
        const int resident = std::min(warps, most_warps);
        const double seconds = median_seconds(nullptr, kRuns, [&] {
          kernel<<<multiprocessors * resident, 32>>>(batch.d_blocks, batch.block_count, d_first_segment.data,
                                                     d_records_->data, plan, model, d_lengths.data,
                                                     d_far.data);
          cuda::check_launch("solve");
        });
        walk(cuda::walk_block<32, cuda::StoredDecision>);
        row("solve, " + std::string(level) + ", " + std::to_string(resident) + " warps", seconds,
            verified(blocks, out, plan,
                     [&](const ParseInput& input) { return parse_optimal(input, model); }));
        if (resident < warps) break;
      }
    };
    const Lz4CostModel lz4;
    const FullLengthCostModel flat;
    solve(cuda::solve_segments<FullLengthCostModel, true, 64>, flat, "flat");
    solve(cuda::solve_segments<FullLengthCostModel, false, 64>, flat, "flat, costs of 32 bits");
    solve(cuda::solve_segments<Lz4CostModel, true, 64>, lz4, "lz4");

    // Of what was solved last.
    const auto measure_walk = [&](auto kernel, const char* level) {
      const double seconds = median_seconds(nullptr, kRuns, [&] { walk(kernel); });
      row("walk, " + std::string(level), seconds,
          verified(blocks, out, plan, [&](const ParseInput& input) { return parse_optimal(input, lz4); }));
    };
    measure_walk(cuda::walk_block<16, cuda::StoredDecision>, "tile 16");
    measure_walk(cuda::walk_block<32, cuda::StoredDecision>, "tile 32");
    measure_walk(cuda::walk_block<64, cuda::StoredDecision>, "tile 64");
  }

  // The lists of the first copy against the twin's.
  bool verified(const std::vector<DeviceBlock>& blocks, const cuda::DeviceSequences& out,
                const BlockPlan& plan,
                const std::function<std::vector<Sequence>(const ParseInput&)>& twin) const {
    const std::size_t count = (records_.size() + block_bytes_ - 1) / block_bytes_;
    std::vector<std::uint32_t> counts(count);
    check(cudaMemcpy(counts.data(), out.d_counts, count * 4, cudaMemcpyDeviceToHost), "cudaMemcpy");
    std::vector<Sequence> sequences(first_sequence(records_.size(), static_cast<std::uint32_t>(count), plan));
    check(cudaMemcpy(sequences.data(), out.d_sequences, sequences.size() * sizeof(Sequence),
                     cudaMemcpyDeviceToHost),
          "cudaMemcpy");
    std::atomic<std::size_t> wrong = 0;
    tbb::parallel_for(std::size_t{0}, count, [&](std::size_t b) {
      const std::vector<Sequence> expected =
          twin({std::span(records_).subspan(blocks[b].position, blocks[b].block_bytes), plan});
      const Sequence* ours =
          sequences.data() + first_sequence(blocks[b].position, static_cast<std::uint32_t>(b), plan);
      const auto same = [](const Sequence& a, const Sequence& c) {
        return a.literal_count == c.literal_count && a.match_length == c.match_length && a.offset == c.offset;
      };
      if (counts[b] != expected.size() || !std::equal(expected.begin(), expected.end(), ours, same))
        if (wrong++ == 0) std::fprintf(stderr, "%s: block %zu differs from the twin\n", file_.c_str(), b);
    });
    return wrong == 0;
  }

  void row(const std::string& level, double seconds, bool is_verified) const {
    std::printf(
        "{\"what\":\"parse\",\"backend\":\"cuda\",\"format\":\"lz4\",\"level\":\"%s\",\"block_bytes\":%u,"
        "\"file\":\"%s\","
        "\"bytes\":%zu,\"gbps\":%.1f,\"span\":\"kernel\",\"verified\":%s}\n",
        level.c_str(), block_bytes_, file_.c_str(), total_, static_cast<double>(total_) / seconds / 1e9,
        is_verified ? "true" : "false");
    std::fflush(stdout);
  }

  std::string file_;
  std::uint32_t block_bytes_ = 0;
  std::vector<MatchRecord> records_;
  std::size_t copies_ = 0, total_ = 0;
  std::unique_ptr<DeviceArray<MatchRecord>> d_records_;
};

int run_bench(int count, char** arguments) {
  if (count < 2) {
    std::fprintf(stderr, "usage: %s FOLDER [GIGABYTES [FILE...]]\n", arguments[0]);
    return 1;
  }
  const double gigabytes = count > 2 ? std::atof(arguments[2]) : 2;
  std::vector<std::byte> corpus;
  for (const char* name : {"dickens", "mr", "nci", "ooffice", "osdb", "reymont", "samba", "x-ray", "xml"}) {
    const std::vector<std::byte> bytes = testing::read_file(std::string(arguments[1]) + "/silesia/" + name);
    const auto named = [&](const char* argument) { return std::string_view(name) == argument; };
    if (count <= 3 || std::any_of(arguments + 3, arguments + count, named))
      Bench(name, bytes, gigabytes).run(65536, false);
    corpus.insert(corpus.end(), bytes.begin(), bytes.end());
  }
  Bench all("corpus", corpus, gigabytes);
  all.run(65536, true);
  for (const std::uint32_t block_bytes : {4096u, 262144u, 4194304u}) all.run(block_bytes, false);
  Bench("zeros", std::vector<std::byte>(10'000'000), gigabytes).run(65536, false);
  return 0;
}

}  // namespace
}  // namespace hemstitch

int main(int count, char** arguments) {
  try {
    return hemstitch::run_bench(count, arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
