#include "engine/device_start.hpp"

#include <utility>

#include "engine/registry.hpp"
#include "gpu/device_names.hpp"

namespace hemstitch {
namespace {

// Without destructors, so that threads that outlive the run can use them until the process ends.
std::atomic<bool> runs_leave_starts = false;
std::atomic<std::uint64_t> left_count = 0, left_and_finished = 0;

void choose_and_start(StartedDevice& started, const std::string& requested, const std::string& device,
                      const Workload& work, const Backend& processor) noexcept {
  started.begin = TimeLine::Clock::now();
  try {
    started.backend = &BackendRegistry::instance().choose(requested, device, work, &started.reason);
    if (started.backend != &processor) started.engine = started.backend->make_engine(wanted_device(device));
  } catch (...) {
    started.failure = std::current_exception();
  }
  started.end = TimeLine::Clock::now();
}

}  // namespace

DeviceStart::DeviceStart(std::string requested, std::string device, const Workload& work,
                         const Backend& processor)
    : state_(std::make_shared<State>()) {
  thread_ = std::make_unique<std::thread>([state = state_, requested = std::move(requested),
                                           device = std::move(device), work, &processor]() mutable {
    choose_and_start(state->started, requested, device, work, processor);
    state->is_done.store(true, std::memory_order_release);
    const bool was_left = state->one_has_gone.exchange(true);
    state.reset();  // and an engine in it that nobody took
    if (was_left) ++left_and_finished;
  });
}

DeviceStart::~DeviceStart() {
  if (!thread_) return;
  if (runs_leave_starts && process_.is_here()) {
    ++left_count;
    if (!state_->one_has_gone.exchange(true)) {
      thread_->detach();
      return;
    }
    --left_count;
  }
  join();
}

void DeviceStart::join() {
  if (process_.is_here())
    thread_->join();
  else
    static_cast<void>(thread_.release());
  thread_.reset();
}

StartedDevice DeviceStart::take() {
  join();
  return std::move(state_->started);
}

void let_starts_outlive_runs(bool let) { runs_leave_starts = let; }

LeftStarts left_starts() {
  const std::uint64_t finished = left_and_finished, all = left_count;
  return {all, all - finished};
}

}  // namespace hemstitch
