#include "pages/page_device.hpp"

namespace hemstitch {

std::unique_ptr<PageDevice> page_device_of(const void*, CUstream_st*) {
  throw Error(Status::kDeviceUnavailable, "this build of Hemstitch has no CUDA");
}

std::unique_ptr<PageDevice> page_device(std::string_view) {
  throw Error(Status::kDeviceUnavailable, "this build of Hemstitch has no CUDA");
}

}  // namespace hemstitch
