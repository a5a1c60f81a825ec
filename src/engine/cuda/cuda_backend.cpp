#include "engine/cuda/cuda_backend.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>

#include "batch/batch_workspace.hpp"
#include "engine/cuda/cuda_engine.hpp"
#include "engine/several_engines.hpp"
#include "format/formats_cuda.hpp"
#include "gpu/cuda/devices.hpp"
#include "gpu/cuda/occupancy.hpp"

namespace hemstitch {
namespace {

constexpr std::string_view kWork = "LZ4, DEFLATE and Zstandard";

class CudaBackend : public Backend {
 public:
  std::string_view name() const override { return "cuda"; }

  bool has_devices() const override { return true; }

  std::string description(std::string_view wanted) const override {
    const std::vector<cuda::DeviceFacts> devices = cuda::find_devices(wanted).devices;
    if (devices.empty()) return fmt::format("{} on NVIDIA GPUs", kWork);
    if (devices.size() > 1) return fmt::format("{} on {}", kWork, device_name(wanted));
    const cuda::DeviceFacts& device = devices.front();
    return fmt::format("{} on {} (compute capability {}.{}, {} multiprocessors, {:.0f} GiB)", kWork,
                       device.name, device.capability / 10, device.capability % 10, device.multiprocessors,
                       double(device.memory_bytes) / (1 << 30));
  }

  std::string device_name(std::string_view wanted) const override {
    std::vector<std::string> names;
    for (const cuda::DeviceFacts& device : cuda::find_devices(wanted).devices) names.push_back(device.name);
    // "2 x NVIDIA H200", or all names if they differ.
    if (names.size() > 1 && std::ranges::count(names, names.front()) == std::ssize(names))
      return fmt::format("{} x {}", names.size(), names.front());
    return fmt::format("{}", fmt::join(names, " + "));
  }

  std::optional<std::string> unavailable_reason(std::string_view wanted) const override {
    const cuda::DeviceChoice choice = cuda::find_device(wanted);
    if (choice.device) return std::nullopt;
    return choice.reason;
  }

  bool chosen_by_auto() const override { return true; }
  // Several devices count as one, which underrates them: no run with several has shown what each adds.
  BackendFacts facts(std::string_view wanted) const override {
    const auto device = cuda::find_device(wanted).device;
    if (!device) return {.backend = std::string(name())};
    return {.backend = std::string(name()),
            .kind = BackendKind::kDevice,
            .device = device_name(wanted),
            .units = static_cast<unsigned>(device->multiprocessors),
            .memory_gbps = device->memory_gbps,
            .bus_gbps = cuda::bus_gbps(device->capability)};
  }
  bool is_started() const override { return is_started_; }
  std::string_view fallback_name() const override { return "reference"; }
  bool supports(Format format, Direction) const override { return cuda::device_format(format) != nullptr; }
  bool restores_streams() const override { return true; }
  std::unique_ptr<BlockEngine> make_engine(std::string_view wanted) const override {
    std::vector<std::unique_ptr<BlockEngine>> engines;
    for (cuda::Device* device : cuda::open_devices(wanted))
      engines.push_back(std::make_unique<cuda::CudaEngine>(*device));
    is_started_ = true;
    if (engines.size() == 1) return std::move(engines.front());
    return std::make_unique<SeveralEngines>(std::move(engines));
  }

  std::vector<std::string> details(std::string_view wanted) const override {
    std::vector<std::string> lines;
    for (const cuda::DeviceFacts& device : cuda::device_survey().devices)
      lines.push_back(fmt::format("device {}: {}", device.index, device.name));
    if (unavailable_reason(wanted)) return lines;
    cuda::open_device(wanted).make_current();
    for (std::string& line : cuda::occupancy_report()) lines.push_back(std::move(line));
    for (std::string& line : batch_workspace_report()) lines.push_back(std::move(line));
    return lines;
  }

 private:
  mutable std::atomic<bool> is_started_ = false;
};

}  // namespace

std::unique_ptr<Backend> make_cuda_backend() { return std::make_unique<CudaBackend>(); }

}  // namespace hemstitch
