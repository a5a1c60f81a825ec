#include "gpu/webgpu/library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <vector>

#include "core/advice.hpp"
#include "gpu/device_parts.hpp"
#include "gpu/webgpu/native.hpp"

namespace hemstitch::webgpu {
namespace {

#ifdef __APPLE__
constexpr std::string_view kFileName = "libwgpu_native.dylib";
constexpr std::string_view kPythonFileName = "libwgpu_native-release.dylib";
#else
constexpr std::string_view kFileName = "libwgpu_native.so";
constexpr std::string_view kPythonFileName = "libwgpu_native-release.so";
#endif

// The file that the environment names, or an empty string.
std::string named_file() {
  const char* const named = secure_getenv("HEMSTITCH_WEBGPU_LIBRARY");
  return named == nullptr ? "" : named;
}

// Files beside our own library, in Python's packages, and where the build found it.
std::vector<std::string> nearby_files() {
  std::vector<std::string> paths;
  const std::string folder = own_folder();
  if (!folder.empty()) {
    for (const char* sub : {"", "/lib", "/../lib", "/../" HEMSTITCH_LIBDIR})
      paths.push_back(fmt::format("{}{}/{}", folder, sub, kFileName));
  }
  // The package wgpu, for a tool that pip installed.
  for (const std::string& packages : python_packages(folder))
    paths.push_back(fmt::format("{}/wgpu/resources/{}", packages, kPythonFileName));
  paths.emplace_back(HEMSTITCH_WEBGPU_BUILD_LIBRARY);
  return paths;
}

void* open_first(std::string& path, std::string& failure) {
  path = named_file();
  if (path.empty()) {
    // A caller with a device of their own has already loaded the library.
    path = kFileName;
    if (void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD)) return handle;
    for (const std::string& file : nearby_files()) {
      std::error_code ignored;
      if (file.empty() || !std::filesystem::exists(file, ignored)) continue;
      path = file;
      if (void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
      failure = dlerror();
    }
    path = kFileName;
  }
  if (void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
  if (failure.empty()) failure = dlerror();
  return nullptr;
}

Library load() {
  Library loaded;
  std::string failure;
  // Never closed: drivers that it loads start threads, and keep state of their own.
  void* const handle = open_first(loaded.path, failure);
  if (handle == nullptr) {
    loaded.reason =
        fmt::format("wgpu-native could not be loaded: {}; {}", failure, current_advice.webgpu_library);
    return loaded;
  }
#define HEMSTITCH_WEBGPU_LOAD(name)                                                                      \
  loaded.api.name = reinterpret_cast<decltype(&wgpu##name)>(dlsym(handle, "wgpu" #name));                \
  if (loaded.api.name == nullptr) {                                                                      \
    loaded.reason =                                                                                      \
        fmt::format("{} has no function wgpu" #name "; {}", loaded.path, current_advice.webgpu_library); \
    return loaded;                                                                                       \
  }
  HEMSTITCH_WEBGPU_FUNCTIONS(HEMSTITCH_WEBGPU_LOAD)
#undef HEMSTITCH_WEBGPU_LOAD

  loaded.reason = load_native(handle, loaded.version);
  if (!loaded.reason.empty()) {
    loaded.reason = fmt::format("{} {}; {}", loaded.path, loaded.reason, current_advice.webgpu_library);
    return loaded;
  }
  loaded.loaded = true;
  return loaded;
}

}  // namespace

const Library& library() {
  static const Library loaded = load();
  return loaded;
}

}  // namespace hemstitch::webgpu
