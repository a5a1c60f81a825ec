#include "gpu/webgpu/native.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <webgpu/wgpu.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace hemstitch::webgpu {
namespace {

// The structures of webgpu.h still differ between major versions of wgpu-native. 29 is the version that this
// was compiled against and tested with.
constexpr std::uint32_t kMajorVersion = 29;

constexpr WGPUInstanceBackend kBackends =
    WGPUInstanceBackend_Vulkan | WGPUInstanceBackend_Metal | WGPUInstanceBackend_DX12;

#define HEMSTITCH_WGPU_NATIVE_FUNCTIONS(X) \
  X(DeviceCreateShaderModuleTrusted)       \
  X(DevicePoll)                            \
  X(GetVersion)                            \
  X(InstanceEnumerateAdapters)             \
  X(QueueGetTimestampPeriod)               \
  X(SetLogCallback)                        \
  X(SetLogLevel)

struct NativeApi {
#define HEMSTITCH_WGPU_NATIVE_MEMBER(name) decltype(&wgpu##name) name = nullptr;
  HEMSTITCH_WGPU_NATIVE_FUNCTIONS(HEMSTITCH_WGPU_NATIVE_MEMBER)
#undef HEMSTITCH_WGPU_NATIVE_MEMBER
};
NativeApi native;  // of the one library in a process

void print_log(WGPULogLevel, WGPUStringView message, void*) {
  std::fprintf(stderr, "wgpu-native: %.*s\n", static_cast<int>(message.length), message.data);
}
void drop_log(WGPULogLevel, WGPUStringView, void*) {}

}  // namespace

std::string load_native(void* handle, std::string& version) {
#define HEMSTITCH_WGPU_NATIVE_LOAD(name)                                              \
  native.name = reinterpret_cast<decltype(&wgpu##name)>(dlsym(handle, "wgpu" #name)); \
  if (native.name == nullptr) return "has no function wgpu" #name;
  HEMSTITCH_WGPU_NATIVE_FUNCTIONS(HEMSTITCH_WGPU_NATIVE_LOAD)
#undef HEMSTITCH_WGPU_NATIVE_LOAD

  const std::uint32_t number = native.GetVersion();
  version = fmt::format("{}.{}.{}.{}", number >> 24, number >> 16 & 255, number >> 8 & 255, number & 255);
  if (number >> 24 != kMajorVersion)
    return fmt::format("is wgpu-native {}, this build needs {}", version, kMajorVersion);
  const bool log = std::getenv("HEMSTITCH_WEBGPU_LOG") != nullptr;
  native.SetLogCallback(log ? print_log : drop_log, nullptr);
  native.SetLogLevel(log ? WGPULogLevel_Info : WGPULogLevel_Off);
  return {};
}

WGPUInstance make_instance(const Api& api) {
  WGPUInstanceExtras extras{};
  extras.chain.sType = static_cast<WGPUSType>(WGPUSType_InstanceExtras);
  extras.backends = kBackends;
  // Drivers that are not fully conformant (some versions of lavapipe) are judged by their tests, not refused.
  extras.flags = WGPUInstanceFlag_AllowUnderlyingNoncompliantAdapter;
  WGPUInstanceDescriptor descriptor{};
  descriptor.nextInChain = &extras.chain;
  return api.CreateInstance(&descriptor);
}

std::vector<WGPUAdapter> adapters_of(WGPUInstance instance) {
  WGPUInstanceEnumerateAdapterOptions options{};
  options.backends = kBackends;
  std::vector<WGPUAdapter> found(native.InstanceEnumerateAdapters(instance, &options, nullptr));
  if (!found.empty()) native.InstanceEnumerateAdapters(instance, &options, found.data());
  return found;
}

WGPUShaderModule make_shader_module(WGPUDevice device, const WGPUShaderModuleDescriptor& descriptor) {
  return native.DeviceCreateShaderModuleTrusted(device, &descriptor, WGPUShaderRuntimeChecks_BoundsChecks);
}

void poll(WGPUDevice device) { native.DevicePoll(device, 0, nullptr); }

double seconds_per_tick(WGPUQueue queue) { return 1e-9 * double(native.QueueGetTimestampPeriod(queue)); }

}  // namespace hemstitch::webgpu
