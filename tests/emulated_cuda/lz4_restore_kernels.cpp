// The kernels that restore LZ4's pages, and restore_lz4_cuda(), compiled for the processor.
#include <cuda_runtime.h>

#include "format/lz4/restore/lz4_restore.cu"
