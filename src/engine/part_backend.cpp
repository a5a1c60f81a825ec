#include "engine/part_backend.hpp"

#include <fmt/format.h>

#include <atomic>
#include <exception>
#include <mutex>
#include <new>
#include <utility>

namespace hemstitch {
namespace {

class PartBackend : public Backend {
 public:
  PartBackend(std::string_view name, MakeFromPart make) : name_(name), make_(std::move(make)) {}

  std::string_view name() const override { return name_; }
  bool has_devices() const override { return true; }
  // Of the backends that are parts: the processor's twins write the same bytes, and the choice counts them.
  bool chosen_by_auto() const override { return true; }
  std::string_view fallback_name() const override { return "reference"; }
  // Whether it restores streams is known once it is loaded; until then it may.
  bool restores_streams() const override { return !is_loaded_ || (loaded() && loaded()->restores_streams()); }
  bool is_started() const override { return is_loaded_ && loaded() && loaded()->is_started(); }
  bool starts_at_once() const override { return is_loaded_ && loaded() && loaded()->starts_at_once(); }

  std::string description(std::string_view device) const override {
    return loaded() ? loaded()->description(device) : "a part that could not be loaded";
  }
  std::string device_name(std::string_view device) const override {
    return loaded() ? loaded()->device_name(device) : std::string();
  }
  std::optional<std::string> unavailable_reason(std::string_view device) const override {
    return loaded() ? loaded()->unavailable_reason(device) : failure_;
  }
  std::optional<std::string> no_engine_reason() const override {
    return loaded() ? loaded()->no_engine_reason() : std::nullopt;
  }
  BackendFacts facts(std::string_view device) const override {
    return loaded() ? loaded()->facts(device) : Backend::facts(device);
  }
  bool supports(Format format, Direction direction) const override {
    return loaded() && loaded()->supports(format, direction);
  }
  std::unique_ptr<BlockEngine> make_engine(std::string_view device) const override {
    if (!loaded()) throw Error(Status::kDeviceUnavailable, failure_);
    return loaded()->make_engine(device);
  }
  std::vector<std::string> details(std::string_view device) const override {
    return loaded() ? loaded()->details(device) : std::vector<std::string>();
  }

 private:
  // Null if the part could not be loaded.
  const Backend* loaded() const {
    std::call_once(once_, [this] {
      try {
        backend_ = make_(failure_);
      } catch (const std::bad_alloc&) {
        throw;
      } catch (const std::exception& error) {
        failure_ = error.what();
      }
      is_loaded_ = true;
    });
    return backend_.get();
  }

  std::string_view name_;
  MakeFromPart make_;
  mutable std::once_flag once_;
  mutable std::unique_ptr<Backend> backend_;
  mutable std::string failure_;
  mutable std::atomic<bool> is_loaded_ = false;
};

}  // namespace

std::unique_ptr<Backend> make_part_backend(std::string_view name, MakeFromPart make) {
  return std::make_unique<PartBackend>(name, std::move(make));
}

}  // namespace hemstitch
