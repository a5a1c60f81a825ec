// Bit shuffle, compiled for the processor.
#include <cuda_runtime.h>

#include "compact/bitshuffle/bitshuffle.cu"
