#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "core/kept.hpp"
#include "core/messages.hpp"
#include "core/options.hpp"
#include "core/overlap.hpp"
#include "core/parallel.hpp"
#include "core/random_access.hpp"
#include "engine/registry.hpp"
#include "format/block_table.hpp"
#include "format/formats.hpp"
#include "hemstitch/ranges.hpp"
#include "pipeline/index_points.hpp"
#include "pipeline/ring.hpp"
#include "pipeline/stream.hpp"

namespace hemstitch {
namespace {

// How many blocks a thread takes in a row, if each takes a few microseconds.
constexpr std::size_t kBlocksGrain = 16;
// So many blocks are found before a call is planned. If it needs no more, the plan is exact.
constexpr std::size_t kBlocksAhead = 64;

// A block that a range needs.
struct NeededBlock : PlacedBlock {
  std::vector<std::size_t> ranges;  // the ranges that overlap it
};

// Finds the blocks that ranges need, in the order of the content. Holds those of one part of the table.
class NeededBlocks {
 public:
  NeededBlocks(const BlockTable& table, std::span<const ContentBytes> ranges)
      : table_(table), ranges_(ranges) {
    for (std::size_t i = 0; i < ranges.size(); ++i)
      if (ranges[i].begin < std::min(ranges[i].end, table.content_bytes())) order_.push_back(i);
    std::ranges::stable_sort(order_, {}, [&](std::size_t i) { return ranges_[i].begin; });
  }

  std::optional<NeededBlock> next() {
    for (;;) {
      std::erase_if(active_, [&](std::size_t i) { return ranges_[i].end <= passed_; });
      if (active_.empty()) {
        if (next_range_ == order_.size()) return std::nullopt;
        load(table_.part_of(ranges_[order_[next_range_]].begin));
      }
      if (next_block_ == blocks_.size()) {
        if (part_ + 1 == table_.part_count()) return std::nullopt;
        load(part_ + 1);
        continue;
      }
      PlacedBlock& block = blocks_[next_block_++];
      passed_ = block.content_at + block.content_bytes;
      while (next_range_ < order_.size() && ranges_[order_[next_range_]].begin < passed_)
        active_.push_back(order_[next_range_++]);
      if (!active_.empty() && block.content_bytes != 0) return NeededBlock{block, active_};
    }
  }

  // Of all ranges together.
  std::uint64_t content_bytes() const {
    std::uint64_t bytes = 0, at = 0;
    for (const std::size_t i : order_) {
      const std::uint64_t end = std::min(ranges_[i].end, table_.content_bytes());
      bytes += std::max(end, at) - std::max(ranges_[i].begin, at);
      at = std::max(at, end);
    }
    return bytes;
  }

 private:
  void load(std::size_t part) {
    if (part == part_) return;
    blocks_ = table_.blocks_of(part);
    part_ = part;
    next_block_ = 0;
  }

  const BlockTable& table_;
  std::span<const ContentBytes> ranges_;
  std::vector<std::size_t> order_;  // of the ranges' beginnings
  std::size_t next_range_ = 0;      // in that order
  std::vector<std::size_t> active_;
  std::uint64_t passed_ = 0;  // content that was passed
  std::size_t part_ = SIZE_MAX, next_block_ = 0;
  std::vector<PlacedBlock> blocks_;
};

// Memory for the data of a block, unless that is in memory already, and for its content.
struct BlockMemory {
  LargeBuffer data, content;
  std::uint64_t data_bytes = 0, content_bytes = 0;
};

struct Batch {
  LargeBuffer input;  // the blocks' data, unless that is in memory
  LargeBuffer output;
  std::vector<NeededBlock> blocks;
  std::vector<std::span<const std::byte>> data;
  std::vector<std::span<const std::byte>> contents;  // empty for blocks that are damaged, as for empty ones
  std::vector<Status> statuses;
};

// Receives the pieces of ranges, each range's in order. `bytes` are from `content_at` on; none if the block
// there is bad.
using Receive = std::function<void(std::size_t range, std::uint64_t content_at, Status status,
                                   const Place& place, std::span<const std::byte> bytes)>;

void require_forward(std::span<const ContentBytes> ranges) {
  for (std::size_t i = 0; i < ranges.size(); ++i)
    if (ranges[i].begin > ranges[i].end)
      throw Error(Status::kInvalidOption, fmt::format("range {} is {}-{}, its end lies before its beginning",
                                                      i, ranges[i].begin, ranges[i].end));
}

}  // namespace

struct RangeReader::Impl {
  Impl(std::unique_ptr<RandomAccess> opened, const RestoreOptions& given)
      : input(std::move(opened)), options(given) {
    validate(options);
    std::uint64_t* const used_bytes = std::exchange(options.used_bytes, nullptr);
    if (!options.dictionary.empty()) throw Error(Status::kInvalidOption, "dictionary: ranges cannot use one");
    if (!options.index.empty()) {
      if (used_bytes != nullptr)
        throw Error(Status::kInvalidOption, "used_bytes: an index does not tell where the last member ends");
      indexed.emplace(*input, options);
      return;
    }
    // A backend that cannot be used fails here, not at the first range.
    BackendRegistry::instance().choose(options.backend, options.device, {.direction = Direction::kRestore});
    const FrameFormat* const format = options.format ? &FormatTable::instance().of(*options.format) : nullptr;
    run_on_threads(resolve_threads(options.threads),
                   [&] { table.emplace(*input, format, options.verify_checksums); });
    if (used_bytes != nullptr)
      *used_bytes = table->used_bytes();
    else if (table->has_trailing_garbage())
      throw trailing_garbage(table->used_bytes());
  }

  void restore(std::span<const ContentBytes> ranges, const Receive& receive) const;

  // A block that a call restored. Calls that read it share it; the last one gives its memory back.
  struct LastBlock {
    LastBlock(const Impl& of, BlockMemory from, std::uint64_t at, std::span<const std::byte> bytes)
        : reader(of), memory(std::move(from)), content_at(at), content(bytes) {}
    ~LastBlock() { reader.spare.keep(std::move(memory)); }
    LastBlock(const LastBlock&) = delete;
    LastBlock& operator=(const LastBlock&) = delete;

    const Impl& reader;
    BlockMemory memory;
    std::uint64_t content_at;
    std::span<const std::byte> content;  // in `memory`, or in the input
  };
  BlockMemory take_memory(std::uint64_t data_bytes, std::uint64_t content_bytes) const {
    last.keep(nullptr);  // which gives back the memory of the last block, if no other call reads it
    BlockMemory memory = spare.take();
    if (memory.data_bytes >= data_bytes && memory.content_bytes >= content_bytes) return memory;
    return {LargeBuffer(static_cast<std::size_t>(data_bytes)),
            LargeBuffer(static_cast<std::size_t>(content_bytes)), data_bytes, content_bytes};
  }

  static const Impl& present(const std::unique_ptr<Impl>& impl) {
    if (!impl) throw Error(Status::kWrongState, "the reader was moved to another object");
    return *impl;
  }

  std::unique_ptr<RandomAccess> input;
  RestoreOptions options;
  std::optional<IndexedRanges> indexed;  // with an index,
  std::optional<BlockTable> table;       // or without one
  // What is kept of the last call for one block. Neighbours of a range need the same block. Another block is restored
  // in the same memory, which takes less time than new memory of the system.
  mutable Kept<BlockMemory> spare;
  mutable Kept<std::shared_ptr<const LastBlock>> last;
};

void RangeReader::Impl::restore(std::span<const ContentBytes> ranges, const Receive& receive) const {
  NeededBlocks needed(*table, ranges);
  std::vector<NeededBlock> ahead;
  bool ended = false;
  while (!ended && ahead.size() < kBlocksAhead) {
    if (auto block = needed.next())
      ahead.push_back(std::move(*block));
    else
      ended = true;
  }
  if (ahead.empty()) return;

  const unsigned threads = resolve_threads(options.threads);
  const Format format = table->block_format();
  Workload work{.direction = Direction::kRestore, .format = format, .threads = options.threads};
  BatchNeeds needs;
  std::uint64_t most_data_bytes = 0;
  if (ended) {
    work.content_bytes = work.compressed_bytes = 0;
    for (const NeededBlock& block : ahead) {
      *work.content_bytes += block.content_bytes;
      *work.compressed_bytes += block.block.data_bytes;
      if (block.status != Status::kOk) continue;
      needs.block_bytes = std::max<std::uint64_t>(needs.block_bytes, block.content_bytes);
      most_data_bytes = std::max<std::uint64_t>(most_data_bytes, block.block.data_bytes);
    }
    needs.block_bytes = std::max<std::uint64_t>(needs.block_bytes, 1);
    needs.content_bytes = ahead.size() * needs.block_bytes;
  } else {
    work.content_bytes = needs.content_bytes = needed.content_bytes();
    needs.block_bytes = table->most_content_bytes();
    most_data_bytes = table->most_data_bytes();
  }
  ResilientEngine engine(options.backend, options.device, work, DeviceTime::kBefore, options.between_pieces);
  const BlockEngine& preferred = engine.preferred();
  const bool in_memory = input->memory().has_value();
  const std::uint64_t input_room = in_memory ? 0 : most_data_bytes;
  needs.buffer_bytes_per_block = input_room + needs.block_bytes +
                                 preferred.staging_bytes(static_cast<std::size_t>(most_data_bytes),
                                                         static_cast<std::size_t>(needs.block_bytes));
  needs.preferred_batch_bytes = std::max<std::uint64_t>(
      preferred.preferred_batch_bytes(), preferred.preferred_batch_blocks() * needs.block_bytes);
  needs.preferred_batches_in_flight = preferred.preferred_batches_in_flight(threads);
  needs.memory_limit_bytes = options.memory_limit_bytes;
  needs.device = preferred.device_needs(
      {.direction = Direction::kRestore, .format = format, .block_bytes = needs.block_bytes});
  needs.device_limit_bytes = options.gpu_memory_limit_bytes;
  const BatchPlan plan = plan_batches(needs);

  std::vector<Batch> batches(plan.batches_in_flight);
  const bool is_one_block = ended && ahead.size() == 1;
  const std::uint64_t first_at = ahead.front().content_at;
  BlockMemory memory;
  if (is_one_block) {
    memory = take_memory(input_room, needs.block_bytes);
    batches[0].input = std::move(memory.data);
    batches[0].output = std::move(memory.content);
  }
  std::size_t next = 0;  // of those ahead
  const auto fill = [&](Batch& batch) {
    batch.blocks.clear();
    while (batch.blocks.size() < plan.blocks_per_batch) {
      std::optional<NeededBlock> block;
      if (next < ahead.size())
        block = std::move(ahead[next++]);
      else if (!ended)
        block = needed.next();
      if (!block) break;
      batch.blocks.push_back(std::move(*block));
    }
    if (!batch.blocks.empty() && batch.output.get() == nullptr) {
      batch.input = LargeBuffer(static_cast<std::size_t>(plan.blocks_per_batch * input_room));
      batch.output =
          preferred.make_buffer(static_cast<std::size_t>(plan.blocks_per_batch * needs.block_bytes));
    }
    return !batch.blocks.empty();
  };
  const Checksum checksum = table->format().checksum();
  const auto restore_batch = [&](Batch& batch) {
    const std::size_t count = batch.blocks.size();
    batch.data.assign(count, {});
    batch.contents.assign(count, {});
    batch.statuses.assign(count, Status::kOk);
    const auto verify = [&](std::size_t i, const std::optional<std::uint32_t>& expected,
                            std::span<const std::byte> bytes) {
      if (options.verify_checksums && expected && checksum_of(checksum, bytes) != *expected)
        batch.statuses[i] = Status::kBlockChecksumMismatch;
    };
    run_in_parallel(count, kBlocksGrain, [&](std::size_t i) {
      const NeededBlock& block = batch.blocks[i];
      // Also if the input has changed, nothing exceeds its room.
      batch.statuses[i] =
          block.status != Status::kOk ? block.status
          : block.content_bytes > needs.block_bytes || block.block.data_bytes > most_data_bytes
              ? Status::kInputChanged
              : Status::kOk;
      if (batch.statuses[i] != Status::kOk) return;
      const std::span<std::byte> room(batch.input.get() + i * input_room, block.block.data_bytes);
      batch.data[i] = in_memory ? block.block.data(*input->memory()) : bytes_at(*input, block.block.at, room);
      if (batch.data[i].size() != block.block.data_bytes)
        batch.statuses[i] = Status::kInputChanged;
      else
        verify(i, block.block.checksum, batch.data[i]);
    });
    std::vector<BlockTask> tasks;
    std::vector<std::size_t> numbers;
    std::byte* at = batch.output.get();
    for (std::size_t i = 0; i < count; ++i) {
      const NeededBlock& block = batch.blocks[i];
      if (batch.statuses[i] != Status::kOk) continue;
      if (block.block.stored) {
        batch.contents[i] = batch.data[i];
        continue;
      }
      BlockTask& task = tasks.emplace_back();
      task.input = batch.data[i];
      task.output = {at, static_cast<std::size_t>(block.content_bytes)};
      at += block.content_bytes;
      numbers.push_back(i);
    }
    if (!tasks.empty()) engine.restore(tasks, format);
    run_in_parallel(tasks.size(), kBlocksGrain, [&](std::size_t task) {
      const std::size_t i = numbers[task];
      const std::span<const std::byte> content = tasks[task].output;
      if (tasks[task].status != Status::kOk)
        batch.statuses[i] = tasks[task].status;
      else if (tasks[task].output_bytes != content.size())
        batch.statuses[i] = Status::kContentSizeMismatch;
      else
        batch.contents[i] = content;
    });
    run_in_parallel(count, kBlocksGrain, [&](std::size_t i) {
      if (batch.statuses[i] != Status::kOk) return;
      if (batch.contents[i].size() != batch.blocks[i].content_bytes)
        batch.statuses[i] = Status::kContentSizeMismatch;
      else
        verify(i, batch.blocks[i].block.content_checksum, batch.contents[i]);
    });
  };
  const auto give = [&](Batch& batch) {
    for (std::size_t i = 0; i < batch.blocks.size(); ++i) {
      const NeededBlock& block = batch.blocks[i];
      const std::uint64_t end = block.content_at + block.content_bytes;
      for (const std::size_t number : block.ranges) {
        const std::uint64_t from = std::clamp(ranges[number].begin, block.content_at, end),
                            to = std::clamp(ranges[number].end, block.content_at, end);
        const auto piece = batch.statuses[i] != Status::kOk
                               ? std::span<const std::byte>()
                               : batch.contents[i].subspan(static_cast<std::size_t>(from - block.content_at),
                                                           static_cast<std::size_t>(to - from));
        receive(number, from, batch.statuses[i], block.place, piece);
      }
    }
  };
  run_ring(plan.batches_in_flight == 1 ? 1 : threads, batches, false, fill, restore_batch, give);
  if (!is_one_block) return;
  Batch& batch = batches[0];
  memory.data = std::move(batch.input);
  memory.content = std::move(batch.output);
  if (batch.statuses[0] == Status::kOk)
    last.keep(std::make_shared<LastBlock>(*this, std::move(memory), first_at, batch.contents[0]));
  else
    spare.keep(std::move(memory));
}

RangeReader::RangeReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RangeReader::RangeReader(std::span<const std::byte> input, const RestoreOptions& options)
    : impl_(std::make_unique<Impl>(std::make_unique<MemoryAccess>(input), options)) {}
RangeReader::RangeReader(ReadAt read, std::uint64_t input_bytes, const RestoreOptions& options) {
  if (!read) throw Error(Status::kInvalidOption, "read is an empty function");
  impl_ = std::make_unique<Impl>(std::make_unique<CallAccess>(std::move(read), input_bytes), options);
}
RangeReader RangeReader::open(const std::string& path, const RestoreOptions& options) {
  validate(options);
  return RangeReader(std::make_unique<Impl>(std::make_unique<FileAccess>(path), options));
}
RangeReader RangeReader::open(int descriptor, const RestoreOptions& options) {
  validate(options);
  return RangeReader(std::make_unique<Impl>(std::make_unique<FileAccess>(descriptor), options));
}
RangeReader::~RangeReader() = default;
RangeReader::RangeReader(RangeReader&&) noexcept = default;
RangeReader& RangeReader::operator=(RangeReader&&) noexcept = default;

std::uint64_t RangeReader::content_bytes() const {
  const Impl& impl = Impl::present(impl_);
  return impl.indexed ? impl.indexed->content_bytes() : impl.table->content_bytes();
}

std::size_t RangeReader::read(std::uint64_t at, std::span<std::byte> into) const {
  const Impl& impl = Impl::present(impl_);
  if (const auto memory = impl.input->memory()) refuse_overlap(*memory, into);
  const std::uint64_t all_bytes = content_bytes(), begin = std::min(at, all_bytes);
  const ContentBytes range{begin, begin + std::min<std::uint64_t>(into.size(), all_bytes - begin)};
  const auto require = [&](Status status, const Place& place) {
    if (status == Status::kOk) return;
    throw Error(status, fmt::format("the content's bytes {}-{} cannot be restored", range.begin, range.end),
                place);
  };
  if (impl.indexed) {
    const RestoredRange restored = std::move(impl.indexed->restore({&range, 1}).front());
    require(restored.status, restored.place);
    std::ranges::copy(restored.bytes, into.begin());
  } else {
    ContentBytes rest = range;
    if (const auto last = impl.last.share(); last && last->content_at <= rest.begin) {
      const auto kept = last->content.subspan(static_cast<std::size_t>(
          std::min<std::uint64_t>(rest.begin - last->content_at, last->content.size())));
      const std::size_t bytes =
          static_cast<std::size_t>(std::min<std::uint64_t>(kept.size(), rest.end - rest.begin));
      std::ranges::copy(kept.first(bytes), into.begin());
      rest.begin += bytes;
    }
    impl.restore({&rest, 1}, [&](std::size_t, std::uint64_t from, Status status, const Place& place,
                                 std::span<const std::byte> bytes) {
      require(status, place);
      std::ranges::copy(bytes, into.begin() + static_cast<std::ptrdiff_t>(from - range.begin));
    });
  }
  return static_cast<std::size_t>(range.end - range.begin);
}

std::vector<RestoredRange> RangeReader::restore(std::span<const ContentBytes> ranges) const {
  const Impl& impl = Impl::present(impl_);
  require_forward(ranges);
  if (impl.indexed) return impl.indexed->restore(ranges);
  std::vector<RestoredRange> restored(ranges.size());
  for (std::size_t i = 0; i < ranges.size(); ++i)
    if (ranges[i].begin > content_bytes()) restored[i].status = Status::kRangeOutsideContent;
  // The memory for a range grows only with what was restored.
  impl.restore(ranges, [&](std::size_t number, std::uint64_t, Status status, const Place& place,
                           std::span<const std::byte> bytes) {
    RestoredRange& range = restored[number];
    if (range.status != Status::kOk) return;
    if (status == Status::kOk)
      range.bytes.insert(range.bytes.end(), bytes.begin(), bytes.end());
    else
      range = {status, place, {}};
  });
  return restored;
}

std::vector<RestoredRange> restore_ranges(std::span<const std::byte> input,
                                          std::span<const ContentBytes> ranges,
                                          const RestoreOptions& options) {
  require_forward(ranges);
  RestoreOptions own = options;
  std::uint64_t used_bytes = 0;
  if (options.used_bytes != nullptr) own.used_bytes = &used_bytes;
  std::vector<RestoredRange> restored = RangeReader(input, own).restore(ranges);
  if (options.used_bytes != nullptr) *options.used_bytes = used_bytes;
  return restored;
}

}  // namespace hemstitch
