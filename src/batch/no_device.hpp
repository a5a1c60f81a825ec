// The error of builds without CUDA.
#pragma once

#include "core/status.hpp"

namespace hemstitch {

[[noreturn]] inline void throw_no_cuda() {
  throw Error(Status::kDeviceUnavailable, "this build of Hemstitch has no CUDA");
}

}  // namespace hemstitch
