#include "job_text.hpp"

#include <fmt/format.h>

namespace hemstitch::web {
namespace {

// Writes "[a, b]"; `write` adds each element.
template <typename List, typename Write>
void write_list(std::string& text, const List& list, const Write& write) {
  text += '[';
  bool first = true;
  for (const auto& one : list) {
    if (!first) text += ',';
    first = false;
    write(one);
  }
  text += ']';
}

}  // namespace

std::string job_text(const webgpu::BufferPlan& plan, const std::vector<Transfer>& uploads,
                     const webgpu::Recording& recording, const std::vector<Transfer>& downloads,
                     const Limits& limits) {
  std::string text;
  const auto write_transfers = [&](const std::vector<Transfer>& transfers) {
    write_list(text, transfers, [&](const Transfer& transfer) {
      text += fmt::format("[{},{},{},{}]", transfer.part.index, transfer.place, transfer.bytes, transfer.at);
    });
  };
  text += R"({"parts":)";
  write_list(text, plan.parts(), [&](const auto& part) { text += fmt::format("{}", part.bytes); });
  text += R"(,"uploads":)";
  write_transfers(uploads);
  text += R"(,"steps":)";
  write_list(text, recording.steps(), [&](const webgpu::Step& step) {
    const auto [x, y] = webgpu::dispatch_size(step.workgroup_count, limits.workgroups_per_dimension);
    text +=
        R"({"shader":")" + std::string(step.shader) + R"(","entryPoint":")" + std::string(step.entry_point);
    text += fmt::format(R"(","x":{},"y":{},"parameters":)", x, y);
    write_list(text, step.parameters, [&](std::uint32_t word) { text += fmt::format("{}", word); });
    text += R"(,"bindings":)";
    write_list(text, step.bindings, [&](const webgpu::Binding& binding) {
      if (binding.access == webgpu::Access::kNone)
        text += "null";
      else
        text += fmt::format("[{},{}]", binding.buffer.index,
                            binding.access == webgpu::Access::kReadWrite ? 1 : 0);
    });
    text += R"(,"constants":{)";
    for (std::size_t i = 0; i < step.constants.size(); ++i)  // all of them are counts and switches
      text += fmt::format(R"({}"{}":{})", i == 0 ? "" : ",", step.constants[i].first,
                          static_cast<std::uint64_t>(step.constants[i].second));
    text += "}}";
  });
  text += R"(,"downloads":)";
  write_transfers(downloads);
  return text += '}';
}

}  // namespace hemstitch::web
