// What webgpu.h's handle stands for, for those that take one.
#pragma once

#include "hemstitch/webgpu.h"
#include "hemstitch/webgpu.hpp"

struct hemstitch_webgpu_device {
  hemstitch::WebgpuDevice device;
};
