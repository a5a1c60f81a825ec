// The kernels of far, compiled for the processor. Here a span is searched by one thread block, since thread blocks run one after the other.
#include <cuda_runtime.h>

namespace hemstitch::cuda {
namespace {

// The shared memory of kernels that get it at their launch.
__shared__ uint4 sh_memory[emulated::kSharedBytes / sizeof(uint4)];

}  // namespace
}  // namespace hemstitch::cuda

#include "match/far/far.cu"
#include "match/far/far_stitch.cu"
