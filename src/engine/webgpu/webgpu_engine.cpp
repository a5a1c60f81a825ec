#include "engine/webgpu/webgpu_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "core/slot_ring.hpp"
#include "core/status.hpp"
#include "format/formats_webgpu.hpp"
#include "gpu/webgpu/growing_buffer.hpp"

namespace hemstitch::webgpu {
namespace {

// A batch of 1000 blocks of 64 KB fills a large GPU; a software adapter has nothing to fill.
constexpr std::uint64_t kHardwareBatchBytes = std::uint64_t{64} << 20;
constexpr std::uint64_t kSoftwareBatchBytes = std::uint64_t{1} << 20;
// Results up to this size are read back together with their sizes: waiting for the sizes first would cost
// more than reading too much.
constexpr std::uint64_t kReadWholeBytes = std::uint64_t{1} << 20;

// The largest buffer of a batch to restore has at most 4 bytes for each byte of a block's input, and 12 for its end.
constexpr std::uint64_t kShortestBlockBytes = 4;

struct Slot {
  GrowingBuffer upload{BufferUse::kUpload};
  GrowingBuffer download{BufferUse::kDownload};
  BufferSet buffers;  // of any batch, whatever its work: each as large as a batch has needed so far
};

// Throws kInvalidOption if devices do not know the format.
const DeviceFormat& known_format(Format id) {
  if (const DeviceFormat* const format = device_format(id)) return *format;
  throw Error(Status::kInvalidOption, "WebGPU devices do not know the format");
}

std::vector<BlockSizes> sizes_of(std::span<const BlockTask> tasks) {
  std::vector<BlockSizes> sizes;
  for (const BlockTask& task : tasks)
    sizes.push_back({static_cast<std::uint32_t>(task.history.size()),
                     static_cast<std::uint32_t>(task.input.size()),
                     static_cast<std::uint32_t>(std::min<std::size_t>(
                         task.output.size(), std::numeric_limits<std::uint32_t>::max()))});
  return sizes;
}

// Calls body(i), which copies between mapped memory and the task's own, for every task of a batch; from a
// megabyte on, on several threads. One thread copies 5 GB/s on the host of an H200 (core/parallel.hpp), a
// fifth of what its bus transfers.
template <class Body>
void for_each_copied(std::size_t task_count, std::uint64_t bytes, const Body& body) {
  constexpr std::uint64_t kPieceBytes = std::uint64_t{1} << 20;
  const std::uint64_t grain = task_count * kPieceBytes / std::max<std::uint64_t>(1, bytes);
  run_in_parallel(task_count, static_cast<std::size_t>(std::max<std::uint64_t>(1, grain)), body);
}

// When the stages of a batch ended, as the host sees it: copies on the device before the first step count as
// computing.
class BatchClock {
 public:
  explicit BatchClock(TimeLine* line)
      : line_(line),
        batch_(line == nullptr ? 0 : line->next_batch()),
        begin_(line == nullptr ? 0 : line->now()) {}

  void ended(Stage stage) {
    if (line_ == nullptr) return;
    const double now = line_->now();
    line_->add({stage, batch_, std::exchange(begin_, now), now});
  }

 private:
  TimeLine* line_;
  std::uint64_t batch_;
  double begin_;
};

class Engine : public BlockEngine {
 public:
  Engine(std::shared_ptr<Device> device, const EngineOptions& options)
      : device_(std::move(device)), slots_(std::max(1u, options.slot_count)) {
    batch_bytes_ =
        device_->adapter().kind == AdapterKind::kSoftware ? kSoftwareBatchBytes : kHardwareBatchBytes;
    if (options.batch_bytes != 0) batch_bytes_ = options.batch_bytes;
    // The largest buffers have a word for each byte of the data.
    batch_bytes_ = std::min(batch_bytes_, (device_->limits().binding_bytes - kSlackBytes) / 4);
  }

  std::size_t preferred_batch_bytes() const override { return static_cast<std::size_t>(batch_bytes_); }
  unsigned preferred_batches_in_flight(unsigned) const override {
    return static_cast<unsigned>(slots_.count());
  }

  std::size_t staging_bytes(std::size_t input_bytes, std::size_t output_bytes) const override {
    return input_bytes + output_bytes;
  }

  DeviceNeeds device_needs(const BlockWork& work) const override {
    return {.batch_bytes = [this, work](std::uint64_t blocks) { return slot_bytes(work, blocks); },
            .slots = static_cast<unsigned>(slots_.count()),
            .free_bytes = std::nullopt};
  }

  bool keep_time(TimeLine& line) override {
    line_ = &line;
    return true;
  }

  void compress(std::span<BlockTask> tasks, const EncodeParameters& parameters) override {
    const DeviceFormat& format = known_format(parameters.format);
    const int level = parameters.level;
    for_each_batch(
        tasks, format.compress_limits(level, parameters.block_bytes, batch_bytes_, binding_room()),
        [&](const BlockSizes& block) { return format.counted_bytes(block); },
        [&](Slot& slot, std::span<BlockTask> batch, std::span<const BlockSizes> sizes) {
          run_batch(slot, batch, format.stage_compress(sizes, level, parameters.block_bytes));
        });
  }

  void restore(std::span<BlockTask> tasks, Format id) override {
    const DeviceFormat& format = known_format(id);
    for_each_batch(
        tasks, {batch_bytes_},
        [](const BlockSizes& block) {
          return std::max(std::uint64_t{block.history_bytes} + block.input_bytes + kShortestBlockBytes,
                          std::uint64_t{block.room_bytes});
        },
        [&](Slot& slot, std::span<BlockTask> batch, std::span<const BlockSizes> sizes) {
          run_batch(slot, batch, format.stage_restore(sizes));
        });
    // The frame limits the room, so a block that restores to more is damaged.
    for (BlockTask& task : tasks)
      if (task.status == Status::kOutputTooSmall) task.status = Status::kCorruptBlock;
  }

 private:
  std::uint64_t binding_room() const { return device_->limits().binding_bytes - kSlackBytes; }

  // How large a buffer of a slot is made that must hold so many bytes: up to an eighth larger, so that batches that
  // grow little by little do not make new buffers each time.
  std::uint64_t grown(std::uint64_t bytes) const {
    const std::uint64_t step = std::max<std::uint64_t>(4, std::bit_ceil(bytes) / 8);
    return std::min(divided_up(bytes, step) * step, std::max(bytes, binding_room() / 4 * 4));
  }

  // The memory of a slot, including its staging buffers.
  std::uint64_t slot_bytes(const BlockWork& work, std::uint64_t full_blocks) const {
    const DeviceFormat& format = known_format(work.format);
    const auto block_bytes = static_cast<std::size_t>(work.block_bytes);
    const std::uint64_t most_bytes =
        work.direction == Direction::kCompress
            ? format.compress_limits(work.level, block_bytes, batch_bytes_, binding_room()).bytes
            : batch_bytes_;
    const std::uint64_t most = most_bytes / (work.block_bytes + work.history_bytes);
    const auto count = static_cast<std::size_t>(std::min(full_blocks, std::max<std::uint64_t>(1, most)));
    std::vector<std::uint64_t> buffers;
    std::uint64_t staging = 0;
    const auto count_in = [&](const StagedBatch& staged) {
      const std::vector<BufferPlan::Part>& parts = staged.buffers.parts();
      buffers.resize(std::max(buffers.size(), parts.size()));
      for (std::size_t i = 0; i < parts.size(); ++i)
        buffers[i] = std::max(buffers[i], grown(parts[i].bytes - kSlackBytes) + kSlackBytes);
      staging = std::max(staging, staged.data_bytes + staged.most_output_bytes);
    };
    // With and without the short blocks, since a batch of few blocks may take more.
    for (const std::uint64_t more : std::set<std::uint64_t>{0, work.more_blocks}) {
      BlockSizes full{static_cast<std::uint32_t>(work.history_bytes),
                      static_cast<std::uint32_t>(work.block_bytes),
                      std::numeric_limits<std::uint32_t>::max()};
      std::vector<BlockSizes> sizes(count, full);
      sizes.resize(count + static_cast<std::size_t>(more));
      if (work.direction == Direction::kCompress)
        count_in(format.stage_compress(sizes, work.level, block_bytes));
      if (work.direction == Direction::kRestore || work.verify) {
        full.room_bytes = full.input_bytes;
        std::fill_n(sizes.begin(), count, full);
        count_in(format.stage_restore(sizes));
      }
    }
    const std::uint64_t bytes = std::accumulate(buffers.begin(), buffers.end(), std::uint64_t{0});
    return bytes + staging + staging / 4;  // staging buffers grow by a quarter (core/grown_size.hpp)
  }

  // Calls `work` for as many tasks at once as the device can take, with their sizes.
  template <typename CountedBytes, typename Work>
  void for_each_batch(std::span<BlockTask> tasks, const BatchLimits& limits, CountedBytes counted_bytes,
                      Work work) {
    const std::vector<BlockSizes> all_sizes = sizes_of(tasks);
    std::span<const BlockSizes> sizes = all_sizes;
    while (!tasks.empty()) {
      std::size_t count = 0;
      std::uint64_t bytes = 0;
      while (count < tasks.size() && count < std::max<std::uint64_t>(1, limits.blocks)) {
        const std::uint64_t more = whole_words(counted_bytes(sizes[count]));
        if (count > 0 && bytes + more > limits.bytes) break;
        bytes += more;
        ++count;
      }
      const SlotRing<Slot>::Lease slot = slots_.take();
      try {
        work(*slot, tasks.first(count), sizes.first(count));
      } catch (...) {
        // Its staging may still be mapped, so the next batch starts with new buffers.
        *slot = Slot();
        throw;
      }
      tasks = tasks.subspan(count);
      sizes = sizes.subspan(count);
    }
  }

  // Replaces the buffers of the slot that are too small for the plan.
  void make_room(BufferSet& buffers, const BufferPlan& plan) {
    const std::vector<BufferPlan::Part>& parts = plan.parts();
    if (buffers.size() < parts.size()) buffers.resize(parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (buffers[i].bytes() >= parts[i].bytes) continue;
      buffers[i] = Buffer();  // first, since memory may not suffice for both
      buffers[i] = device_->make_buffer({parts[i].name, grown(parts[i].bytes - kSlackBytes) + kSlackBytes});
    }
  }

  // Uploads the blocks, runs the steps, and copies the results into the tasks.
  void run_batch(Slot& slot, std::span<BlockTask> tasks, const StagedBatch& staged) {
    make_room(slot.buffers, staged.buffers);
    const BufferSet& buffers = slot.buffers;
    BatchClock clock(line_);

    // The data of the blocks, then the tables.
    std::uint64_t upload_bytes = whole_words(staged.data_bytes);
    for (const StagedBatch::Table& table : staged.tables) upload_bytes += whole_words(table.rows.size());
    const Buffer& upload = slot.upload.at_least(upload_bytes, *device_);
    std::byte* const mapped = device_->map_for_writing(upload, upload_bytes);
    for_each_copied(tasks.size(), staged.data_bytes, [&](std::size_t i) {
      std::byte* const place = mapped + staged.begins[i];
      std::copy(tasks[i].history.begin(), tasks[i].history.end(), place);
      std::copy(tasks[i].input.begin(), tasks[i].input.end(), place + tasks[i].history.size());
    });
    std::uint64_t at = whole_words(staged.data_bytes);
    std::vector<Copy> before = {{&upload, 0, &buffers[staged.data.index], 0, at}};
    for (const StagedBatch::Table& table : staged.tables) {
      std::copy(table.rows.begin(), table.rows.end(), mapped + at);
      before.push_back({&upload, at, &buffers[table.to.index], 0, whole_words(table.rows.size())});
      at += whole_words(table.rows.size());
    }
    device_->unmap(upload);

    // The results about the blocks, then (at once or later) the output.
    std::uint64_t results_bytes = 0;
    for (const StagedBatch::Results& results : staged.results) results_bytes += results.bytes;
    const bool whole = !staged.is_packed || staged.most_output_bytes <= kReadWholeBytes;
    const Buffer& download = slot.download.at_least(results_bytes + staged.most_output_bytes, *device_);
    const auto output_copy = [&](std::uint64_t bytes) {
      return Copy{&buffers[staged.output.index], 0, &download, results_bytes, bytes};
    };
    std::vector<Copy> after;
    at = 0;
    for (const StagedBatch::Results& results : staged.results) {
      after.push_back({&buffers[results.from.index], 0, &download, at, results.bytes});
      at += results.bytes;
    }
    if (whole) after.push_back(output_copy(staged.most_output_bytes));
    device_->submit(before, staged.recording, buffers, after);
    clock.ended(Stage::kUpload);

    const std::byte* read =
        device_->map_for_reading(download, results_bytes + (whole ? staged.most_output_bytes : 0));
    clock.ended(Stage::kKernel);
    const BatchOutput output = staged.read_results({read, static_cast<std::size_t>(results_bytes)});
    if (!whole) {
      device_->unmap(download);
      if (output.bytes > staged.most_output_bytes)
        throw Error(Status::kDeviceFault,
                    fmt::format("{} wrote {} bytes into room for {}", device_->adapter().name, output.bytes,
                                staged.most_output_bytes));
      const Copy copy = output_copy(output.bytes);
      device_->submit({}, {}, {}, {&copy, 1});
      read = device_->map_for_reading(download, results_bytes + output.bytes);
    }
    for_each_copied(tasks.size(), output.bytes, [&](std::size_t i) {
      BlockTask& task = tasks[i];
      const BlockOutput& block = output.blocks[i];
      task.status = block.status;
      if (block.bytes > task.output.size() || block.begin > output.bytes ||
          block.bytes > output.bytes - block.begin)
        task.status = Status::kDeviceFault;
      if (task.status != Status::kOk) return;
      std::copy_n(read + results_bytes + block.begin, block.bytes, task.output.begin());
      task.output_bytes = block.bytes;
    });
    device_->unmap(download);
    clock.ended(Stage::kDownload);
  }

  std::shared_ptr<Device> device_;
  std::uint64_t batch_bytes_ = 0;
  SlotRing<Slot> slots_;
  TimeLine* line_ = nullptr;
};

}  // namespace

std::unique_ptr<BlockEngine> make_engine(std::shared_ptr<Device> device, const EngineOptions& options) {
  return std::make_unique<Engine>(std::move(device), options);
}

WorkspacePlan device_workspace(Format format, int level, std::uint32_t block_bytes, std::uint64_t bytes) {
  const std::vector<BlockSizes> blocks(
      static_cast<std::size_t>(std::max<std::uint64_t>(1, bytes / block_bytes)),
      {0, block_bytes, block_bytes});
  const StagedBatch staged = known_format(format).stage_compress(blocks, level, block_bytes);
  WorkspacePlan workspace;
  for (const BufferPlan::Part& part : staged.buffers.parts())
    workspace.add(part.name, part.bytes, 1, "a slot, while the engine lives");
  return workspace;
}

}  // namespace hemstitch::webgpu
