// Signals of Python's, such as Ctrl-C, while a call works without the GIL. Python runs their handlers on its
// main thread alone, so the thread that called looks for them now and then, between two pieces of its work.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <thread>
#include <utility>

#include "hemstitch/hemstitch.hpp"

namespace hemstitch::python {

namespace nb = nanobind;

// Of one call at a time.
class Signals {
 public:
  Signals() = default;
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  // The object must outlive the function.
  BetweenPieces between_pieces() {
    return [this] { look(); };
  }

  // The same for an object that several threads call at once: it looks for the call of this thread.
  static BetweenPieces between_pieces_of_this_thread() {
    return [] {
      if (current_ != nullptr) current_->look();
    };
  }

  // Calls call() without the GIL. If a handler raises, as that of Ctrl-C does, the call's work is cancelled,
  // and what was raised is thrown.
  template <class Call>
  auto watch(const Call& call) {
    caller_ = std::this_thread::get_id();
    next_look_ = Clock::now() + kBetweenLooks;
    is_cancelled_ = false;
    raised_ = nullptr;
    const Current current(*this);
    try {
      const nb::gil_scoped_release released;
      return call();
    } catch (...) {
      if (raised_) std::rethrow_exception(std::exchange(raised_, nullptr));
      throw;
    }
  }

 private:
  // No Error, which may be the result of one part of a call.
  struct Cancelled : std::exception {};

  // While it lives, the object's call is this thread's.
  struct Current {
    explicit Current(Signals& signals) : before(std::exchange(current_, &signals)) {}
    ~Current() { current_ = before; }
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;
    Signals* before;
  };
  static inline thread_local Signals* current_ = nullptr;

  using Clock = std::chrono::steady_clock;
  // To look takes the GIL, for which other threads of Python may let it wait.
  static constexpr std::chrono::milliseconds kBetweenLooks{50};

  void look() {
    if (is_cancelled_) throw Cancelled();
    if (std::this_thread::get_id() != caller_ || Clock::now() < next_look_) return;
    const nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) {
      raised_ = std::make_exception_ptr(nb::python_error());
      is_cancelled_ = true;
      throw Cancelled();
    }
    next_look_ = Clock::now() + kBetweenLooks;
  }

  std::thread::id caller_;
  Clock::time_point next_look_;  // only for the caller
  std::atomic<bool> is_cancelled_ = false;
  std::exception_ptr raised_;  // only for the caller
};

// Calls call(options) so.
template <class Options, class Call>
auto interruptible(Options options, const Call& call) {
  Signals signals;
  options.between_pieces = signals.between_pieces();
  return signals.watch([&] { return call(std::as_const(options)); });
}

}  // namespace hemstitch::python
