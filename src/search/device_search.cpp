#include "search/device_search.hpp"

#include "core/status.hpp"
#include "engine/registry.hpp"
#include "gpu/device_names.hpp"
#ifdef HEMSTITCH_WEBGPU
#include "gpu/webgpu/devices.hpp"
#endif

namespace hemstitch {
namespace {

[[noreturn]] void refuse_cuda_texts() {
  throw Error(Status::kInvalidOption, "texts in the memory of a CUDA device are searched by backend 'cuda'");
}

}  // namespace

std::vector<PackedMatch> DeviceSearch::find(const WebgpuTexts&) {
  throw Error(Status::kInvalidOption, "texts in a buffer of WebGPU are searched by backend 'webgpu'");
}
std::size_t DeviceSearch::temp_bytes(const CudaTexts&) const { refuse_cuda_texts(); }
void DeviceSearch::count_async(const CudaTexts&, std::uint64_t*, void*, std::size_t, CUstream_st*) const {
  refuse_cuda_texts();
}
void DeviceSearch::write_async(const CudaTexts&, std::uint64_t*, std::uint64_t, void*, std::size_t,
                               CUstream_st*) const {
  refuse_cuda_texts();
}

bool may_search_on_device(std::string_view backend) { return backend == "cuda" || backend == "webgpu"; }

std::unique_ptr<DeviceSearch> make_device_search(std::string_view backend, std::string_view device,
                                                 [[maybe_unused]] const PatternSet& patterns) {
  if (backend == "auto") return nullptr;
  [[maybe_unused]] const std::string wanted = wanted_device(device);
  [[maybe_unused]] const std::string_view name =
      BackendRegistry::instance().find_usable(backend, device).name();
#ifdef HEMSTITCH_CUDA
  if (name == "cuda") return make_cuda_search(wanted, patterns);
#endif
#ifdef HEMSTITCH_WEBGPU
  if (name == "webgpu") return make_webgpu_search(webgpu::open_device(wanted), patterns);
#endif
  return nullptr;
}

std::unique_ptr<DeviceSearch> make_device_search([[maybe_unused]] const WebgpuDevice& device,
                                                 [[maybe_unused]] const PatternSet& patterns) {
#ifdef HEMSTITCH_WEBGPU
  return make_webgpu_search(device.shared(), patterns);
#else
  throw Error(Status::kDeviceUnavailable, "this build of Hemstitch has no WebGPU");
#endif
}

}  // namespace hemstitch
