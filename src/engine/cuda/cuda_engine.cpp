#include "engine/cuda/cuda_engine.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "core/slot_ring.hpp"
#include "engine/cuda/cuda_engine_tuning.hpp"
#include "engine/staging.hpp"
#include "format/formats.hpp"
#include "format/formats_cuda.hpp"
#include "gpu/cuda/device.hpp"
#include "gpu/cuda/device_buffer.hpp"
#include "gpu/cuda/device_clock.hpp"
#include "gpu/cuda/event.hpp"
#include "gpu/cuda/growing_buffer.hpp"
#include "gpu/cuda/nvtx_range.hpp"
#include "gpu/cuda/pinned_arrays.hpp"

namespace hemstitch::cuda {
namespace {

// Events in a slot's stream, recorded where the stages of a batch begin and end.
struct Stamps {
  Event upload{Event::Kind::kTiming};
  Event kernel{Event::Kind::kTiming};
  Event kernel_end{Event::Kind::kTiming};
  Event download{Event::Kind::kTiming};
  Event download_end{Event::Kind::kTiming};
};

struct Slot {
  // The calling thread's current device must be `device`.
  explicit Slot(Device& device)
      : pinned(device.pinned()),
        input(device.memory()),
        output(device.memory()),
        arrays(device.memory()),
        scratch(device.memory()) {}

  // Takes pinned memory, which the slot keeps until the call is over.
  std::byte* pin(std::size_t bytes) {
    lent.push_back(pinned.take(bytes));
    return lent.back().span().data();
  }

  // Whether all the bytes are in one block of pinned memory.
  bool holds(std::span<const std::byte> bytes) const {
    const std::span<const std::byte> block = pinned.lent_around(bytes.data());
    return !block.empty() && bytes.data() + bytes.size() <= block.data() + block.size();
  }

  // Waits until the stream has nothing left to do. The thread sleeps unless that is soon: a thread that polls
  // would take a core from those that read and write.
  void wait() {
    passed.record(stream.get());
    passed.await();
  }

  Stream stream;
  Event passed{Event::Kind::kWait};
  Stamps stamps;
  PinnedPool& pinned;
  std::vector<PinnedPool::Block> lent;

  void release_memory() {
    for (GrowingBuffer<std::byte>* memory : {&input, &output, &arrays, &scratch}) memory->release();
  }

  GrowingBuffer<std::byte> input, output, arrays, scratch;
};

// Copies the arrays from `first` to `last`, of `count` elements each, in one copy, since each copy waits
// behind those of all other batches. They have the same layout on host and device.
template <class First, class Last>
std::size_t bytes_to(const PinnedArrays::Array<First>& first, const PinnedArrays::Array<Last>& last,
                     std::size_t count) {
  return static_cast<std::size_t>(reinterpret_cast<const std::byte*>(last.h + count) -
                                  reinterpret_cast<const std::byte*>(first.h));
}
template <class First, class Last>
void upload(const PinnedArrays::Array<First>& first, const PinnedArrays::Array<Last>& last, std::size_t count,
            cudaStream_t stream) {
  copy_async(first.d, first.h, bytes_to(first, last, count), cudaMemcpyHostToDevice, stream);
}
template <class First, class Last>
void download(const PinnedArrays::Array<First>& first, const PinnedArrays::Array<Last>& last,
              std::size_t count, cudaStream_t stream) {
  copy_async(first.h, first.d, bytes_to(first, last, count), cudaMemcpyDeviceToHost, stream);
}

// Enqueues the upload of the input span: directly if it is one piece of pinned memory, else from a copy of
// the pieces.
void upload_input(const Staging& staging, Slot& slot, std::byte* d_input) {
  if (staging.uploads.size() == 1 && slot.holds(staging.uploads[0].from)) {
    const Staging::Upload& upload = staging.uploads[0];
    slot.stamps.upload.record(slot.stream.get());
    copy_async(d_input + upload.at, upload.from.data(), upload.from.size(), cudaMemcpyHostToDevice,
               slot.stream.get());
    return;
  }
  std::byte* const h_input = slot.pin(staging.input_bytes);
  for (const Staging::Upload& upload : staging.uploads)
    std::memcpy(h_input + upload.at, upload.from.data(), upload.from.size());
  slot.stamps.upload.record(slot.stream.get());
  copy_async(d_input, h_input, staging.input_bytes, cudaMemcpyHostToDevice, slot.stream.get());
}

// Arrays of either kind are uploaded together, so that the bytes between the results are initialized too. The
// results are the last arrays, and only they are downloaded.
struct CompressArrays {
  PinnedArrays::Array<DeviceBlock> blocks;
  PinnedArrays::Array<std::uint64_t> offsets;
  PinnedArrays::Array<std::uint32_t> sizes;
  PinnedArrays::Array<hemstitch_status> statuses;

  CompressArrays(PinnedArrays& arrays, std::size_t count)
      : blocks(arrays.take<DeviceBlock>(count)),
        offsets(arrays.take<std::uint64_t>(count + 1)),
        sizes(arrays.take<std::uint32_t>(count)),
        statuses(arrays.take<hemstitch_status>(count)) {}
};

struct RestoreArrays {
  PinnedArrays::Array<const std::byte*> blocks;
  PinnedArrays::Array<std::size_t> block_bytes;
  PinnedArrays::Array<std::byte*> outputs;
  PinnedArrays::Array<std::size_t> capacities;
  PinnedArrays::Array<std::uint32_t> history_bytes;
  PinnedArrays::Array<std::size_t> output_bytes;
  PinnedArrays::Array<hemstitch_status> statuses;

  RestoreArrays(PinnedArrays& arrays, std::size_t count)
      : blocks(arrays.take<const std::byte*>(count)),
        block_bytes(arrays.take<std::size_t>(count)),
        outputs(arrays.take<std::byte*>(count)),
        capacities(arrays.take<std::size_t>(count)),
        history_bytes(arrays.take<std::uint32_t>(count)),
        output_bytes(arrays.take<std::size_t>(count)),
        statuses(arrays.take<hemstitch_status>(count)) {}
};

template <class Arrays>
Arrays place_arrays(Slot& slot, std::size_t count) {
  PinnedArrays counted(nullptr, nullptr);
  Arrays(counted, count);
  PinnedArrays placed(slot.pin(counted.bytes()), slot.arrays.at_least(counted.bytes(), slot.stream.get()));
  return Arrays(placed, count);
}

// Throws kInvalidOption if devices do not know the format.
const DeviceFormat& known_format(Format id) {
  if (const DeviceFormat* const format = device_format(id)) return *format;
  throw Error(Status::kInvalidOption, "CUDA devices do not know the format");
}

// Has the twin compress a block that does not shrink, but whose caller leaves more room than its size: the
// device stores such blocks instead of writing them longer. No frame needs this.
void compress_without_shrinking(BlockTask& task, const EncodeParameters& parameters) {
  if (const Codec* const twin = FormatTable::instance().codec(parameters.format, &FormatRow::reference))
    twin->compress({&task, 1}, parameters);
  else
    task.status = Status::kOutputTooSmall;
}

// The most memory that the output of a block takes: if it is stored, its own bytes, which may be more than
// its room.
std::size_t taken_bytes(const BlockTask& task) { return std::max(task.input.size(), task.output.size()); }

// The memory that holds the outputs, with the frame's bytes around each of them. Empty if the outputs may not
// be moved, or if it is not pinned.
std::span<std::byte> movable_room(const Slot& slot, std::span<const BlockTask> tasks,
                                  const EncodeParameters& parameters) {
  if (!parameters.movable_outputs) return {};
  const BlockTask& last = tasks.back();
  std::byte* const begin = tasks.front().output.data() - parameters.before_block_bytes;
  std::byte* const end = last.output.data() + taken_bytes(last) + parameters.behind_block_bytes;
  const std::span<std::byte> room(begin, end);
  return slot.holds(room) ? room : std::span<std::byte>();
}

void compress_in(Slot& slot, std::span<BlockTask> tasks, const EncodeParameters& parameters) {
  const NvtxRange range("engine.compress");
  const DeviceFormat& format = known_format(parameters.format);
  cudaStream_t const stream = slot.stream.get();
  const std::size_t count = tasks.size();
  if (const auto* const of_parts = dynamic_cast<const DeviceFormatOfParts*>(&format))
    for (BlockTask& task : tasks)
      if (!task.dictionary.empty()) task.history = of_parts->dictionary_history(task.dictionary);
  const bool has_histories =
      std::ranges::any_of(tasks, [](const BlockTask& task) { return !task.history.empty(); });
  const Staging staging = stage_for_compression(tasks, !has_histories && slot.holds(whole_input(tasks)));
  std::byte* const d_input = slot.input.at_least(staging.input_bytes, stream);
  const auto arrays = place_arrays<CompressArrays>(slot, count);

  DeviceBlocks batch{arrays.blocks.d, static_cast<std::uint32_t>(count)};
  for (std::size_t i = 0; i < count; ++i) {
    const auto block_bytes = static_cast<std::uint32_t>(tasks[i].input.size());
    const StagedTask& staged = staging.tasks[i];
    arrays.blocks.h[i] = {d_input + staged.input_at, block_bytes, staged.history_bytes,
                          batch.total_block_bytes};
    batch.max_block_bytes = std::max(batch.max_block_bytes, block_bytes);
    batch.max_history_bytes = std::max(batch.max_history_bytes, staged.history_bytes);
    batch.total_block_bytes += block_bytes;
  }
  // If outputs may be moved, they are downloaded to where they will stay; else they are copied to their
  // places afterwards.
  const std::span<std::byte> room = movable_room(slot, tasks, parameters);
  const auto lead_bytes = static_cast<std::uint32_t>(room.empty() ? 0 : parameters.before_block_bytes);
  const auto trail_bytes = static_cast<std::uint32_t>(room.empty() ? 0 : parameters.behind_block_bytes);
  std::size_t span_bytes = count * (lead_bytes + trail_bytes);
  for (const BlockTask& task : tasks) span_bytes += taken_bytes(task);
  const DeviceSpan span{.d_span = slot.output.zeroed_at_least(span_bytes, stream),
                        .capacity_bytes = span_bytes,
                        .lead_bytes = lead_bytes,
                        .trail_bytes = trail_bytes,
                        .d_offsets = arrays.offsets.d,
                        .d_sizes = arrays.sizes.d,
                        .d_statuses = arrays.statuses.d};
  const std::size_t scratch_bytes =
      format.compress_span_scratch_bytes(batch, parameters.level, parameters.block_bytes);
  std::byte* const d_scratch = slot.scratch.at_least(scratch_bytes, stream);

  upload_input(staging, slot, d_input);
  upload(arrays.blocks, arrays.statuses, count, stream);
  slot.stamps.kernel.record(stream);
  format.compress_span(batch, parameters.level, parameters.block_bytes, span, d_scratch, scratch_bytes,
                       stream);
  slot.stamps.kernel_end.record(stream);
  download(arrays.offsets, arrays.statuses, count, stream);
  slot.wait();

  const std::size_t result_bytes = arrays.offsets.h[count];
  std::byte* const h_output = room.empty() ? slot.pin(result_bytes) : room.data();
  slot.stamps.download.record(stream);
  copy_async(h_output, span.d_span, result_bytes, cudaMemcpyDeviceToHost, stream);
  slot.stamps.download_end.record(stream);
  slot.wait();

  // After outputs were moved, there is no room to redo a block alone.
  if (!room.empty() && std::any_of(arrays.statuses.h, arrays.statuses.h + count,
                                   [](hemstitch_status status) { return status != HEMSTITCH_OK; }))
    throw Error(Status::kDeviceFault, "a block could not be compressed");
  for (std::size_t i = 0; i < count; ++i) {
    BlockTask& task = tasks[i];
    const bool stored = (arrays.sizes.h[i] & kStoredBit) != 0;
    const std::size_t bytes = arrays.sizes.h[i] & ~kStoredBit;
    task.output_bytes = 0;
    std::byte* const data = h_output + arrays.offsets.h[i] + lead_bytes;
    if (!room.empty()) task.output = {data, task.output.size()};
    if (arrays.statuses.h[i] != HEMSTITCH_OK) {
      task.status = Status::kDeviceFault;  // there was room for every block
    } else if (stored && task.output.size() >= task.input.size()) {
      compress_without_shrinking(task, parameters);
    } else if (stored || bytes > task.output.size()) {
      task.status = Status::kOutputTooSmall;
    } else {
      if (room.empty()) std::memcpy(task.output.data(), data, bytes);
      task.output_bytes = bytes;
      task.status = Status::kOk;
    }
  }
}

void restore_in(Slot& slot, std::span<BlockTask> tasks, const DeviceFormat& format) {
  const NvtxRange range("engine.restore");
  cudaStream_t const stream = slot.stream.get();
  const std::size_t count = tasks.size();
  const Staging staging = stage_for_restoration(tasks, slot.holds(whole_input(tasks)));
  std::byte* const d_input = slot.input.at_least(staging.input_bytes, stream);
  std::byte* const d_output = slot.output.zeroed_at_least(staging.output_bytes, stream);
  const auto arrays = place_arrays<RestoreArrays>(slot, count);

  DeviceRestore batch{.d_blocks = arrays.blocks.d,
                      .d_block_bytes = arrays.block_bytes.d,
                      .d_outputs = arrays.outputs.d,
                      .d_capacities = arrays.capacities.d,
                      .d_history_bytes = staging.moves.empty() ? nullptr : arrays.history_bytes.d,
                      .d_output_bytes = arrays.output_bytes.d,
                      .d_statuses = arrays.statuses.d,
                      .count = count};
  for (std::size_t i = 0; i < count; ++i) {
    const StagedTask& staged = staging.tasks[i];
    arrays.blocks.h[i] = d_input + staged.input_at;
    arrays.block_bytes.h[i] = tasks[i].input.size();
    arrays.outputs.h[i] = d_output + staged.output_at;
    arrays.capacities.h[i] = tasks[i].output.size();
    arrays.history_bytes.h[i] = staged.history_bytes;
    batch.max_capacity = std::max(batch.max_capacity, tasks[i].output.size());
    batch.max_block_bytes = std::max(batch.max_block_bytes, tasks[i].input.size());
  }
  const std::size_t scratch_bytes = format.restore_scratch_bytes(batch);
  std::byte* const d_scratch = slot.scratch.at_least(scratch_bytes, stream);

  upload_input(staging, slot, d_input);
  upload(arrays.blocks, arrays.statuses, count, stream);
  slot.stamps.kernel.record(stream);
  for (const Staging::Move& move : staging.moves)
    copy_async(d_output + move.at, d_input + move.from, move.bytes, cudaMemcpyDeviceToDevice, stream);
  format.restore(batch, d_scratch, scratch_bytes, stream);
  slot.stamps.kernel_end.record(stream);
  download(arrays.output_bytes, arrays.statuses, count, stream);
  slot.wait();

  for (std::size_t i = 0; i < count; ++i) {
    // A block that restores to more than its frame allows is damaged: the frame limits the room, not the
    // caller.
    const bool restored = arrays.statuses.h[i] == HEMSTITCH_OK;
    tasks[i].status = restored ? Status::kOk : Status::kCorruptBlock;
    tasks[i].output_bytes = restored ? arrays.output_bytes.h[i] : 0;
  }
  const std::vector<StagedSpan> spans = results_of(staging, tasks);
  const bool direct = come_down_alone(spans) &&
                      std::ranges::all_of(spans, [&](const StagedSpan& span) { return slot.holds(span.to); });
  std::byte* const h_output = direct ? nullptr : slot.pin(staging.output_bytes);
  slot.stamps.download.record(stream);
  if (direct) {
    for (const StagedSpan& span : spans)
      copy_async(span.to.data(), d_output + span.at, span.to.size(), cudaMemcpyDeviceToHost, stream);
  } else {
    for (const StagedRun& run : runs_of(spans))
      copy_async(h_output + run.at, d_output + run.at, run.bytes, cudaMemcpyDeviceToHost, stream);
  }
  slot.stamps.download_end.record(stream);
  slot.wait();
  if (!direct)
    for (const StagedSpan& span : spans) std::memcpy(span.to.data(), h_output + span.at, span.to.size());
  clear_unused_rooms(tasks);
}

// Device memory of a slot; more than such batches take, since buffers that grow take up to a quarter more
// (core/grown_size.hpp).
std::uint64_t slot_bytes(const BlockWork& work, std::uint64_t full_blocks) {
  constexpr std::uint64_t kAroundBlockBytes = 64;  // alignment, and the frame's bytes
  const std::uint64_t count = full_blocks + work.more_blocks;
  const std::uint64_t content_bytes = full_blocks * work.block_bytes;
  // When compressing, histories are in the input; when restoring, in the input and the output. Those of a linked frame's blocks are the blocks
  // before them but for that of each input's first block in the batch.
  const std::uint64_t histories = work.linked ? std::min(count, 1 + work.more_blocks) : count;
  const std::uint64_t span_bytes = content_bytes + histories * work.history_bytes + count * kAroundBlockBytes;
  std::uint64_t bytes = 2 * span_bytes;
  PinnedArrays compress_arrays(nullptr, nullptr), restore_arrays(nullptr, nullptr);
  CompressArrays(compress_arrays, count);
  RestoreArrays(restore_arrays, count);
  bytes += std::max(compress_arrays.bytes(), restore_arrays.bytes());
  if (work.direction == Direction::kCompress) {
    const DeviceBlocks blocks{.block_count = static_cast<std::uint32_t>(count),
                              .max_block_bytes = static_cast<std::uint32_t>(work.block_bytes),
                              .max_history_bytes = static_cast<std::uint32_t>(work.history_bytes),
                              .total_block_bytes = content_bytes};
    bytes += known_format(work.format).compress_span_scratch_bytes(blocks, work.level, work.block_bytes);
  } else if (const DeviceFormat* const format = device_format(work.format);
             format != nullptr && format->restores()) {
    bytes += format->restore_scratch_bytes(
        {.count = count, .max_capacity = work.block_bytes, .max_block_bytes = work.block_bytes});
  }
  return bytes + bytes / 4;
}

// Reports the times of a finished batch.
void tell(DeviceClock& clock, const Stamps& stamps) {
  const std::uint64_t batch = clock.line().next_batch();
  clock.tell(Stage::kUpload, batch, stamps.upload, stamps.kernel);
  clock.tell(Stage::kKernel, batch, stamps.kernel, stamps.kernel_end);
  clock.tell(Stage::kDownload, batch, stamps.download, stamps.download_end);
}

}  // namespace

// The slots of a device, kept with it. Any thread may take a slot; it waits if none is free.
class EngineSlots {
 public:
  explicit EngineSlots(Device& device)
      : slots_(kEngineSlots, [&device] { return std::make_unique<Slot>(device); }) {}

  // Calls work(slot, tasks), or does so for smaller batches, one after the other, if memory does not suffice.
  // When it returns or throws, the slot's stream has nothing left to do.
  template <class Work>
  void run(std::span<BlockTask> tasks, DeviceClock* clock, const Work& work) {
    if (tasks.empty()) return;
    try {
      const SlotRing<Slot>::Lease slot = slots_.take();
      const EndOfCall end{*slot};
      try {
        if (clock != nullptr) clock->start(slot->stream);
        work(*slot, tasks);
        if (clock != nullptr) tell(*clock, slot->stamps);
        return;
      } catch (...) {
        slot->release_memory();  // for other slots, and for the halves
        throw;
      }
    } catch (const Error& error) {
      if (error.status() != Status::kDeviceOutOfMemory || tasks.size() == 1) throw;
    }
    run(tasks.first(tasks.size() / 2), clock, work);
    run(tasks.subspan(tasks.size() / 2), clock, work);
  }

  void release_memory() {
    slots_.for_each_free([](Slot& slot) { slot.release_memory(); });
  }

 private:
  struct EndOfCall {
    Slot& slot;
    // After an error, copies may still read and write pinned memory. (The error itself was thrown already.)
    ~EndOfCall() {
      cudaStreamSynchronize(slot.stream.get());
      slot.lent.clear();
    }
  };

  SlotRing<Slot> slots_;
};

CudaEngine::CudaEngine(Device& device) : device_(device), slots_(device.kept<EngineSlots>()) {}

CudaEngine::~CudaEngine() = default;

void CudaEngine::release_memory() { slots_.release_memory(); }

std::size_t CudaEngine::preferred_batch_bytes() const { return kEngineBatchBytes; }

std::size_t CudaEngine::preferred_batch_blocks() const { return kEngineBatchBlocks; }

unsigned CudaEngine::preferred_batches_in_flight(unsigned threads) const {
  // Besides those that the engine works on, one is filled and one is written.
  return threads == 1 ? 1 : kEngineSlots + 2;
}

std::size_t CudaEngine::staging_bytes(std::size_t input_bytes, std::size_t output_bytes) const {
  return 2 * (input_bytes + output_bytes);  // the pool rounds up to powers of two
}

DeviceNeeds CudaEngine::device_needs(const BlockWork& work) const {
  DeviceNeeds needs{.batch_bytes = [work](std::uint64_t blocks) { return slot_bytes(work, blocks); },
                    .slots = kEngineSlots,
                    .free_bytes = free_bytes()};
  return needs;
}

std::optional<std::uint64_t> CudaEngine::free_bytes() const {
  try {
    device_.make_current();
    std::size_t free_bytes = 0, total_bytes = 0;
    check(cudaMemGetInfo(&free_bytes, &total_bytes), "cudaMemGetInfo");
    return free_bytes;
  } catch (const Error&) {
    return std::nullopt;  // a failing device also fails in the first call, which is redone elsewhere
  }
}

bool CudaEngine::keep_time(TimeLine& line) {
  clock_ = std::make_unique<DeviceClock>(line);
  return true;
}

LargeBuffer CudaEngine::make_buffer(std::size_t bytes) const {
  try {
    device_.make_current();
    const auto block = std::make_shared<PinnedPool::Block>(device_.pinned().take(bytes));
    return LargeBuffer(std::shared_ptr<std::byte>(block, block->span().data()));
  } catch (const Error&) {
    return LargeBuffer(bytes);  // then copied through what pinned memory there is
  }
}

void CudaEngine::compress(std::span<BlockTask> tasks, const EncodeParameters& parameters) {
  if (parameters.window_log != 0)
    throw Error(Status::kInvalidOption, "window_log: only the backend 'cpu' searches for long matches");
  device_.make_current();
  slots_.run(tasks, clock_.get(),
             [&](Slot& slot, std::span<BlockTask> batch) { compress_in(slot, batch, parameters); });
}

void CudaEngine::restore(std::span<BlockTask> tasks, Format id) {
  device_.make_current();
  const DeviceFormat& format = known_format(id);
  slots_.run(tasks, clock_.get(),
             [&](Slot& slot, std::span<BlockTask> batch) { restore_in(slot, batch, format); });
}

bool CudaEngine::restores_blocks(Format id) const {
  const DeviceFormat* const format = device_format(id);
  return format != nullptr && format->restores();
}

bool CudaEngine::verifies_blocks(Format id) const {
  return restores_blocks(id) && dynamic_cast<const DeviceFormatOfParts*>(device_format(id)) == nullptr;
}

std::uint64_t CudaEngine::stream_limit_bytes(const StreamMeans& means) const {
  return means.device_memory_bytes != 0 ? means.device_memory_bytes : free_bytes().value_or(0) / 2;
}

StreamMemory CudaEngine::stream_memory(Format id, const FrameHeader& header, const StreamMeans& means) const {
  const DeviceFormat* const format = device_format(id);
  return format == nullptr ? StreamMemory() : format->stream_memory(header, means, stream_limit_bytes(means));
}

std::unique_ptr<StreamDecoder> CudaEngine::make_stream_decoder(Format id, const FrameHeader& header,
                                                               std::span<const std::byte> history,
                                                               const StreamMeans& means) {
  const DeviceFormat* const format = device_format(id);
  if (format == nullptr) return nullptr;
  return format->make_stream_decoder(
      {device_, clock_.get(), stream_limit_bytes(means), [this] { release_memory(); }}, header, history,
      means);
}

}  // namespace hemstitch::cuda
