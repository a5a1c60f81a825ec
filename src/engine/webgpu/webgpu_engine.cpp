#include "engine/webgpu/webgpu_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "core/slot_ring.hpp"
#include "core/status.hpp"
#include "format/deflate/compress/deflate_compress_webgpu.hpp"
#include "format/deflate/deflate_formats.hpp"
#include "format/deflate/restore/deflate_restore_webgpu.hpp"
#include "format/lz4/compress/lz4_compress_webgpu.hpp"
#include "format/lz4/restore/lz4_restore_webgpu.hpp"
#include "gpu/webgpu/growing_buffer.hpp"

namespace hemstitch::webgpu {
namespace {

// A batch of 1000 blocks of 64 KB fills a large GPU; a software adapter has nothing to fill.
constexpr std::uint64_t kHardwareBatchBytes = std::uint64_t{64} << 20;
constexpr std::uint64_t kSoftwareBatchBytes = std::uint64_t{1} << 20;
// Results up to this size are read back together with their sizes: waiting for the sizes first would cost
// more than reading too much.
constexpr std::uint64_t kReadWholeBytes = std::uint64_t{1} << 20;

// The size of the longest LZ4 block: literals alone, with the bytes that extend their count.
constexpr std::uint64_t most_encoded_bytes(std::uint64_t block_bytes) {
  return block_bytes + block_bytes / 255 + 2;
}

// The sequences of a block take 4 bytes for each byte of its input, and 12 for the last one.
constexpr std::uint64_t kShortestBlockBytes = 4;

constexpr std::uint64_t whole_words(std::uint64_t bytes) { return divided_up(bytes, 4) * 4; }

// Where the parts of an upload are in its staging buffer, one after the other. The first part is the data of
// a batch; tables follow.
struct Upload {
  struct Part {
    BufferId to;
    std::uint64_t begin = 0, bytes = 0;
    std::span<const std::byte> table = {};
  };
  std::vector<Part> parts;
  std::uint64_t bytes = 0;

  std::uint64_t add(BufferId to, std::uint64_t part_bytes) {
    const std::uint64_t begin = bytes;
    parts.push_back({to, begin, whole_words(part_bytes)});
    bytes += whole_words(part_bytes);
    return begin;
  }
  // `table` must stay valid until it is copied.
  template <typename Row>
  void add_table(BufferId to, const std::vector<Row>& table) {
    const auto table_bytes = std::as_bytes(std::span(table));
    add(to, table_bytes.size());
    parts.back().table = table_bytes;
  }
  void copy_tables(std::byte* mapped) const {
    for (const Part& part : parts) std::copy(part.table.begin(), part.table.end(), mapped + part.begin);
  }
  std::vector<Copy> copies(const Buffer& staging, const BufferSet& buffers) const {
    std::vector<Copy> all;
    for (const Part& part : parts)
      all.push_back({&staging, part.begin, &buffers[part.to.index], 0, part.bytes});
    return all;
  }
};

struct CompressSlot {
  BatchCapacity capacity;
  Lz4CompressPlan plan;
  BufferSet buffers;
};

struct DeflateSlot {
  DeflateCapacity capacity;
  DeflateCompressPlan plan;
  BufferSet buffers;
};

struct RestoreSlot {
  RestoreCapacity capacity;
  Lz4RestorePlan plan;
  BufferSet buffers;
};

struct DeflateRestoreSlot {
  DeflateRestoreCapacity capacity;
  DeflateRestorePlan plan;
  BufferSet buffers;
};

struct Slot {
  GrowingBuffer upload{BufferUse::kUpload};
  GrowingBuffer download{BufferUse::kDownload};
  CompressSlot compress;
  DeflateSlot deflate;
  RestoreSlot restore;
  DeflateRestoreSlot deflate_restore;
};

// Calls body(i), which copies between mapped memory and the task's own, for every task of a batch; from a
// megabyte on, on several threads. One thread copies 5 GB/s on the host of an H200 (core/parallel.hpp), a
// fifth of what its bus transfers.
template <class Body>
void for_each_copied(std::size_t task_count, std::uint64_t bytes, const Body& body) {
  constexpr std::uint64_t kPieceBytes = std::uint64_t{1} << 20;
  const std::uint64_t grain = task_count * kPieceBytes / std::max<std::uint64_t>(1, bytes);
  run_in_parallel(task_count, static_cast<std::size_t>(std::max<std::uint64_t>(1, grain)), body);
}

// Copies each block, after its history, to the place that its row names.
template <class Row>
void copy_blocks(std::span<const BlockTask> tasks, const std::vector<Row>& rows, std::uint64_t bytes,
                 std::byte* to) {
  for_each_copied(tasks.size(), bytes, [&](std::size_t i) {
    std::byte* const place = to + rows[i].begin;
    std::copy(tasks[i].history.begin(), tasks[i].history.end(), place);
    std::copy(tasks[i].input.begin(), tasks[i].input.end(), place + tasks[i].history.size());
  });
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
    if (is_deflate(parameters.format)) return compress_deflate(tasks, parameters);
    const Lz4Level level = lz4_level(parameters.level, parameters.block_bytes);
    // Both the arrays of positions and the heads limit a batch.
    for_each_batch(
        tasks, binding_room() >> (hash_bits(level) + 2), batch_bytes_,
        [](const BlockTask& task) { return task.history.size() + task.input.size(); },
        [&](Slot& slot, std::span<BlockTask> batch) { compress_batch(slot, batch, level); });
  }

  void restore(std::span<BlockTask> tasks, Format format) override {
    for_each_batch(
        tasks, tasks.size(), batch_bytes_,
        [](const BlockTask& task) {
          return std::max(task.history.size() + task.input.size() + kShortestBlockBytes, task.output.size());
        },
        [&](Slot& slot, std::span<BlockTask> batch) {
          if (is_deflate(format)) {
            restore_batch<DeflateRestoreTable, DeflateRestoreState>(
                slot, slot.deflate_restore, batch, plan_deflate_restore, record_deflate_restore);
          } else {
            restore_batch<RestoreTable, RestoreResult>(slot, slot.restore, batch, plan_lz4_restore,
                                                       record_lz4_restore);
          }
        });
  }

 private:
  // Every block of BGZF is a member of its own; the blocks of other formats are parts of one stream.
  void compress_deflate(std::span<BlockTask> tasks, const EncodeParameters& parameters) {
    const DeflateLevel level = deflate_level(parameters.level);
    const DeflateEnd end = parameters.format == Format::kBgzf ? DeflateEnd::kFinal : DeflateEnd::kFlush;
    for_each_batch(
        tasks, tasks.size(), deflate_batch_bytes(),
        [](const BlockTask& task) { return deflate_array_positions(task.history.size(), task.input.size()); },
        [&](Slot& slot, std::span<BlockTask> batch) { compress_deflate_batch(slot, batch, level, end); });
  }

  // Has room for a history of 32 KB in each megabyte, so that content of batch_bytes_ is one batch.
  std::uint64_t deflate_batch_bytes() const {
    return std::min(batch_bytes_ + batch_bytes_ / 16, binding_room() / 4);
  }

  std::uint64_t binding_room() const { return device_->limits().binding_bytes - kSlackBytes; }

  // How large a buffer may become that must hold so many bytes (make_room()).
  std::uint64_t grown(std::uint64_t bytes) const {
    return std::min(std::bit_ceil(bytes), std::max(bytes, batch_bytes_));
  }

  // The memory of a slot, including its staging buffers.
  std::uint64_t slot_bytes(const BlockWork& work, std::uint64_t full_blocks) const {
    const std::uint64_t most_bytes = is_deflate(work.format) ? deflate_batch_bytes() : batch_bytes_;
    const std::uint64_t most = most_bytes / (work.block_bytes + work.history_bytes);
    const auto count = static_cast<std::uint32_t>(std::min(full_blocks, std::max<std::uint64_t>(1, most)));
    const auto more = static_cast<std::uint32_t>(work.more_blocks);
    std::uint64_t bytes = 0, staging = 0;
    if (work.direction == Direction::kCompress && is_deflate(work.format)) {
      DeflateCapacity capacity =
          deflate_capacity_of_blocks(count, work.block_bytes, work.history_bytes, deflate_level(work.level));
      capacity.data_bytes = grown(capacity.data_bytes);
      capacity.output_bytes = grown(capacity.output_bytes);
      for (std::uint32_t* const each :
           {&capacity.block_count, &capacity.tile_count, &capacity.chunk_count, &capacity.piece_count})
        *each += more;
      bytes += plan_deflate_compress(capacity).buffers.total_bytes();
      staging = capacity.data_bytes + capacity.output_bytes;
    } else if (work.direction == Direction::kCompress) {
      BatchCapacity capacity = capacity_of_blocks(count, work.block_bytes, work.history_bytes,
                                                  hash_bits(lz4_level(work.level, work.block_bytes)));
      capacity.data_bytes = grown(capacity.data_bytes);
      capacity.output_bytes = grown(capacity.output_bytes);
      capacity.block_count += more;
      capacity.tile_count += more;
      capacity.sequence_count += more;
      bytes += plan_lz4_compress(capacity).buffers.total_bytes();
      staging = capacity.data_bytes + capacity.output_bytes;
    }
    if (work.direction == Direction::kRestore || work.verify) {
      const auto add_restoring = [&](auto table, auto make_plan) {
        for (std::uint32_t i = 0; i < count; ++i)
          table.add(static_cast<std::uint32_t>(work.history_bytes),
                    static_cast<std::uint32_t>(work.block_bytes),
                    static_cast<std::uint32_t>(work.block_bytes));
        auto capacity = capacity_of(table);
        capacity.data_bytes = grown(capacity.data_bytes);
        capacity.output_bytes = grown(capacity.output_bytes);
        capacity.block_count += more;
        if constexpr (requires { capacity.sequence_count; }) capacity.sequence_count += more;
        if constexpr (requires { capacity.few_data_bytes; }) {
          capacity.few_data_bytes = grown(capacity.few_data_bytes);
          capacity.few_output_bytes = grown(capacity.few_output_bytes);
        }
        bytes += make_plan(capacity).buffers.total_bytes();
        staging = std::max(staging, capacity.data_bytes + capacity.output_bytes);
      };
      if (is_deflate(work.format))
        add_restoring(DeflateRestoreTable(), plan_deflate_restore);
      else
        add_restoring(RestoreTable(), plan_lz4_restore);
    }
    return bytes + staging + staging / 4;  // staging buffers grow by a quarter (core/grown_size.hpp)
  }

  // Calls `work` for as many tasks at once as the device can take.
  template <typename TaskBytes, typename Work>
  void for_each_batch(std::span<BlockTask> tasks, std::uint64_t most_blocks, std::uint64_t most_bytes,
                      TaskBytes task_bytes, Work work) {
    while (!tasks.empty()) {
      std::size_t count = 0;
      std::uint64_t bytes = 0;
      while (count < tasks.size() && count < std::max<std::uint64_t>(1, most_blocks)) {
        const std::uint64_t more = whole_words(task_bytes(tasks[count]));
        if (count > 0 && bytes + more > most_bytes) break;
        bytes += more;
        ++count;
      }
      const SlotRing<Slot>::Lease slot = slots_.take();
      try {
        work(*slot, tasks.first(count));
      } catch (...) {
        // Its staging may still be mapped, so the next batch starts with new buffers.
        *slot = Slot();
        throw;
      }
      tasks = tasks.subspan(count);
    }
  }

  // Grows in powers of two, so that batches that grow little by little do not make new buffers each time.
  template <typename SlotPart, typename Capacity, typename MakePlan>
  void make_room(SlotPart& part, const Capacity& needed, MakePlan make_plan) {
    if (part.capacity.holds(needed)) return;
    Capacity grown = needed;
    const auto larger = [&](std::uint64_t wanted, std::uint64_t before) {
      return std::min(std::bit_ceil(std::max(wanted, before)), std::max(wanted, batch_bytes_));
    };
    grown.data_bytes = larger(needed.data_bytes, part.capacity.data_bytes);
    grown.output_bytes = larger(needed.output_bytes, part.capacity.output_bytes);
    const auto larger_count = [](std::uint32_t wanted, std::uint32_t before) {
      return std::max(wanted, before);
    };
    grown.block_count = larger_count(needed.block_count, part.capacity.block_count);
    if constexpr (requires { grown.tile_count; })
      grown.tile_count = larger_count(needed.tile_count, part.capacity.tile_count);
    if constexpr (requires { grown.sequence_count; })
      grown.sequence_count = larger_count(needed.sequence_count, part.capacity.sequence_count);
    if constexpr (requires { grown.few_data_bytes; }) {
      grown.few_data_bytes = larger(needed.few_data_bytes, part.capacity.few_data_bytes);
      grown.few_output_bytes = larger(needed.few_output_bytes, part.capacity.few_output_bytes);
    }
    if constexpr (requires { grown.chunk_count; }) {
      grown.chunk_count = larger_count(needed.chunk_count, part.capacity.chunk_count);
      grown.piece_count = larger_count(needed.piece_count, part.capacity.piece_count);
      grown.parts_a_chunk = larger_count(needed.parts_a_chunk, part.capacity.parts_a_chunk);
    }
    part.buffers.clear();
    part.capacity = {};
    part.plan = make_plan(grown);
    part.buffers = device_->make_buffers(part.plan.buffers);
    part.capacity = grown;
  }

  void compress_batch(Slot& slot, std::span<BlockTask> tasks, const Lz4Level& level) {
    BlockTable table;
    std::uint64_t begin = 0;
    BatchCapacity needed;
    for (const BlockTask& task : tasks) {
      const std::size_t room =
          std::min<std::size_t>(task.output.size(), most_encoded_bytes(task.input.size()));
      table.add(static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(task.history.size()),
                static_cast<std::uint32_t>(task.input.size()), static_cast<std::uint32_t>(room),
                lz4_block_plan().min_match_length);
      begin += whole_words(task.history.size() + task.input.size());
      needed.output_bytes += whole_words(room);
    }
    needed.data_bytes = begin;
    needed.block_count = static_cast<std::uint32_t>(table.rows.size());
    needed.tile_count = static_cast<std::uint32_t>(table.tiles.size());
    needed.sequence_count = table.sequence_count;
    needed.hash_bits = hash_bits(level);
    make_room(slot.compress, needed, plan_lz4_compress);
    const Lz4CompressPlan& plan = slot.compress.plan;
    const BufferSet& buffers = slot.compress.buffers;
    BatchClock clock(line_);

    Upload upload;
    upload.add(plan.batch.data, needed.data_bytes);
    upload.add_table(plan.batch.rows, table.rows);
    upload.add_table(plan.batch.tiles, table.tiles);
    run_compression(slot, tasks, table, upload, record_lz4_compress(plan, table, level, needed.output_bytes),
                    buffers, {plan.sizes, plan.begins, plan.output, needed.output_bytes}, clock);
  }

  void compress_deflate_batch(Slot& slot, std::span<BlockTask> tasks, const DeflateLevel& level,
                              DeflateEnd end) {
    DeflateTable table;
    std::uint64_t begin = 0, output_bytes = 0;
    for (const BlockTask& task : tasks) {
      const std::size_t room = std::min(task.output.size(), deflate_data_room(task.input.size()));
      table.add(static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(task.history.size()),
                static_cast<std::uint32_t>(task.input.size()), static_cast<std::uint32_t>(room));
      begin += whole_words(task.history.size() + task.input.size());
      output_bytes += whole_words(room);
    }
    make_room(slot.deflate, capacity_of(table, output_bytes, level), plan_deflate_compress);
    const DeflateCompressPlan& plan = slot.deflate.plan;
    BatchClock clock(line_);

    Upload upload;
    upload.add(plan.blocks.data, begin);
    upload.add_table(plan.blocks.rows, table.blocks.rows);
    upload.add_table(plan.blocks.tiles, table.blocks.tiles);
    upload.add_table(plan.chunks.rows, table.chunks.rows);
    upload.add_table(plan.chunks.tiles, table.chunks.tiles);
    upload.add_table(plan.block_chunks, table.block_chunks);
    upload.add_table(plan.pieces, table.pieces);
    run_compression(slot, tasks, table.blocks, upload,
                    record_deflate_compress(plan, table, level, end, output_bytes), slot.deflate.buffers,
                    {plan.sizes, plan.begins, plan.output, output_bytes}, clock);
  }

  // Where an encoder writes its blocks: one after the other, `most_bytes` in all at most.
  struct Encoded {
    BufferId sizes, begins, output;
    std::uint64_t most_bytes = 0;
  };

  // Uploads, runs the steps, and copies the results into the tasks. The first part of `upload` is the data;
  // `table` says where each block is.
  void run_compression(Slot& slot, std::span<BlockTask> tasks, const BlockTable& table, const Upload& upload,
                       const Recording& recording, const BufferSet& buffers, const Encoded& encoded,
                       BatchClock& clock) {
    const Buffer& staging = slot.upload.at_least(upload.bytes, *device_);
    std::byte* const mapped = device_->map_for_writing(staging, upload.bytes);
    copy_blocks(tasks, table.rows, upload.parts.front().bytes, mapped + upload.parts.front().begin);
    upload.copy_tables(mapped);
    device_->unmap(staging);

    // Sizes, then begins, then (at once or later) the output.
    const std::uint64_t sizes_bytes = tasks.size() * 4, begins_bytes = sizes_bytes + 4;
    const std::uint64_t header_bytes = sizes_bytes + begins_bytes;
    const bool whole = encoded.most_bytes <= kReadWholeBytes;
    const Buffer& download = slot.download.at_least(header_bytes + encoded.most_bytes, *device_);
    std::vector<Copy> after = {{&buffers[encoded.sizes.index], 0, &download, 0, sizes_bytes},
                               {&buffers[encoded.begins.index], 0, &download, sizes_bytes, begins_bytes}};
    const auto output_copy = [&](std::uint64_t bytes) {
      return Copy{&buffers[encoded.output.index], 0, &download, header_bytes, bytes};
    };
    if (whole) after.push_back(output_copy(encoded.most_bytes));
    device_->submit(upload.copies(staging, buffers), recording, buffers, after);
    clock.ended(Stage::kUpload);

    std::vector<std::uint32_t> sizes(tasks.size()), begins(tasks.size() + 1);
    const std::byte* read =
        device_->map_for_reading(download, header_bytes + (whole ? encoded.most_bytes : 0));
    clock.ended(Stage::kKernel);
    std::memcpy(sizes.data(), read, sizes_bytes);
    std::memcpy(begins.data(), read + sizes_bytes, begins_bytes);
    if (!whole) {
      device_->unmap(download);
      const std::uint64_t used = begins.back();
      if (used > encoded.most_bytes)
        throw Error(Status::kDeviceFault, fmt::format("{} wrote {} bytes into room for {}",
                                                      device_->adapter().name, used, encoded.most_bytes));
      const Copy copy = output_copy(used);
      device_->submit({}, {}, {}, {&copy, 1});
      read = device_->map_for_reading(download, header_bytes + used);
    }
    for_each_copied(tasks.size(), begins.back(), [&](std::size_t i) {
      BlockTask& task = tasks[i];
      if (sizes[i] == kEncodedTooLarge) {
        task.status = Status::kOutputTooSmall;
        return;
      }
      if (sizes[i] > task.output.size() || begins[i] > begins.back() ||
          sizes[i] > begins.back() - begins[i]) {
        task.status = Status::kDeviceFault;
        return;
      }
      std::copy_n(read + header_bytes + begins[i], sizes[i], task.output.begin());
      task.output_bytes = sizes[i];
      task.status = Status::kOk;
    });
    device_->unmap(download);
    clock.ended(Stage::kDownload);
  }

  template <class Table, class Result, class Part, class MakePlan, class Record>
  void restore_batch(Slot& slot, Part& part, std::span<BlockTask> tasks, MakePlan make_plan, Record record) {
    Table table;
    for (const BlockTask& task : tasks)
      table.add(static_cast<std::uint32_t>(task.history.size()),
                static_cast<std::uint32_t>(task.input.size()),
                static_cast<std::uint32_t>(task.output.size()));
    make_room(part, capacity_of(table), make_plan);
    const auto& plan = part.plan;
    const BufferSet& buffers = part.buffers;
    BatchClock clock(line_);

    Upload upload;
    const std::uint64_t data_at = upload.add(plan.data, table.data_bytes);
    upload.add_table(plan.rows, table.rows);
    const Buffer& staging = slot.upload.at_least(upload.bytes, *device_);
    std::byte* const mapped = device_->map_for_writing(staging, upload.bytes);
    copy_blocks(tasks, table.rows, table.data_bytes, mapped + data_at);
    upload.copy_tables(mapped);
    device_->unmap(staging);

    // All blocks but the last of a file fill their room, so everything is read at once.
    const std::uint64_t results_bytes = tasks.size() * sizeof(Result);
    const Buffer& download = slot.download.at_least(results_bytes + table.output_bytes, *device_);
    const Copy after[] = {{&buffers[plan.results.index], 0, &download, 0, results_bytes},
                          {&buffers[plan.output.index], 0, &download, results_bytes, table.output_bytes}};
    device_->submit(upload.copies(staging, buffers), record(plan, table), buffers, after);
    clock.ended(Stage::kUpload);

    const std::byte* const read = device_->map_for_reading(download, results_bytes + table.output_bytes);
    clock.ended(Stage::kKernel);
    for_each_copied(tasks.size(), table.output_bytes, [&](std::size_t i) {
      BlockTask& task = tasks[i];
      Result result;
      std::memcpy(&result, read + i * sizeof result, sizeof result);
      task.status = restore_status(result);
      // The frame limits the room, so a block that restores to more is damaged.
      if (task.status == Status::kOutputTooSmall) task.status = Status::kCorruptBlock;
      if (result.restored_bytes > task.output.size()) task.status = Status::kDeviceFault;
      if (task.status != Status::kOk) return;
      std::copy_n(read + results_bytes + table.rows[i].output_begin, result.restored_bytes,
                  task.output.begin());
      task.output_bytes = result.restored_bytes;
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

WorkspacePlan device_workspace(std::uint64_t block_bytes, std::uint64_t bytes) {
  const auto blocks = static_cast<std::uint32_t>(std::max<std::uint64_t>(1, bytes / block_bytes));
  // From level 3 on, the finder has the larger table.
  const Lz4CompressPlan plan =
      plan_lz4_compress(capacity_of_blocks(blocks, block_bytes, 0, hash_bits(lz4_level(3, block_bytes))));
  WorkspacePlan workspace;
  for (const BufferPlan::Part& part : plan.buffers.parts())
    workspace.add(part.name, part.bytes, 1, "a slot, while the engine lives");
  return workspace;
}

}  // namespace hemstitch::webgpu
