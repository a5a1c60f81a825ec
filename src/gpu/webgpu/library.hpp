// wgpu-native, loaded when it is first asked for: a program without it runs, and says what is missing.
//
// Looked for in this order: the file that HEMSTITCH_WEBGPU_LIBRARY names; one of its name that is in the process already; beside the program or library that holds this
// code, in lib/ there and in ../lib; where this build found it; where the system looks for libraries.
#pragma once

#include <string>

#include "gpu/webgpu/api.hpp"

namespace hemstitch::webgpu {

struct Library {
  bool loaded = false;
  Api api;
  std::string path;     // of the file, where it was loaded
  std::string version;  // wgpu-native's own
  std::string reason;   // why it could not be loaded, and what mends it
};

// Loaded at the first call, and then the same for the process. Thread safety: any thread.
const Library& library();

}  // namespace hemstitch::webgpu
