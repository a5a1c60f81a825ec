// Streams of DEFLATE restored by the kernels of CUDA on the processor (emulated_cuda.hpp): each between pages that cannot be touched.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "format/deflate/restore/deflate_restore_reference.hpp"
#include "format/deflate/restore/deflate_restore_ways_cuda.hpp"
#include "guarded_buffer.hpp"
#include "shapes.hpp"

namespace hemstitch::testing {

struct KernelStream {
  std::span<const std::byte> data, history = {};
  std::size_t capacity = 0;
};
struct RestoredByKernel {
  hemstitch_status status;
  Bytes content;
};

inline std::vector<RestoredByKernel> restored_by_kernels(std::span<const KernelStream> streams,
                                                         cuda::DeflateWay way,
                                                         Against against = Against::kUpperGuard,
                                                         bool sizes_alone = false) {
  const std::size_t count = streams.size();
  std::vector<std::unique_ptr<GuardedBuffer>> data, outputs;
  std::vector<const std::byte*> blocks(count);
  std::vector<std::byte*> output_at(count);
  std::vector<std::size_t> block_bytes(count), capacities(count), output_bytes(count, ~std::size_t{0});
  std::vector<std::uint32_t> history_bytes(count);
  std::vector<hemstitch_status> statuses(count, HEMSTITCH_INTERNAL);
  cuda::DeviceRestore batch;
  for (std::size_t i = 0; i < count; ++i) {
    const KernelStream& one = streams[i];
    data.push_back(std::make_unique<GuardedBuffer>(one.data, against));
    outputs.push_back(std::make_unique<GuardedBuffer>(one.history.size() + one.capacity, against));
    std::ranges::copy(one.history, outputs[i]->bytes().begin());
    blocks[i] = data[i]->bytes().data();
    block_bytes[i] = one.data.size();
    output_at[i] = outputs[i]->bytes().data() + one.history.size();
    capacities[i] = one.capacity;
    history_bytes[i] = static_cast<std::uint32_t>(one.history.size());
    batch.max_capacity = std::max(batch.max_capacity, one.capacity);
    batch.max_block_bytes = std::max(batch.max_block_bytes, one.data.size());
  }
  batch.d_blocks = blocks.data();
  batch.d_block_bytes = block_bytes.data();
  batch.d_outputs = sizes_alone ? nullptr : output_at.data();
  batch.d_capacities = capacities.data();
  batch.d_history_bytes = history_bytes.data();
  batch.d_output_bytes = output_bytes.data();
  batch.d_statuses = statuses.data();
  batch.count = count;
  Bytes scratch(cuda::restore_deflate_cuda_scratch_bytes(batch));
  cuda::restore_deflate_cuda(way, batch, scratch.data(), scratch.size(), nullptr);
  std::vector<RestoredByKernel> restored;
  for (std::size_t i = 0; i < count; ++i) {
    restored.push_back({statuses[i], Bytes(statuses[i] == HEMSTITCH_OK ? output_bytes[i] : 0)});
    if (!sizes_alone) std::copy_n(output_at[i], restored[i].content.size(), restored[i].content.begin());
  }
  return restored;
}

// What they should say.
inline RestoredByKernel restored_by_reference(const KernelStream& stream) {
  RestoredByKernel expected{HEMSTITCH_OK, Bytes(stream.capacity)};
  const DeflateRestored restored = deflate_restore_reference(stream.data, stream.history, expected.content);
  expected.status = static_cast<hemstitch_status>(restored.status == Status::kOutputTooSmall
                                                      ? restored.status
                                                      : deflate_block_status(restored, stream.data.size()));
  expected.content.resize(expected.status == HEMSTITCH_OK ? restored.output_bytes : 0);
  return expected;
}

}  // namespace hemstitch::testing
