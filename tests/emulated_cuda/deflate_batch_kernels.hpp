// deflate_restore_async() of src/batch/deflate_batch_device.hpp by the kernels on the processor (emulated_cuda.hpp).
#pragma once

#include <cuda_runtime.h>

#include "batch/lz4_batch_device.hpp"
#include "hemstitch/batch.h"
#include "hemstitch/hemstitch.hpp"

namespace hemstitch {

std::size_t deflate_restore_temp_bytes_of_kernels(const hemstitch_deflate_streams& streams, Format format,
                                                  std::size_t max_output_bytes);
void deflate_restore_by_kernels(const hemstitch_deflate_streams& streams, Format format, void* const* outputs,
                                const std::size_t* capacities, std::size_t max_output_bytes,
                                const std::uint32_t* history_bytes, std::size_t* output_bytes,
                                hemstitch_status* statuses, BatchTemp temp, hemstitch_stream stream);

}  // namespace hemstitch
