// The CUDA devices of this machine: which there are, and an object for each that is worked on. Safe to ask where there is no driver.
#pragma once

#include <string_view>

#include "gpu/cuda/device.hpp"
#include "gpu/cuda/device_choice.hpp"

namespace hemstitch::cuda {

// Taken once a process; the first call starts the driver, tenths of a second where there is one.
const DeviceSurvey& device_survey();

// The device that `wanted` means (choose_device()), or why there is none. Does not throw.
DeviceChoice find_device(std::string_view wanted);

// The same for several (choose_devices()).
DevicesChoice find_devices(std::string_view wanted);

// The object of that device: made at the first call and kept as long as the process, so that what is dear, pinned memory above all,
// serves one run after the other. It is not made the thread's current one. Throws kDeviceUnavailable with the reason.
Device& open_device(std::string_view wanted);

// The objects of all that `wanted` means. They share pinned memory.
std::vector<Device*> open_devices(std::string_view wanted);

// The object of the calling thread's current device, for those whose caller has chosen by cudaSetDevice().
Device& open_current_device();

}  // namespace hemstitch::cuda
