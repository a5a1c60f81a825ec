// What messages advise. The library's advice names nothing but the library: its options, its build. A program
// on top of it, like the tool, has options and commands of its own, and sets its advice once, before its
// first call. So an error says what its reader can do, wherever it was thrown.
#pragma once

#include <string_view>

#include "hemstitch/hemstitch.hpp"

namespace hemstitch {

struct Advice {
  // The sentence of a status; NULL: the library's.
  const char* (*of_status)(Status) = nullptr;
  // How to get what a build lacks.
  std::string_view cuda_build = "install its part for CUDA, or build with -DHEMSTITCH_CUDA=ON";
  std::string_view webgpu_build =
      "install its part for WebGPU, or build it where the headers of wgpu-native are found";
  std::string_view webgpu_library = "install wgpu-native, or name its file in HEMSTITCH_WEBGPU_LIBRARY";
  // The window of a frame of Zstandard is larger than what may be used. {0}: the logarithm of a window that is as large,
  // {1}: its bytes.
  std::string_view large_window = "window_log {0} or a memory_limit_bytes of {1} allows it";
  // An index was asked for, of BGZF.
  std::string_view bgzf_index = "its blocks can be read one by one";
};

inline constinit Advice current_advice;

}  // namespace hemstitch
