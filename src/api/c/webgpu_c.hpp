// The type behind webgpu.h's handle, for functions that take one.
#pragma once

#include "hemstitch/webgpu.h"
#include "hemstitch/webgpu.hpp"

struct hemstitch_webgpu_device {
  hemstitch::WebgpuDevice device;
};
