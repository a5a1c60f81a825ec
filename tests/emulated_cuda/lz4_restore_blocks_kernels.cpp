// The kernel that restores many LZ4 blocks larger than pages, compiled for the processor.
#include <cuda_runtime.h>

#include "format/lz4/restore/lz4_restore_blocks.cu"
