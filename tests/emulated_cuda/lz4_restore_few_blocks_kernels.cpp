// The kernels that restore few LZ4 blocks larger than pages, and chains of them, compiled for the processor.
#include <cuda_runtime.h>

namespace hemstitch::cuda {
namespace {

// The shared memory of kernels that get it at their launch.
__shared__ uint4 sh_all[emulated::kSharedBytes / sizeof(uint4)];

}  // namespace
}  // namespace hemstitch::cuda

#include "format/lz4/restore/lz4_restore_few_blocks.cu"
