#include "api/matcher_webgpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "api/matcher_webgpu_device.hpp"
#include "api/submissions.hpp"
#include "core/status.hpp"
#include "gpu/webgpu/devices.hpp"
#include "gpu/webgpu/growing_buffer.hpp"
#include "match/find_webgpu.hpp"

namespace hemstitch::webgpu {
namespace {

// The blocks of a call travel in batches of this size, which fills a large GPU. A software adapter has
// nothing to fill.
constexpr std::uint64_t kHardwareBatchBytes = std::uint64_t{64} << 20;
constexpr std::uint64_t kSoftwareBatchBytes = std::uint64_t{1} << 20;
// Lists of matches up to this size are read back whole, without asking for their number first: waiting for
// the number would cost more.
constexpr std::uint64_t kReadWholeBytes = std::uint64_t{1} << 20;

constexpr std::uint64_t whole_words(std::uint64_t bytes) { return divided_up(bytes, 4) * 4; }

struct Slot {
  MatchingCapacity capacity;
  MatchingPlan plan;
  BufferSet buffers;
  GrowingBuffer upload{BufferUse::kUpload};
  GrowingBuffer download{BufferUse::kDownload};
};
using Slots = SlotRing<Slot>;

BlockTable table_of(std::span<const MatchBlock> blocks, std::uint32_t min_match_len,
                    std::uint64_t most_bytes) {
  BlockTable table;
  std::uint64_t begin = 0;
  for (const MatchBlock& block : blocks) {
    const std::uint64_t end = begin + whole_words(block.data.size());
    if (end > most_bytes)
      throw Error(
          Status::kInvalidOption,
          fmt::format("the device's bindings allow at most {} bytes in a submission: divide the blocks among "
                      "several",
                      most_bytes));
    table.add(static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(block.history_bytes),
              static_cast<std::uint32_t>(block.data.size() - block.history_bytes), 0, min_match_len);
    begin = end;
  }
  return table;
}

}  // namespace

struct DeviceMatcher::State {
  State(std::shared_ptr<Device> on, const MatchingStages& what, unsigned slot_count)
      : device(std::move(on)), stages(what), slots(slot_count) {}

  // Arrays have a word for each byte or, where that is more, two words for each sequence. With matches of
  // three bytes or more, that is less than one word for each byte.
  std::uint64_t most_data_bytes() const {
    return std::min<std::uint64_t>(device->limits().binding_bytes, 0xFFFFFFFFu) / 4 -
           std::uint64_t{2} * kTilePositions;
  }
  std::uint64_t batch_bytes() const {
    const bool software = device->adapter().kind == AdapterKind::kSoftware;
    return std::min(software ? kSoftwareBatchBytes : kHardwareBatchBytes, most_data_bytes());
  }

  void make_room(Slot& slot, const MatchingCapacity& needed) const {
    if (!slot.buffers.empty() && slot.capacity.holds(needed)) return;
    // Grows in powers of two, so that submissions that grow little by little do not make new buffers each
    // time.
    MatchingCapacity grown = needed;
    grown.data_bytes =
        std::max(needed.data_bytes, std::min(std::bit_ceil(needed.data_bytes), most_data_bytes()));
    slot.buffers.clear();
    slot.capacity = {};
    slot.plan = plan_matching(grown);
    slot.buffers = device->make_buffers(slot.plan.buffers);
    slot.capacity = grown;
  }

  std::shared_ptr<Device> device;
  MatchingStages stages;
  Slots slots;
};

// A submission, with the slot that it holds.
class DeviceMatcher::Pending : public PendingWork {
 public:
  Pending(std::shared_ptr<State> state, Slots::Lease slot, std::span<const MatchBlock> blocks)
      : state_(std::move(state)),
        slot_(std::move(slot)),
        block_count_(static_cast<std::uint32_t>(blocks.size())) {
    try {
      submit(blocks);
    } catch (...) {
      forget_buffers();
      throw;
    }
  }
  ~Pending() override {
    try {
      end_reading();
    } catch (const Error&) {
      forget_buffers();  // the device is lost, or its staging is still mapped
    }
  }

  bool is_ready() override { return !reading_ || state_->device->is_ready(*reading_); }

  std::vector<std::vector<PositionedMatch>> take() override {
    Device& device = *state_->device;
    if (!reading_) reading_ = start_reading(read_matches_);
    const std::byte* read = device.finish_reading(*reading_);
    std::vector<std::uint32_t> begins(block_count_ + 1);
    std::memcpy(begins.data(), read, begins_bytes());
    const bool in_order = std::is_sorted(begins.begin(), begins.end());
    if (begins.front() != 0 || !in_order || begins.back() > most_matches_)
      throw Error(Status::kDeviceFault,
                  fmt::format("{} returned impossible lists of matches", device.adapter().name));
    if (begins.back() > read_matches_) {
      end_reading();
      read_matches_ = begins.back();
      reading_ = start_reading(read_matches_);
      read = device.finish_reading(*reading_);
    }
    std::vector<DeviceMatch> all(begins.back());
    if (!all.empty()) std::memcpy(all.data(), read + begins_bytes(), all.size() * sizeof(DeviceMatch));
    end_reading();

    std::vector<std::vector<PositionedMatch>> matches(block_count_);
    for (std::uint32_t b = 0; b < block_count_; ++b)
      for (std::uint32_t i = begins[b]; i < begins[b + 1]; ++i)
        matches[b].push_back({all[i].position, record_offset(all[i].record), record_length(all[i].record)});
    return matches;
  }

  DeviceMatches on_device() const override {
    const auto handle = [&](BufferId id) { return static_cast<void*>(slot_->buffers[id.index].get()); };
    return {state_->device->get(), state_->device->queue(), handle(slot_->plan.matches.matches),
            handle(slot_->plan.matches.begins)};
  }

 private:
  std::uint64_t begins_bytes() const { return (std::uint64_t{block_count_} + 1) * sizeof(std::uint32_t); }

  void submit(std::span<const MatchBlock> blocks) {
    Device& device = *state_->device;
    const BlockTable table =
        table_of(blocks, state_->stages.plan.min_match_length, state_->most_data_bytes());
    most_matches_ = table.sequence_count;
    const std::uint64_t data_bytes = whole_words(table.data_bytes);
    state_->make_room(*slot_, {data_bytes, block_count_, static_cast<std::uint32_t>(table.tiles.size()),
                               table.sequence_count, find_heads_bytes(state_->stages.finder, block_count_)});
    const std::vector<Copy> before = upload(blocks, table, data_bytes);
    device.submit(before, record_matching(slot_->plan, table, state_->stages), slot_->buffers, {});

    read_matches_ = most_matches_ * sizeof(DeviceMatch) <= kReadWholeBytes ? most_matches_ : 0;
    reading_ = start_reading(read_matches_);
  }

  // Fills the staging buffer; returns the copies from it to the device.
  std::vector<Copy> upload(std::span<const MatchBlock> blocks, const BlockTable& table,
                           std::uint64_t data_bytes) {
    const std::uint64_t rows_bytes = table.rows.size() * sizeof(BlockRow);
    const std::uint64_t tiles_bytes = table.tiles.size() * sizeof(std::uint32_t);
    const std::uint64_t all_bytes = data_bytes + rows_bytes + tiles_bytes;
    if (blocks.empty()) return {};
    const Buffer& staging = slot_->upload.at_least(all_bytes, *state_->device);
    std::byte* const mapped = state_->device->map_for_writing(staging, all_bytes);
    for (std::size_t b = 0; b < blocks.size(); ++b)
      std::copy(blocks[b].data.begin(), blocks[b].data.end(), mapped + table.rows[b].begin);
    std::memcpy(mapped + data_bytes, table.rows.data(), rows_bytes);
    std::memcpy(mapped + data_bytes + rows_bytes, table.tiles.data(), tiles_bytes);
    state_->device->unmap(staging);
    std::vector<Copy> copies;
    const auto copy_part = [&](BufferId to, std::uint64_t begin, std::uint64_t bytes) {
      if (bytes > 0) copies.push_back({&staging, begin, &slot_->buffers[to.index], 0, bytes});
    };
    const BlockBatch& batch = slot_->plan.batch;
    copy_part(batch.data, 0, data_bytes);
    copy_part(batch.rows, data_bytes, rows_bytes);
    copy_part(batch.tiles, data_bytes + rows_bytes, tiles_bytes);
    return copies;
  }

  // Copies where the lists begin, and the first matches.
  PendingRead start_reading(std::uint64_t match_count) {
    const std::uint64_t match_bytes = match_count * sizeof(DeviceMatch);
    const Buffer& download = slot_->download.at_least(begins_bytes() + match_bytes, *state_->device);
    std::vector<Copy> copies = {
        {&slot_->buffers[slot_->plan.matches.begins.index], 0, &download, 0, begins_bytes()}};
    if (match_bytes > 0)
      copies.push_back(
          {&slot_->buffers[slot_->plan.matches.matches.index], 0, &download, begins_bytes(), match_bytes});
    state_->device->submit({}, {}, {}, copies);
    return state_->device->start_reading(download, begins_bytes() + match_bytes);
  }

  void end_reading() {
    if (!reading_) return;
    state_->device->finish_reading(*reading_);
    state_->device->unmap(slot_->download.get());
    reading_.reset();
  }

  void forget_buffers() {
    reading_.reset();
    *slot_ = Slot();
  }

  std::shared_ptr<State> state_;
  Slots::Lease slot_;
  std::uint32_t block_count_;
  std::uint32_t most_matches_ = 0;
  std::uint32_t read_matches_ = 0;  // how many are read along with the begins
  std::optional<PendingRead> reading_;
};

DeviceMatcher::DeviceMatcher(std::shared_ptr<Device> device, const MatchingStages& stages,
                             unsigned slot_count)
    : state_(std::make_shared<State>(std::move(device), stages, slot_count)) {
  record_matching(plan_matching({}), {}, stages);  // throws if a stage is not supported
}

DeviceMatcher::~DeviceMatcher() = default;

void DeviceMatcher::prepare() const {
  constexpr std::uint32_t kManyBlocks = 1u << 20;  // so many that their scan takes all its steps
  const std::uint32_t min_match_length = state_->stages.plan.min_match_length;
  const MatchingPlan plan =
      plan_matching(matching_capacity(kManyBlocks, 1, min_match_length, state_->stages.finder));
  BlockTable table;
  table.add(0, 0, 1, 0, min_match_length);
  Recording recording = record_matching(plan, table, state_->stages);
  record_scan(recording, plan.matches.sizes, plan.matches.begins, plan.scan, kManyBlocks);
  state_->device->compile(recording);
}

MatchRecords DeviceMatcher::find_candidates(const FinderInput& input) const {
  return find(*state_->device, input, state_->stages.finder, false).records;
}

std::unique_ptr<PendingWork> DeviceMatcher::submit(std::span<const MatchBlock> blocks) const {
  return std::make_unique<Pending>(state_, slot_for_submission(state_->slots), blocks);
}

std::vector<std::vector<PositionedMatch>> DeviceMatcher::find_matches(
    std::span<const MatchBlock> blocks) const {
  return find_in_batches(state_->slots, blocks, state_->batch_bytes(),
                         [&](Slots::Lease slot, std::span<const MatchBlock> some) {
                           return std::make_unique<Pending>(state_, std::move(slot), some);
                         });
}

}  // namespace hemstitch::webgpu

namespace hemstitch {

std::shared_ptr<const BlockMatcher> make_webgpu_matcher(const MatchingStages& stages, std::string_view device,
                                                        unsigned slot_count) {
  return std::make_shared<webgpu::DeviceMatcher>(webgpu::open_device(device), stages, slot_count);
}

}  // namespace hemstitch
