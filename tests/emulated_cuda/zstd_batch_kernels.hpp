// zstd_compress_async() of src/batch/zstd_batch_device.hpp by the kernels on the processor (emulated_cuda.hpp). The library has functions
// of the same names, for builds without devices.
#pragma once

#include <cuda_runtime.h>

#include "batch/zstd_batch_device.hpp"

namespace hemstitch {

std::size_t zstd_compress_temp_bytes_of_kernels(const hemstitch_blocks& blocks, const ZstdChunks& chunks);
void zstd_compress_by_kernels(const hemstitch_blocks& blocks, const ZstdChunks& chunks,
                              const BatchOutputs& outputs, BatchTemp temp, hemstitch_stream stream);

}  // namespace hemstitch
