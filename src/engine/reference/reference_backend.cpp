#include "engine/reference/reference_backend.hpp"

#include "engine/codec_engine.hpp"

namespace hemstitch {
namespace {

class ReferenceBackend : public Backend {
 public:
  std::string_view name() const override { return "reference"; }
  std::string description(std::string_view) const override {
    return "the definition of every byte, on all cores; slow";
  }
  std::optional<std::string> unavailable_reason(std::string_view) const override { return std::nullopt; }
  bool chosen_by_auto() const override { return false; }
  std::string_view fallback_name() const override { return "reference"; }
  bool supports(Format format, Direction direction) const override {
    return codec_supports(&FormatRow::reference, format, direction);
  }
  std::unique_ptr<BlockEngine> make_engine(std::string_view) const override {
    return std::make_unique<CodecEngine>(&FormatRow::reference);
  }
};

}  // namespace

std::unique_ptr<Backend> make_reference_backend() { return std::make_unique<ReferenceBackend>(); }

}  // namespace hemstitch
