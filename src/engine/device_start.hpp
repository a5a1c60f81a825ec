// A device that starts beside a run: while it does, which takes 0.25 to 0.4 s on an H200's host, the processor works.
//
// A thread of its own asks the devices that may pay off, chooses, and makes the engine. Whoever does not need that any more, since the
// work was done before, has two ways. In a library the destructor waits: a thread inside a driver that outlives main() meets
// destructors of statics that it uses. A program that calls let_starts_outlive_runs() does not wait; once left_starts() counts one, it
// flushes what it has written and ends by std::_Exit(), which runs no destructors.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "engine/backend.hpp"

namespace hemstitch {

// What came of it.
struct StartedDevice {
  const Backend* backend = nullptr;  // that was chosen; null where choosing failed
  std::unique_ptr<BlockEngine>
      engine;          // none where the processor was chosen after all, or where the device does not start
  std::string reason;  // of the choice
  std::exception_ptr failure;
  TimeLine::Clock::time_point begin, end;
};

class DeviceStart {
 public:
  // As BackendRegistry::choose() takes them. `processor`, whom the thread makes no engine of, is a backend of the registry. Throws
  // std::system_error where there can be no thread.
  DeviceStart(std::string requested, std::string device, const Workload& work, const Backend& processor);
  ~DeviceStart();
  DeviceStart(const DeviceStart&) = delete;
  DeviceStart& operator=(const DeviceStart&) = delete;

  bool is_done() const { return state_->is_done.load(std::memory_order_acquire); }
  // Once is_done(): whether take() will bring an engine.
  bool has_engine() const { return state_->started.engine != nullptr; }
  // Once, and once is_done().
  StartedDevice take();

 private:
  struct State {
    StartedDevice started;  // the thread's until is_done
    std::atomic<bool> is_done = false;
    // Set by the thread at its end, and by a run that leaves it: who comes second knows of the other.
    std::atomic<bool> one_has_gone = false;
  };
  std::shared_ptr<State> state_;
  std::thread thread_;
};

// Of the process, for programs that end as is said above. Thread safety: any thread, at any time.
void let_starts_outlive_runs(bool let = true);
struct LeftStarts {
  std::uint64_t count = 0;       // left so far
  std::uint64_t unfinished = 0;  // of them
};
LeftStarts left_starts();

}  // namespace hemstitch
