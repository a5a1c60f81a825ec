// Which backends exist in this build, which can be used on this machine, and which one a run uses.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/backend.hpp"

namespace hemstitch {

// A backend that this build was made without, and how to make one with it.
struct AbsentBackend {
  std::string_view name;
  std::string_view remedy;
};

class BackendRegistry {
 public:
  // The process's registry, holding the backends of this build. Tests add theirs before the first run.
  // Thread safety: lookups from any thread; add() only before other threads use the registry.
  static BackendRegistry& instance();

  void add(std::unique_ptr<Backend> backend);
  const std::vector<std::unique_ptr<Backend>>& backends() const { return backends_; }

  // Those that other builds have.
  static std::vector<AbsentBackend> absent_backends();

  // The backend of that name, which makes engines on `device`, as the options have it. Throws kUnknownBackend with the names there
  // are; kDeviceUnavailable with the reason, which may be that this build was made without it; kInvalidOption where a device is
  // asked for and the backend has none to choose from.
  const Backend& find_usable(std::string_view name, std::string_view device = {}) const;

  // `requested` is a name, "auto" or "reproducible" (those that write the project's own bytes). "auto" takes the value of HEMSTITCH_BACKEND
  // where that is set; else both choose for the work (choice/auto_choice.hpp), and `reason` says why. A backend asked for by name is
  // never silently replaced. Throws kInvalidOption where the named one does not do such work, or none does, and says which do.
  const Backend& choose(std::string_view requested, std::string_view device = {}, const Workload& work = {},
                        std::string* reason = nullptr) const;
  // The name of what choose() gives, where that is known without asking a device that takes its time to start; else
  // nothing.
  std::optional<std::string> choice_at_hand(std::string_view requested, std::string_view device,
                                            const Workload& work) const;
  // Whether it is ours to choose.
  bool leaves_choice(std::string_view requested) const;

  // The backend that redoes failed blocks of `chosen`: `cpu` where "auto" chose it, else its own fallback; the latter also where
  // `cpu` does not take the work's format. `chosen` itself where nobody else does.
  const Backend& fallback_for(const Backend& chosen, std::string_view requested, const Workload& work) const;

 private:
  BackendRegistry();
  std::vector<std::unique_ptr<Backend>> backends_;
};

}  // namespace hemstitch
