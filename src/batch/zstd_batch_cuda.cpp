// Zstandard in the batch interface on a CUDA device.
#include "batch/batch_layout.hpp"
#include "batch/zstd_batch_device.hpp"
#include "format/zstd/frame/zstd_checksum_cuda.hpp"
#include "format/zstd/restore/zstd_restore_cuda.hpp"

namespace hemstitch {
namespace {

cuda::DeviceRestore restore_batch(const hemstitch_compressed_blocks& compressed,
                                  std::size_t max_output_bytes) {
  return {.d_blocks = reinterpret_cast<const std::byte* const*>(compressed.blocks),
          .d_block_bytes = compressed.block_bytes,
          .count = compressed.count,
          .max_capacity = max_output_bytes,
          .max_block_bytes = compressed.max_block_bytes};
}

}  // namespace

std::size_t zstd_restore_temp_bytes(const hemstitch_compressed_blocks& compressed,
                                    std::size_t max_output_bytes) {
  cuda::need_device();
  return cuda::restore_zstd_cuda_scratch_bytes(restore_batch(compressed, max_output_bytes));
}

void zstd_restore_async(const hemstitch_compressed_blocks& compressed, const BatchOutputs& outputs,
                        std::size_t max_output_bytes, BatchTemp temp, hemstitch_stream stream) {
  cuda::need_device();
  cuda::DeviceRestore batch = restore_batch(compressed, max_output_bytes);
  batch.d_outputs = reinterpret_cast<std::byte* const*>(outputs.d_outputs);
  batch.d_capacities = outputs.d_capacities;
  batch.d_output_bytes = outputs.d_output_bytes;
  batch.d_statuses = outputs.d_statuses;
  cuda::restore_zstd_cuda(batch, temp.d_temp, temp.bytes, stream);
}

void zstd_checksums_async(const void* const* d_spans, const std::size_t* d_span_bytes, std::uint64_t count,
                          std::uint32_t* d_checksums, hemstitch_stream stream) {
  cuda::need_device();
  cuda::checksum_zstd_cuda(reinterpret_cast<const std::byte* const*>(d_spans), d_span_bytes, count,
                           d_checksums, stream);
}

}  // namespace hemstitch
