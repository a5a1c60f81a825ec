#include "engine/webgpu/webgpu_backend.hpp"

#include <fmt/format.h>

#include <atomic>
#include <sstream>

#include "engine/webgpu/webgpu_engine.hpp"
#include "format/formats_webgpu.hpp"
#include "gpu/webgpu/devices.hpp"

namespace hemstitch {
namespace {

webgpu::AdapterChoice choose(std::string_view device) {
  const webgpu::AdapterSurvey& survey = webgpu::adapter_survey();
  if (!survey.failure.empty()) return {0, survey.failure};
  return webgpu::choose_adapter(survey.adapters, device);
}

class WebgpuBackend : public Backend {
 public:
  std::string_view name() const override { return "webgpu"; }

  bool has_devices() const override { return true; }

  std::string description(std::string_view device) const override {
    const webgpu::AdapterChoice chosen = choose(device);
    if (!chosen.reason.empty()) return "any GPU, through WebGPU";
    const webgpu::AdapterFacts& adapter = webgpu::adapter_survey().adapters[chosen.index];
    return fmt::format("{} ({}), through WebGPU", adapter.name, webgpu::kind_text(adapter.kind));
  }

  std::optional<std::string> unavailable_reason(std::string_view device) const override {
    std::string reason = choose(device).reason;
    if (reason.empty()) return std::nullopt;
    return reason;
  }

  bool chosen_by_auto() const override { return true; }
  BackendFacts facts(std::string_view device) const override {
    BackendFacts facts{.backend = std::string(name())};
    const webgpu::AdapterChoice chosen = choose(device);
    if (!chosen.reason.empty()) return facts;
    const webgpu::AdapterFacts& adapter = webgpu::adapter_survey().adapters[chosen.index];
    facts.device = adapter.name;
    if (adapter.kind != webgpu::AdapterKind::kSoftware) facts.kind = BackendKind::kDevice;
    return facts;
  }
  bool is_started() const override { return is_started_; }
  std::string_view fallback_name() const override { return "reference"; }
  bool supports(Format format, Direction direction) const override {
    const webgpu::DeviceFormat* const devices = webgpu::device_format(format);
    return devices != nullptr && (direction == Direction::kRestore || devices->compresses());
  }
  std::unique_ptr<BlockEngine> make_engine(std::string_view device) const override {
    auto engine = webgpu::make_engine(webgpu::open_device(device));
    is_started_ = true;
    return engine;
  }

  std::vector<std::string> details(std::string_view wanted) const override {
    const webgpu::Library& library = webgpu::library();
    if (!library.loaded) return {};
    std::vector<std::string> lines = {fmt::format("wgpu-native {} from {}", library.version, library.path)};
    const webgpu::AdapterSurvey& survey = webgpu::adapter_survey();
    for (std::size_t i = 0; i < survey.adapters.size(); ++i) {
      const webgpu::AdapterFacts& adapter = survey.adapters[i];
      lines.push_back(fmt::format("adapter {}: {} ({}), {}, subgroups of {} to {}", i, adapter.name,
                                  webgpu::kind_text(adapter.kind), adapter.driver, adapter.subgroup_min,
                                  adapter.subgroup_max));
    }
    if (unavailable_reason(wanted)) return lines;
    const std::shared_ptr<webgpu::Device> device = webgpu::open_device(wanted);
    lines.push_back(fmt::format("bindings of at most {} MiB, buffers of {} MiB, {} workgroups a dimension{}",
                                device->limits().binding_bytes >> 20, device->limits().buffer_bytes >> 20,
                                device->limits().workgroups_per_dimension,
                                device->has_timestamps() ? ", timestamps" : ", no timestamps"));
    // For 64 MB in the smallest blocks, of 64 KB; larger blocks take less.
    constexpr std::uint32_t kBlockBytes = 65536;
    constexpr std::uint64_t kBytes = std::uint64_t{64} << 20;
    const WorkspacePlan plan =
        webgpu::device_workspace(CompressOptions().format, kMaxLevel, kBlockBytes, kBytes);
    lines.push_back(fmt::format(
        "a batch of {} MiB in blocks of 64 KiB takes {:.2f} bytes of device memory a byte:", kBytes >> 20,
        double(plan.total_bytes()) / double(kBytes)));
    std::istringstream table(plan.text());
    for (std::string line; std::getline(table, line);) lines.push_back("  " + line);
    return lines;
  }

 private:
  mutable std::atomic<bool> is_started_ = false;
};

}  // namespace

std::unique_ptr<Backend> make_webgpu_backend() { return std::make_unique<WebgpuBackend>(); }

}  // namespace hemstitch
