#include "evaluate/find_on_cuda.hpp"

#include "core/status.hpp"
#include "gpu/cuda/device_buffer.hpp"
#include "gpu/cuda/devices.hpp"
#include "gpu/device_names.hpp"
#include "match/finders.hpp"
#include "match/finders_cuda.hpp"

namespace hemstitch {
namespace {

class Run {
 public:
  // The calling thread's current device must be `device`.
  Run(cuda::Device& device, const FinderInput& input)
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

  FoundMatches find(const AnyFinder& finder, bool all) {
    const FinderRow& row = row_of(finder);
    cuda::DeviceFound output{.d_records = d_records_.get()};
    cuda::DeviceBuffer<MatchRecord> d_before;
    cuda::DeviceBuffer<FindCounters> d_counters;
    FindCounters counters;
    if (all && row.keeps_before_stitch) {
      d_before = cuda::DeviceBuffer<MatchRecord>(d_records_.count(), stream_.get(), memory_);
      output.d_before_stitch = d_before.get();
    }
    if (all && cuda::counts_on_cuda(finder)) {
      d_counters = cuda::DeviceBuffer<FindCounters>(1, stream_.get(), memory_);
      d_counters.upload({&counters, 1});
      output.d_counters = d_counters.get();
    }
    const cuda::DeviceBuffer<std::byte> scratch(cuda::find_scratch_bytes(finder, blocks_), stream_.get(),
                                                memory_);
    cuda::find(finder, blocks_, output, scratch.get(), scratch.bytes(), stream_.get());
    FoundMatches found{records(d_records_)};
    if (output.d_before_stitch != nullptr) found.before_stitch = records(d_before);
    if (output.d_counters != nullptr) {
      d_counters.download({&counters, 1});
      stream_.synchronize();
      found.counters = counters;
    }
    return found;
  }

 private:
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

bool has_kernel(const AnyFinder& finder) { return cuda::has_kernel(finder); }

FoundMatches find_on_cuda(const std::string& device, const AnyFinder& finder, const FinderInput& input,
                          bool all) {
  cuda::Device& opened = cuda::open_device(wanted_device(device));
  opened.make_current();
  return Run(opened, input).find(finder, all);
}

}  // namespace hemstitch
