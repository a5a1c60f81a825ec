#include "engine/cuda/cuda_backend.hpp"

#include <fmt/format.h>

#include "batch/batch_workspace.hpp"
#include "engine/cuda/cuda_engine.hpp"
#include "gpu/cuda/device_survey.hpp"
#include "gpu/cuda/occupancy.hpp"

namespace hemstitch {
namespace {

class CudaBackend : public Backend {
 public:
  std::string_view name() const override { return "cuda"; }

  std::string description() const override {
    const auto& device = cuda::chosen_device().device;
    if (!device) return "LZ4 on NVIDIA GPUs";
    return fmt::format("LZ4 on {} (compute capability {}.{}, {} multiprocessors, {:.0f} GiB)", device->name,
                       device->capability / 10, device->capability % 10, device->multiprocessors,
                       double(device->memory_bytes) / (1 << 30));
  }

  std::string device_name() const override {
    const auto& device = cuda::chosen_device().device;
    return device ? device->name : std::string();
  }

  std::optional<std::string> unavailable_reason() const override {
    const cuda::DeviceChoice& choice = cuda::chosen_device();
    if (choice.device) return std::nullopt;
    return choice.reason;
  }

  bool chosen_by_auto() const override { return false; }
  std::string_view fallback_name() const override { return "reference"; }
  bool supports(Format format, Direction) const override { return format == Format::kLz4; }
  std::unique_ptr<BlockEngine> make_engine() const override { return std::make_unique<cuda::CudaEngine>(); }

  std::vector<std::string> details() const override {
    if (unavailable_reason()) return {};
    cuda::use_device();
    std::vector<std::string> lines = cuda::occupancy_report();
    for (std::string& line : batch_workspace_report()) lines.push_back(std::move(line));
    return lines;
  }
};

}  // namespace

std::unique_ptr<Backend> make_cuda_backend() { return std::make_unique<CudaBackend>(); }

}  // namespace hemstitch
