#include "api/matcher_cuda.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "api/matcher_cuda_device.hpp"
#include "api/submissions.hpp"
#include "core/status.hpp"
#include "gpu/cuda/device_buffer.hpp"
#include "gpu/cuda/devices.hpp"
#include "gpu/cuda/nvtx_range.hpp"
#include "parse/choose_matches.hpp"
#include "parse/parses_cuda.hpp"

namespace hemstitch::cuda {
namespace {

// The blocks of a call travel in batches of this size. Three of them in flight keep a large device busy, and
// their results (up to 4 bytes for each byte) take little pinned memory.
constexpr std::uint64_t kBatchBytes = std::uint64_t{16} << 20;
// No match reaches farther back, so earlier bytes are left out.
constexpr std::size_t kMostHistoryBytes = 65536;
// Limits a block with its history: kernels index with 31 bits.
constexpr std::size_t kMostBlockBytes = (std::size_t{1} << 31) - 64;

// A submission takes its memory from the device's pools, which also keep it for the next one.
struct Slot {
  Stream stream;
};
using Slots = SlotRing<Slot>;

// Where blocks and their rows lie in the upload.
struct Layout {
  std::vector<DeviceBlock> rows;    // their d_block is set later
  std::vector<std::size_t> begins;  // where each block's history begins, in the data
  std::size_t data_bytes = 0;
  DeviceBlocks bounds;
};

FinderInput reachable(const MatchBlock& block) {
  const std::size_t history_bytes = std::min(block.history_bytes, kMostHistoryBytes);
  const FinderInput input{block.data.subspan(block.history_bytes - history_bytes), history_bytes};
  if (input.data.size() > kMostBlockBytes)
    throw Error(Status::kInvalidOption,
                fmt::format("a block has {} bytes with its history; the device takes at most {}",
                            input.data.size(), kMostBlockBytes));
  return input;
}

Layout lay_out(std::span<const FinderInput> inputs) {
  constexpr std::size_t kAlignment = 16;  // bytes, so that loads of 16 bytes suit most blocks
  Layout layout;
  for (const FinderInput& input : inputs) {
    const auto history_bytes = static_cast<std::uint32_t>(input.history_bytes);
    const auto block_bytes = static_cast<std::uint32_t>(input.block_bytes());
    DeviceBlocks& bounds = layout.bounds;
    layout.rows.push_back({nullptr, block_bytes, history_bytes, bounds.total_block_bytes});
    layout.begins.push_back(layout.data_bytes);
    layout.data_bytes += (input.data.size() + kAlignment - 1) / kAlignment * kAlignment;
    bounds.max_block_bytes = std::max(bounds.max_block_bytes, block_bytes);
    bounds.max_history_bytes = std::max(bounds.max_history_bytes, history_bytes);
    bounds.total_block_bytes += block_bytes;
  }
  layout.bounds.block_count = static_cast<std::uint32_t>(inputs.size());
  return layout;
}

// What is uploaded, in one piece: rows, then data. Without memory, it only counts the bytes.
struct Batch {
  DeviceBlock* rows;
  std::byte* data;

  Batch(Carver& carver, const Layout& layout)
      : rows(carver.take<DeviceBlock>(layout.rows.size())), data(carver.take<std::byte>(layout.data_bytes)) {}

  static std::size_t bytes(const Layout& layout) {
    Carver carver(nullptr);
    Batch(carver, layout);
    return carver.bytes();
  }
};

// Fills `staged`, pinned memory, and enqueues its copy to `d_batch`.
void upload(const Layout& layout, std::span<const FinderInput> inputs, std::byte* staged,
            const Batch& d_batch, cudaStream_t stream) {
  Carver carver(staged);
  const Batch batch(carver, layout);
  for (std::size_t b = 0; b < inputs.size(); ++b) {
    batch.rows[b] = layout.rows[b];
    batch.rows[b].d_block = d_batch.data + layout.begins[b] + layout.rows[b].history_bytes;
    if (!inputs[b].data.empty())
      std::memcpy(batch.data + layout.begins[b], inputs[b].data.data(), inputs[b].data.size());
  }
  const auto copy = [&](void* d_to, const void* from, std::size_t bytes) {
    if (bytes > 0)
      check(cudaMemcpyAsync(d_to, from, bytes, cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync");
  };
  copy(d_batch.rows, batch.rows, layout.rows.size() * sizeof(DeviceBlock));
  copy(d_batch.data, batch.data, layout.data_bytes);
}

// Waits at its end until the device is done with the memory that it uses, even if something throws.
struct WaitAtEnd {
  cudaStream_t stream;
  ~WaitAtEnd() { cudaStreamSynchronize(stream); }
};

// A submission in device memory. Without memory, it only counts the bytes.
struct OnDevice {
  Carver carver;
  Batch batch;
  DeviceBlocks blocks;
  FindAndParse<FullLengthCostModel> stages;

  OnDevice(const Layout& layout, const MatchingStages& what, void* d_memory)
      : carver(d_memory),
        batch(carver, layout),
        blocks(at(layout.bounds, batch.rows)),
        stages(what.finder, what.parse, blocks, what.plan, carver) {}

  static DeviceBlocks at(DeviceBlocks bounds, const DeviceBlock* d_rows) {
    bounds.d_blocks = d_rows;
    return bounds;
  }
};

}  // namespace

struct DeviceMatcher::State {
  State(Device& on, const MatchingStages& what, unsigned slot_count)
      : device(on), stages(what), slots(slot_count, [&on] {
          on.make_current();
          return std::make_unique<Slot>();
        }) {}

  Device& device;
  MatchingStages stages;
  Slots slots;
};

// A submission, with the slot that it holds.
class DeviceMatcher::Pending : public PendingWork {
 public:
  Pending(std::shared_ptr<State> state, Slots::Lease slot, std::span<const MatchBlock> blocks)
      : state_(std::move(state)), slot_(std::move(slot)), wait_{stream()} {
    submit(blocks);
  }

  // Also true after an error, which take() throws.
  bool is_ready() override {
    return layout_.bounds.total_block_bytes == 0 || cudaStreamQuery(stream()) != cudaErrorNotReady;
  }

  std::vector<std::vector<PositionedMatch>> take() override {
    const DeviceBlocks& bounds = layout_.bounds;
    std::vector<std::vector<PositionedMatch>> matches(bounds.block_count);
    if (bounds.total_block_bytes == 0) return matches;
    slot_->stream.synchronize();
    const BlockPlan& plan = state_->stages.plan;
    for (std::uint32_t b = 0; b < bounds.block_count; ++b) {
      const std::uint64_t first = first_sequence(layout_.rows[b].position, b, plan);
      const std::uint64_t room =
          first_sequence(layout_.rows[b].position + layout_.rows[b].block_bytes, b + 1, plan) - first;
      if (counts_[b] > room)
        throw Error(Status::kDeviceFault,
                    fmt::format("{} returned impossible lists of matches", state_->device.facts().name));
      matches[b] = matches_of(std::span<const Sequence>(sequences_ + first, counts_[b]));
    }
    return matches;
  }

  DeviceMatches on_device() const override {
    throw Error(Status::kInvalidOption,
                "only webgpu keeps matches on a device; hemstitch/batch.h keeps them on a CUDA device");
  }

 private:
  cudaStream_t stream() const { return slot_->stream.get(); }

  void submit(std::span<const MatchBlock> blocks) {
    const NvtxRange range("matcher.submit");
    Device& device = state_->device;
    device.make_current();
    std::vector<FinderInput> inputs;
    for (const MatchBlock& block : blocks) inputs.push_back(reachable(block));
    layout_ = lay_out(inputs);
    if (layout_.bounds.total_block_bytes == 0) return;

    const MatchingStages& stages = state_->stages;
    memory_ =
        DeviceBuffer<std::byte>(OnDevice(layout_, stages, nullptr).carver.bytes(), stream(), device.memory());
    const OnDevice work(layout_, stages, memory_.get());
    staged_ = device.pinned().take(Batch::bytes(layout_));
    upload(layout_, inputs, staged_.span().data(), work.batch, stream());
    const DeviceSequences& lists = work.stages.sequences();
    const std::size_t count = layout_.bounds.block_count;
    const std::size_t sequence_count = device_sequence_capacity(work.blocks, stages.plan);
    // No kernel writes the room between two lists, but it is downloaded with them.
    check(cudaMemsetAsync(lists.d_sequences, 0, sequence_count * sizeof(Sequence), stream()),
          "cudaMemsetAsync");
    work.stages.run(stream());

    Carver sizes(nullptr);
    sizes.take<std::uint32_t>(count), sizes.take<Sequence>(sequence_count);
    lists_ = device.pinned().take(sizes.bytes());
    Carver carver(lists_.span().data());
    counts_ = carver.take<std::uint32_t>(count);
    sequences_ = carver.take<Sequence>(sequence_count);
    download(counts_, lists.d_counts, count * sizeof(std::uint32_t));
    download(sequences_, lists.d_sequences, sequence_count * sizeof(Sequence));
  }

  void download(void* to, const void* d_from, std::size_t bytes) const {
    check(cudaMemcpyAsync(to, d_from, bytes, cudaMemcpyDeviceToHost, stream()), "cudaMemcpyAsync");
  }

  // The order matters: memory is given back once the device is done with it, and before the slot is.
  std::shared_ptr<State> state_;
  Slots::Lease slot_;
  Layout layout_;
  DeviceBuffer<std::byte> memory_;
  PinnedPool::Block staged_, lists_;
  std::uint32_t* counts_ = nullptr;
  Sequence* sequences_ = nullptr;
  WaitAtEnd wait_;
};

DeviceMatcher::DeviceMatcher(Device& device, const MatchingStages& stages, unsigned slot_count)
    : state_(std::make_shared<State>(device, stages, slot_count)) {
  device.make_current();
  find_scratch_bytes(stages.finder, DeviceBlocks{});  // throws if the finder is not supported
}

DeviceMatcher::~DeviceMatcher() = default;

// Loads the kernels: CUDA loads each when it is first launched.
void DeviceMatcher::prepare() const {
  constexpr std::array<std::byte, 64> kZeros{};
  const MatchBlock block{kZeros, 0};
  find_matches({&block, 1});
}

MatchRecords DeviceMatcher::find_candidates(const FinderInput& input) const {
  const FinderInput inputs[] = {reachable({input.data, input.history_bytes})};
  const Layout layout = lay_out(inputs);
  MatchRecords records(layout.bounds.total_block_bytes);
  if (records.empty()) return records;

  Device& device = state_->device;
  device.make_current();
  const Stream stream;
  const PinnedPool::Block staged = device.pinned().take(Batch::bytes(layout));
  const DeviceBuffer<std::byte> d_batch(Batch::bytes(layout), stream.get(), device.memory());
  Carver carver(d_batch.get());
  const Batch batch(carver, layout);
  const DeviceBlocks blocks = OnDevice::at(layout.bounds, batch.rows);
  const DeviceBuffer<MatchRecord> d_records(records.size(), stream.get(), device.memory());
  const DeviceBuffer<std::byte> d_scratch(find_scratch_bytes(state_->stages.finder, blocks), stream.get(),
                                          device.memory());
  const WaitAtEnd wait{stream.get()};
  upload(layout, inputs, staged.span().data(), batch, stream.get());
  find(state_->stages.finder, blocks, {.d_records = d_records.get()}, d_scratch.get(), d_scratch.bytes(),
       stream.get());
  d_records.download(records);
  stream.synchronize();
  return records;
}

std::unique_ptr<PendingWork> DeviceMatcher::submit(std::span<const MatchBlock> blocks) const {
  return std::make_unique<Pending>(state_, slot_for_submission(state_->slots), blocks);
}

std::vector<std::vector<PositionedMatch>> DeviceMatcher::find_matches(
    std::span<const MatchBlock> blocks) const {
  return find_in_batches(state_->slots, blocks, kBatchBytes,
                         [&](Slots::Lease slot, std::span<const MatchBlock> some) {
                           return std::make_unique<Pending>(state_, std::move(slot), some);
                         });
}

}  // namespace hemstitch::cuda

namespace hemstitch {

std::shared_ptr<const BlockMatcher> make_cuda_matcher(const MatchingStages& stages, std::string_view device,
                                                      unsigned slot_count) {
  return std::make_shared<cuda::DeviceMatcher>(cuda::open_device(device), stages, slot_count);
}

}  // namespace hemstitch
