// wgpu-native, loaded on first use. A program without it runs and reports what is missing.
//
// It is searched in this order: the file named by HEMSTITCH_WEBGPU_LIBRARY; a library of its name that the
// process has loaded already; beside the program or library that holds this code, in lib/ there and in
// ../lib; where this build found it; where the system looks for libraries.
#pragma once

#include <string>

#include "gpu/webgpu/api.hpp"

namespace hemstitch::webgpu {

struct Library {
  bool loaded = false;
  Api api;
  std::string path;     // of the loaded file
  std::string version;  // wgpu-native's own
  std::string reason;   // why it could not be loaded, and how to fix it
};

// Loaded at the first call, then the same for the whole process. Thread safety: any thread.
const Library& library();

}  // namespace hemstitch::webgpu
