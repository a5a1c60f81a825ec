#include "search/device_search.hpp"

#include "core/status.hpp"
#include "engine/registry.hpp"
#include "gpu/device_names.hpp"
#include "gpu/webgpu_device.hpp"
#include "search/search_cuda_device.hpp"
#include "search/search_webgpu_device.hpp"

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
                                                 const PatternSet& patterns) {
  if (backend == "auto") return nullptr;
  const std::string wanted = wanted_device(device);
  const std::string_view name = BackendRegistry::instance().find_usable(backend, device).name();
  if (name == "cuda") return make_cuda_search(wanted, patterns);
  if (name == "webgpu") return make_webgpu_search(open_webgpu_device(wanted), patterns);
  return nullptr;
}

std::unique_ptr<DeviceSearch> make_device_search(const WebgpuDevice& device, const PatternSet& patterns) {
  return make_webgpu_search(device.shared(), patterns);
}

}  // namespace hemstitch
