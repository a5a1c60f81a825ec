// Which backends exist in this build, which can be used on this machine, and which one a run uses.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/backend.hpp"

namespace hemstitch {

// A backend that this build does not have, linked in or as a part beside it, and how to get it.
struct AbsentBackend {
  std::string_view name;
  std::string_view remedy;
};

class BackendRegistry {
 public:
  // The process's registry, with the backends of this build. Tests add theirs before the first run. Thread
  // safety: any thread may look up; call add() only before other threads use the registry.
  static BackendRegistry& instance();

  void add(std::unique_ptr<Backend> backend);
  const std::vector<std::unique_ptr<Backend>>& backends() const { return backends_; }

  // The backends that are not here.
  static std::vector<AbsentBackend> absent_backends();

  // The backend with this name, which makes engines on `device` (as in the options). Throws
  // kUnknownBackend, with the names that exist; kDeviceUnavailable, with the reason, for example that this
  // build does not have it; kInvalidOption if a device is named and the backend has none.
  const Backend& find_usable(std::string_view name, std::string_view device = {}) const;

  // `requested` is a name, "auto", or "reproducible" (backends that write the project's own bytes).
  // HEMSTITCH_BACKEND replaces "auto" if it is set. Otherwise "auto" and "reproducible" choose for the work
  // (choice/auto_choice.hpp), and `reason` says why. A backend requested by name is never silently
  // replaced. Throws kInvalidOption if the named backend, or no backend, supports the work; the message
  // says which ones do.
  const Backend& choose(std::string_view requested, std::string_view device = {}, const Workload& work = {},
                        std::string* reason = nullptr) const;
  // The name of the backend that choose() would return, if that is known without querying a device that
  // takes long to start; otherwise nothing.
  std::optional<std::string> choice_at_hand(std::string_view requested, std::string_view device,
                                            const Workload& work) const;
  // Whether `requested` leaves the choice to us.
  bool leaves_choice(std::string_view requested) const;

  // The backend that redoes failed blocks of `chosen`: `cpu` if "auto" chose it, otherwise its own
  // fallback. The fallback also serves if `cpu` does not support the work's format. Returns `chosen` itself
  // if no other backend supports the work.
  const Backend& fallback_for(const Backend& chosen, std::string_view requested, const Workload& work) const;

 private:
  BackendRegistry();
  std::vector<std::unique_ptr<Backend>> backends_;
};

}  // namespace hemstitch
