#include "engine/cpu/cpu_backend.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "core/messages.hpp"
#include "engine/codec_engine.hpp"

namespace hemstitch {
namespace {

class CpuBackend : public Backend {
 public:
  std::string_view name() const override { return "cpu"; }
  std::string description(std::string_view) const override {
    std::vector<std::string> libraries;
    for (const FormatRow& row : FormatTable::instance().all()) {
      std::string library = row.processor ? row.processor->library() : std::string();
      if (!library.empty() && std::ranges::find(libraries, library) == libraries.end())
        libraries.push_back(std::move(library));
    }
    return listed(libraries, "and") + " on all cores";
  }
  std::optional<std::string> unavailable_reason(std::string_view) const override { return std::nullopt; }
  bool chosen_by_auto() const override { return false; }  // `auto` takes it only if nothing else will do
  std::string_view fallback_name() const override { return "cpu"; }
  bool supports(Format format, Direction direction) const override {
    return codec_supports(&FormatRow::processor, format, direction);
  }
  bool restores_streams() const override { return true; }
  std::unique_ptr<BlockEngine> make_engine(std::string_view) const override {
    return std::make_unique<CodecEngine>(&FormatRow::processor);
  }
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend() { return std::make_unique<CpuBackend>(); }

}  // namespace hemstitch
