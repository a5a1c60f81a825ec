#include "zstd_batch_kernels.hpp"

#define zstd_compress_temp_bytes zstd_compress_temp_bytes_of_kernels
#define zstd_compress_async zstd_compress_by_kernels
#include "batch/zstd_compress_batch_cuda.cu"
