// What makes a CUDA device current (hemstitch/device_memory.hpp).
#pragma once

#include <memory>

namespace hemstitch {

// The device with this number is current for the calling thread until the object ends; then the one before is again. Throws
// kDeviceUnavailable.
std::shared_ptr<void> make_device_current(int device);

}  // namespace hemstitch
