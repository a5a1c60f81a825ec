// Marks a function that must mean the same on the host and on a CUDA device.
// Headers that use it are compiled by both compilers, so that hashes, costs and packings stand once.
#pragma once

#if defined(__CUDACC__)
#define HEMSTITCH_HOST_DEVICE __host__ __device__
#else
#define HEMSTITCH_HOST_DEVICE
#endif
