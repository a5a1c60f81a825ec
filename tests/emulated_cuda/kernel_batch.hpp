// Batches of blocks restored by the kernels of CUDA on the processor (emulated_cuda.hpp): each block, and each output behind its history,
// between pages that cannot be touched.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include "format/device_format.hpp"
#include "kernel_buffer.hpp"
#include "shapes.hpp"

namespace hemstitch::testing {

struct KernelBlock {
  std::span<const std::byte> data, history = {};
  std::size_t capacity = 0;
};
struct RestoredByKernel {
  hemstitch_status status;
  Bytes content;
  bool operator==(const RestoredByKernel&) const = default;
};

// `restore` is called with the batch. Without `sizes_alone` content is what it says; else as many zeros.
template <class Restore>
std::vector<RestoredByKernel> restored_by_kernels(std::span<const KernelBlock> blocks, const Restore& restore,
                                                  Against against = Against::kUpperGuard,
                                                  bool sizes_alone = false) {
  const std::size_t count = blocks.size();
  std::vector<std::unique_ptr<KernelBuffer>> data, outputs;
  std::vector<const std::byte*> data_at(count);
  std::vector<std::byte*> output_at(count);
  std::vector<std::size_t> block_bytes(count), capacities(count), output_bytes(count, ~std::size_t{0});
  std::vector<std::uint32_t> history_bytes(count);
  std::vector<hemstitch_status> statuses(count, HEMSTITCH_INTERNAL);
  cuda::DeviceRestore batch;
  for (std::size_t i = 0; i < count; ++i) {
    const KernelBlock& one = blocks[i];
    data.push_back(std::make_unique<KernelBuffer>(one.data, against));
    outputs.push_back(std::make_unique<KernelBuffer>(one.history.size() + one.capacity, against));
    std::ranges::copy(one.history, outputs[i]->bytes().begin());
    data_at[i] = data[i]->bytes().data();
    block_bytes[i] = one.data.size();
    output_at[i] = outputs[i]->bytes().data() + one.history.size();
    capacities[i] = one.capacity;
    history_bytes[i] = static_cast<std::uint32_t>(one.history.size());
    if (!one.history.empty()) batch.d_history_bytes = history_bytes.data();
    batch.max_capacity = std::max(batch.max_capacity, one.capacity);
    batch.max_block_bytes = std::max(batch.max_block_bytes, one.data.size());
  }
  batch.d_blocks = data_at.data();
  batch.d_block_bytes = block_bytes.data();
  batch.d_outputs = sizes_alone ? nullptr : output_at.data();
  batch.d_capacities = capacities.data();
  batch.d_output_bytes = output_bytes.data();
  batch.d_statuses = statuses.data();
  batch.count = count;
  restore(batch);
  std::vector<RestoredByKernel> restored;
  for (std::size_t i = 0; i < count; ++i) {
    restored.push_back({statuses[i], Bytes(statuses[i] == HEMSTITCH_OK ? output_bytes[i] : 0)});
    if (!sizes_alone) std::copy_n(output_at[i], restored[i].content.size(), restored[i].content.begin());
    if (!std::ranges::equal(blocks[i].history, outputs[i]->bytes().first(blocks[i].history.size()))) {
      std::fprintf(stderr, "a kernel wrote to the history of block %zu\n", i);
      std::abort();
    }
  }
  return restored;
}

}  // namespace hemstitch::testing
