// In place of kernels that cannot run on the processor, since they need memory that a launch gives them: what they are defined to write, by the
// twins. The device's memory is the host's here.
#include <cuda_runtime.h>

#include <algorithm>

#include "compact/scan/scan_cuda.hpp"
#include "match/hash_chain/hash_chain_cuda.hpp"
#include "match/near_three/near_three_wide_cuda.hpp"

namespace hemstitch::cuda {
namespace {

template <class Record, class Find>
void find_in_each(const DeviceBlocks& batch, Record* records, const Find& find) {
  for (const DeviceBlock& block : std::span(batch.d_blocks, batch.block_count)) {
    const FinderInput input{
        std::span(block.d_block - block.history_bytes, block.history_bytes + block.block_bytes),
        block.history_bytes};
    const auto found = find(input);
    std::ranges::copy(found, records + block.position);
  }
}

}  // namespace

std::size_t find_hash_chain_cuda_scratch_bytes(const DeviceBlocks&, const HashChainParameters&) { return 1; }
void find_hash_chain_cuda(const DeviceBlocks& batch, const HashChainParameters& parameters,
                          MatchRecord* d_records, void*, std::size_t, cudaStream_t) {
  find_in_each(batch, d_records,
               [&](const FinderInput& input) { return find_hash_chain(input, parameters); });
}

std::size_t find_near_three_wide_cuda_scratch_bytes(const DeviceBlocks&, const NearThreeParameters&) {
  return 1;
}
void find_near_three_wide_cuda(const DeviceBlocks& batch, const NearThreeParameters& parameters,
                               std::uint16_t* d_near_offsets, void*, std::size_t, cudaStream_t) {
  find_in_each(batch, d_near_offsets,
               [&](const FinderInput& input) { return find_near_three(input, parameters); });
}

std::size_t scan_sizes_cuda_scratch_bytes(std::uint64_t) { return 1; }
void scan_sizes_cuda(const std::uint32_t* d_sizes, std::uint64_t count, std::uint64_t* d_offsets, void*,
                     std::size_t, cudaStream_t) {
  d_offsets[0] = 0;
  for (std::uint64_t i = 0; i < count; ++i) d_offsets[i + 1] = d_offsets[i] + d_sizes[i];
}

}  // namespace hemstitch::cuda
