// The kernels that restore DEFLATE, compiled for the processor: restore_deflate_cuda() and its ways, with
// batches in host memory.
#include <cuda_runtime.h>

namespace hemstitch::cuda {
namespace {

// The shared memory of kernels that get it at their launch.
__shared__ uint4 sh_all[emulated::kSharedBytes / sizeof(uint4)];

}  // namespace
}  // namespace hemstitch::cuda

#include "format/deflate/restore/deflate_restore.cu"
#include "format/deflate/restore/deflate_restore_few.cu"
