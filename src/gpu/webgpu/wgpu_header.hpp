// The one place that includes the C headers of WebGPU. No function of theirs is linked: library.hpp has pointers.
#pragma once

#include <webgpu/wgpu.h>
