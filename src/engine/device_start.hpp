// Starts a device while a run already works on the processor. On an H200's host the start takes 0.25 to 0.4
// s.
//
// A thread of its own queries the devices that may pay off, chooses, and makes the engine. If the run ends
// before that, there are two ways. In a library, the destructor waits for the thread: a thread inside a
// driver that outlives main() would use statics after their destruction. A program that calls
// let_starts_outlive_runs() does not wait. If left_starts() then counts one, the program flushes its output
// and ends by std::_Exit(), which runs no destructors.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "core/own_process.hpp"
#include "engine/backend.hpp"

namespace hemstitch {

// The result of a start.
struct StartedDevice {
  const Backend* backend = nullptr;  // the chosen one; null if choosing failed
  std::unique_ptr<BlockEngine>
      engine;          // none if the processor was chosen after all, or if the device does not start
  std::string reason;  // for the choice
  std::exception_ptr failure;
  TimeLine::Clock::time_point begin, end;
};

class DeviceStart {
 public:
  // Arguments as for BackendRegistry::choose(). `processor` is a backend of the registry, for which the
  // thread makes no engine. Throws std::system_error if no thread can be started.
  DeviceStart(std::string requested, std::string device, const Workload& work, const Backend& processor);
  ~DeviceStart();
  DeviceStart(const DeviceStart&) = delete;
  DeviceStart& operator=(const DeviceStart&) = delete;

  bool is_done() const { return state_->is_done.load(std::memory_order_acquire); }
  // Only once is_done() is true: whether take() will return an engine.
  bool has_engine() const { return state_->started.engine != nullptr; }
  // Call it at most once, and only once is_done() is true.
  StartedDevice take();

 private:
  struct State {
    StartedDevice started;  // belongs to the thread until is_done
    std::atomic<bool> is_done = false;
    // Set by the thread at its end and by a run that abandons it, so whichever comes second knows of the
    // other.
    std::atomic<bool> one_has_gone = false;
  };
  void join();

  std::shared_ptr<State> state_;
  std::unique_ptr<std::thread> thread_;
  OwnProcess process_;  // whose thread it is
};

// For the whole process: see the top of this file. Thread safety: any thread, at any time.
void let_starts_outlive_runs(bool let = true);
struct LeftStarts {
  std::uint64_t count = 0;       // abandoned so far
  std::uint64_t unfinished = 0;  // how many of them still run
};
LeftStarts left_starts();

}  // namespace hemstitch
