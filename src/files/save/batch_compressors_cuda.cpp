#include "files/save/batch_compressors_cuda.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "batch/lz4_batch_device.hpp"
#include "core/status.hpp"
#include "gpu/cuda/cuda_error.hpp"
#include "hemstitch/batch.hpp"

namespace hemstitch {
namespace {

using cuda::check;
using cuda::DeviceBuffer;

[[noreturn]] void throw_not_compressed(const FrameBatch& batch) {
  throw Error(Status::kDeviceFault,
              fmt::format("bytes {} to {} could not be compressed", batch.at, batch.at + batch.bytes));
}

std::uint64_t most_given_bytes(const SaveWork& work) {
  std::uint64_t most = 0;
  for (const FrameBatch& batch : work.batches) most = std::max(most, batch.given_bytes);
  return most;
}

// The most of `temp_bytes` of a batch: the last one may be a little shorter or longer than the others.
template <class TempBytes>
std::size_t most_temp_bytes(const SaveWork& work, const TempBytes& temp_bytes) {
  return std::max<std::size_t>(temp_bytes(work.batches.front()), temp_bytes(work.batches.back()));
}

// As if no block shrank, with the frame's bytes around each.
std::uint64_t most_frame_bytes(const FrameWriter& writer, std::uint64_t content_bytes) {
  const FrameRoom room = writer.room();
  return room.header_bytes + content_bytes +
         writer.layout(content_bytes).body_block_count() * room.around_block_bytes() + room.last_byte_bytes +
         room.end_bytes;
}

class SavedFrameCompressor : public BatchCompressor {
 public:
  explicit SavedFrameCompressor(const SaveWork& work)
      : work_(work), capacity_(most_frame_bytes(work.writer, most_given_bytes(work))) {
    frame_.block_bytes = static_cast<std::uint32_t>(work.options.block_bytes);
    frame_.block_checksums = work.options.block_checksums;
    temp_ = DeviceBuffer<std::byte>(most_temp_bytes(work,
                                                    [&](const FrameBatch& batch) {
                                                      return lz4_frame_compress_temp_bytes(
                                                          batch.given_bytes, frame_, work.options.level);
                                                    }),
                                    work.stream.get(), work.device.memory());
    d_results_ = DeviceBuffer<Result>(work.slot_count, work.stream.get(), work.device.memory());
    check(cudaMemsetAsync(d_results_.get(), 0, d_results_.bytes(), work.stream.get()),
          "cudaMemsetAsync");  // padding, too
    results_ = work.device.pinned().take(d_results_.bytes());
    for (std::size_t i = 0; i < work.slot_count; ++i)
      outputs_.emplace_back(capacity_, work.stream.get(), work.device.memory());
  }

  void enqueue(std::size_t slot, const FrameBatch& batch) override {
    Result* const d_result = d_results_.get() + slot;
    lz4_frame_compress_async(work_.content.data() + batch.at, batch.given_bytes, frame_, work_.options.level,
                             outputs_[slot].get(), capacity_, &d_result->bytes, &d_result->status,
                             {temp_.get(), temp_.bytes()}, work_.stream.get());
    check(cudaMemcpyAsync(h_results() + slot, d_result, sizeof(Result), cudaMemcpyDeviceToHost,
                          work_.stream.get()),
          "cudaMemcpyAsync");
  }

  std::vector<std::span<const std::byte>> written(std::size_t slot, const FrameBatch& batch) override {
    const Result& result = h_results()[slot];
    if (result.status != HEMSTITCH_OK || result.bytes < work_.header_bytes + batch.cut_bytes)
      throw_not_compressed(batch);
    // Only the blocks.
    return {
        {outputs_[slot].get() + work_.header_bytes, outputs_[slot].get() + result.bytes - batch.cut_bytes}};
  }

 private:
  struct Result {
    std::uint64_t bytes;
    hemstitch_status status;
  };
  Result* h_results() const { return reinterpret_cast<Result*>(results_.span().data()); }

  const SaveWork work_;
  std::uint64_t capacity_;
  hemstitch_lz4_frame frame_{};
  DeviceBuffer<std::byte> temp_;
  DeviceBuffer<Result> d_results_;
  cuda::PinnedPool::Block results_;
  std::vector<DeviceBuffer<std::byte>> outputs_;  // of slots
};

class SavedBlocksCompressor : public BatchCompressor {
 public:
  explicit SavedBlocksCompressor(const SaveWork& work)
      : work_(work),
        most_blocks_(block_count(most_given_bytes(work))),
        room_bytes_(batch::blocks_compress_bound(work.options.format, work.options.block_bytes)) {
    const auto temp_bytes = [&](const FrameBatch& batch) {
      return batch::blocks_compress_temp_bytes(work.options.format, blocks_of(0, batch), work.options.level);
    };
    for (std::size_t i = 0; i < work.slot_count; ++i) {
      Slot slot;
      slot.output =
          DeviceBuffer<std::byte>(most_blocks_ * room_bytes_, work.stream.get(), work.device.memory());
      slot.tables =
          DeviceBuffer<std::uint64_t>(kTables * most_blocks_, work.stream.get(), work.device.memory());
      slot.statuses = DeviceBuffer<hemstitch_status>(most_blocks_, work.stream.get(), work.device.memory());
      slot.host = work.device.pinned().take(most_blocks_ *
                                            (kTables * sizeof(std::uint64_t) + sizeof(hemstitch_status)));
      slots_.push_back(std::move(slot));
    }
    temp_ =
        DeviceBuffer<std::byte>(most_temp_bytes(work, temp_bytes), work.stream.get(), work.device.memory());
  }

  void enqueue(std::size_t slot, const FrameBatch& batch) override {
    const std::size_t count = block_count(batch.given_bytes);
    for (std::size_t i = 0; i < count; ++i) {
      h_table(slot, kBegins)[i] =
          reinterpret_cast<std::uintptr_t>(work_.content.data() + batch.at) + i * work_.options.block_bytes;
      h_table(slot, kSizes)[i] = block_bytes(batch, i);
      h_table(slot, kOutputs)[i] =
          reinterpret_cast<std::uintptr_t>(slots_[slot].output.get() + i * room_bytes_);
    }
    copy(d_table(slot, 0), h_table(slot, 0), kGiven * most_blocks_ * sizeof(std::uint64_t),
         cudaMemcpyHostToDevice);
    hemstitch_status* const d_statuses = slots_[slot].statuses.get();
    batch::blocks_compress(
        work_.options.format, blocks_of(slot, batch), work_.options.level,
        {.outputs = {reinterpret_cast<void* const*>(d_table(slot, kOutputs)), count},
         .output_bytes = {reinterpret_cast<std::size_t*>(d_table(slot, kOutputBytes)), count},
         .statuses = {d_statuses, count}},
        {temp_.get(), temp_.bytes()}, work_.stream.get());
    copy(h_table(slot, kOutputBytes), d_table(slot, kOutputBytes), count * sizeof(std::uint64_t),
         cudaMemcpyDeviceToHost);
    copy(h_statuses(slot), d_statuses, count * sizeof(hemstitch_status), cudaMemcpyDeviceToHost);
  }

  std::vector<std::span<const std::byte>> written(std::size_t slot, const FrameBatch& batch) override {
    std::vector<std::span<const std::byte>> pieces;
    for (std::size_t i = 0; i < block_count(batch.given_bytes); ++i) {
      const std::uint64_t bytes = h_table(slot, kOutputBytes)[i];
      if (h_statuses(slot)[i] != HEMSTITCH_OK || bytes > room_bytes_) throw_not_compressed(batch);
      pieces.emplace_back(slots_[slot].output.get() + i * room_bytes_, bytes);
    }
    return pieces;
  }

 private:
  // Arrays of 64 bits for each block, one behind the other: those that are given first.
  enum Table { kBegins, kSizes, kOutputs, kGiven, kOutputBytes = kGiven, kTables };
  struct Slot {
    DeviceBuffer<std::byte> output;
    DeviceBuffer<std::uint64_t> tables;
    DeviceBuffer<hemstitch_status> statuses;
    cuda::PinnedPool::Block host;  // tables, then statuses
  };

  std::size_t block_count(std::uint64_t bytes) const {
    return static_cast<std::size_t>((bytes + work_.options.block_bytes - 1) / work_.options.block_bytes);
  }
  std::size_t block_bytes(const FrameBatch& batch, std::size_t i) const {
    return static_cast<std::size_t>(std::min<std::uint64_t>(
        work_.options.block_bytes, batch.given_bytes - i * work_.options.block_bytes));
  }
  std::uint64_t* d_table(std::size_t slot, unsigned table) const {
    return slots_[slot].tables.get() + table * most_blocks_;
  }
  std::uint64_t* h_table(std::size_t slot, unsigned table) const {
    return reinterpret_cast<std::uint64_t*>(slots_[slot].host.span().data()) + table * most_blocks_;
  }
  hemstitch_status* h_statuses(std::size_t slot) const {
    return reinterpret_cast<hemstitch_status*>(h_table(slot, kTables));
  }
  batch::Blocks blocks_of(std::size_t slot, const FrameBatch& batch) const {
    const std::size_t count = block_count(batch.given_bytes);
    return {.blocks = {reinterpret_cast<const void* const*>(d_table(slot, kBegins)), count},
            .block_bytes = {reinterpret_cast<const std::size_t*>(d_table(slot, kSizes)), count},
            .max_block_bytes = work_.options.block_bytes,
            .total_block_bytes = batch.given_bytes};
  }
  void copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) const {
    check(cudaMemcpyAsync(to, from, bytes, kind, work_.stream.get()), "cudaMemcpyAsync");
  }

  const SaveWork work_;
  std::size_t most_blocks_, room_bytes_;
  std::vector<Slot> slots_;
  DeviceBuffer<std::byte> temp_;
};

}  // namespace

std::unique_ptr<BatchCompressor> make_frame_compressor(const SaveWork& work) {
  return std::make_unique<SavedFrameCompressor>(work);
}

std::unique_ptr<BatchCompressor> make_blocks_compressor(const SaveWork& work) {
  return std::make_unique<SavedBlocksCompressor>(work);
}

}  // namespace hemstitch
