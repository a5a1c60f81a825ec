// The kernels that follow the entries of one long stream, and the host's part of it, compiled for the processor. The other steps are left
// to whoever links this.
#include <cuda_runtime.h>

#include <vector>

#include "format/deflate/stream/deflate_chain.cu"
#include "format/deflate/stream/deflate_stream.cu"
