// Restoration of LZ4 blocks larger than pages: a part of restore_lz4_cuda (lz4_restore_cuda.hpp), by its contract.
#pragma once

#include "format/lz4/lz4_restore_cuda.hpp"

namespace hemstitch::cuda {

void restore_lz4_blocks_cuda(const DeviceLz4Restore& batch, cudaStream_t stream);

}  // namespace hemstitch::cuda
