// CRC-32 and Adler-32 of many spans, compiled for the processor.
#include <cuda_runtime.h>

#include "format/deflate/frame/deflate_checksum.cu"
