// XXH32 of many spans, compiled for the processor.
#include <cuda_runtime.h>

#include "format/lz4/frame/lz4_checksum.cu"
