#include "hemstitch/device_memory.hpp"

#include "files/memory/on_device.hpp"

namespace hemstitch {

struct OnDevice::Impl {
  std::shared_ptr<void> current;
};

OnDevice::OnDevice(int device) : impl_(new Impl{make_device_current(device)}) {}
OnDevice::~OnDevice() = default;

}  // namespace hemstitch
