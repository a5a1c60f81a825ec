#include "evaluate/cuda_search.hpp"

#include "core/status.hpp"
#include "engine/registry.hpp"
#include "gpu/cuda/device_buffer.hpp"
#include "gpu/cuda/devices.hpp"
#include "match/brute_force/brute_force_cuda.hpp"
#include "match/coop_stitch/coop_stitch_cuda.hpp"
#include "match/hash_chain/hash_chain_cuda.hpp"
#include "match/hash_step/hash_step_cuda.hpp"
#include "match/window_index/window_index_cuda.hpp"

namespace hemstitch {
namespace {

class CudaSearch {
 public:
  // By a thread whose current device it is.
  CudaSearch(cuda::Device& device, const FinderInput& input)
      : memory_(device.memory()),
        d_data_(input.data.size(), stream_.get(), memory_),
        d_block_(1, stream_.get(), memory_),
        d_records_(input.block_bytes(), stream_.get(), memory_) {
    if (input.data.size() > UINT32_MAX)
      throw Error(Status::kInvalidOption, "the device's finders take blocks of less than 4 GiB");
    if (!input.data.empty()) d_data_.upload(input.data);
    const auto block_bytes = static_cast<std::uint32_t>(input.block_bytes());
    const auto history_bytes = static_cast<std::uint32_t>(input.history_bytes);
    const DeviceBlock block{d_data_.get() + history_bytes, block_bytes, history_bytes, 0};
    d_block_.upload({&block, 1});
    blocks_ = {d_block_.get(), 1, block_bytes, history_bytes, block_bytes};
  }

  MatchRecords run(auto scratch_bytes, auto find, const auto& parameters) {
    search(scratch_bytes, find, parameters, d_records_.get());
    return records(d_records_);
  }

  FoundMatches run_coop_stitch(const FinderParameters& parameters, bool all) {
    cuda::CoopStitchOutput output{.d_records = d_records_.get()};
    cuda::DeviceBuffer<MatchRecord> d_before;
    cuda::DeviceBuffer<SearchCounters> d_counters;
    SearchCounters counters;
    if (all) {
      d_before = cuda::DeviceBuffer<MatchRecord>(d_records_.count(), stream_.get(), memory_);
      d_counters = cuda::DeviceBuffer<SearchCounters>(1, stream_.get(), memory_);
      d_counters.upload({&counters, 1});
      output.d_before_stitch = d_before.get();
      output.d_counters = d_counters.get();
    }
    search(cuda::find_coop_stitch_cuda_scratch_bytes, cuda::find_coop_stitch_cuda, parameters, output);
    FoundMatches found;
    found.records = records(d_records_);
    if (all) {
      found.before_stitch = records(d_before);
      d_counters.download({&counters, 1});
      stream_.synchronize();
      found.counters = counters;
    }
    return found;
  }

 private:
  void search(auto scratch_bytes, auto find, const auto& parameters, auto output) {
    const cuda::DeviceBuffer<std::byte> scratch(scratch_bytes(blocks_, parameters), stream_.get(), memory_);
    find(blocks_, parameters, output, scratch.get(), scratch.bytes(), stream_.get());
  }
  MatchRecords records(const cuda::DeviceBuffer<MatchRecord>& d_records) const {
    MatchRecords records(d_records.count());
    if (!records.empty()) d_records.download(records);
    stream_.synchronize();
    return records;
  }

  cuda::DevicePool& memory_;
  cuda::Stream stream_;
  cuda::DeviceBuffer<std::byte> d_data_;
  cuda::DeviceBuffer<DeviceBlock> d_block_;
  cuda::DeviceBuffer<MatchRecord> d_records_;
  DeviceBlocks blocks_;
};

}  // namespace

FoundMatches find_on_cuda(const FinderChoice& choice, const FinderInput& input, bool stitch, bool all) {
  cuda::Device& device = cuda::open_device(wanted_device(choice.device));
  device.make_current();
  CudaSearch search(device, input);
  if (const auto* chain = std::get_if<HashChainParameters>(&choice.how)) {
    HashChainParameters parameters = *chain;
    parameters.window_bytes = choice.parameters.window_size;
    parameters.stitch = stitch;
    return {
        search.run(cuda::find_hash_chain_cuda_scratch_bytes, cuda::find_hash_chain_cuda, parameters), {}, {}};
  }
  if (const auto* step = std::get_if<HashStepParameters>(&choice.how)) {
    HashStepParameters parameters = *step;
    parameters.stitch = stitch;
    return {
        search.run(cuda::find_hash_step_cuda_scratch_bytes, cuda::find_hash_step_cuda, parameters), {}, {}};
  }
  switch (std::get<Finder>(choice.how)) {
    case Finder::kBruteForce:
      return {search.run(cuda::find_brute_force_cuda_scratch_bytes, cuda::find_brute_force_cuda,
                         choice.parameters),
              {},
              {}};
    case Finder::kWindowIndex:
      return {search.run(cuda::find_window_index_cuda_scratch_bytes, cuda::find_window_index_cuda,
                         choice.parameters),
              {},
              {}};
    case Finder::kCoopStitch:
      return search.run_coop_stitch(choice.parameters, all);
    case Finder::kLazyScan:
      break;
  }
  throw Error(Status::kInvalidOption, "lazy_scan has no kernel; the reference backend searches with it");
}

}  // namespace hemstitch
