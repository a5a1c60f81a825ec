// A backend that only tests know, of engines of one kind. It takes everything, and `cpu` redoes what fails there.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/backend.hpp"

namespace hemstitch::testing {

template <class Engine>
class BackendOf : public Backend {
 public:
  explicit BackendOf(std::string_view name) : name_(name) {}

  std::string_view name() const override { return name_; }
  std::string description(std::string_view) const override { return "tests only"; }
  std::optional<std::string> unavailable_reason(std::string_view) const override { return std::nullopt; }
  bool chosen_by_auto() const override { return false; }
  std::string_view fallback_name() const override { return "cpu"; }
  bool supports(Format, Direction) const override { return true; }
  std::unique_ptr<BlockEngine> make_engine(std::string_view) const override {
    return std::make_unique<Engine>();
  }

 private:
  std::string_view name_;
};

}  // namespace hemstitch::testing
