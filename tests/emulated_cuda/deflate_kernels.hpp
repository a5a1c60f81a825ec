// Streams of DEFLATE restored by the kernels of CUDA on the processor (emulated_cuda.hpp).
#pragma once

#include "deflate_restore_cases.hpp"
#include "format/deflate/restore/deflate_restore_ways_cuda.hpp"
#include "kernel_batch.hpp"

namespace hemstitch::testing {

inline std::vector<RestoredByKernel> restored_by_deflate_kernels(std::span<const KernelBlock> streams,
                                                                 cuda::DeflateWay way,
                                                                 Against against = Against::kUpperGuard,
                                                                 bool sizes_alone = false) {
  const auto restore = [way](const cuda::DeviceRestore& batch) {
    Bytes scratch(cuda::restore_deflate_cuda_scratch_bytes(batch));
    cuda::restore_deflate_cuda(way, batch, scratch.data(), scratch.size(), nullptr);
  };
  return restored_by_kernels(streams, restore, against, sizes_alone);
}

// What they should say.
inline RestoredByKernel restored_by_deflate_reference(const KernelBlock& stream) {
  DeflateVerdict verdict = deflate_verdict(stream.data, stream.history, stream.capacity);
  return {static_cast<hemstitch_status>(verdict.status), std::move(verdict.content)};
}

}  // namespace hemstitch::testing
