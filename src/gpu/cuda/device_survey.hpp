// What CUDA says about this machine: safe to ask where there is no driver.
#pragma once

#include "gpu/cuda/device_choice.hpp"

namespace hemstitch::cuda {

// The first call starts the driver, tenths of a second where there is one.
DeviceSurvey survey_devices();

// The device that this process uses, made the calling thread's current one. Decided once. Throws
// kDeviceUnavailable with the reason.
const DeviceFacts& use_device();

// use_device()'s answer without throwing and without touching the thread.
const DeviceChoice& chosen_device();

}  // namespace hemstitch::cuda
