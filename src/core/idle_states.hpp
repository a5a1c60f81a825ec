// The working states of a library that nobody uses at the moment: to make new ones costs more than to
// compress a short input. They are not thread_local, since glibc ends the process if it has no memory to
// note that a thread has something to destroy.
//
// Thread safety: any number of calls at once.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace hemstitch {

template <class State>
class IdleStates {
 public:
  // A state for as long as this object lives.
  class Borrowed {
   public:
    explicit Borrowed(IdleStates& idle) : idle_(idle), state_(idle.take()) {}
    ~Borrowed() { idle_.give_back(std::move(state_)); }
    Borrowed(const Borrowed&) = delete;
    Borrowed& operator=(const Borrowed&) = delete;

    State& operator*() const { return *state_; }
    State* operator->() const { return state_.get(); }

   private:
    IdleStates& idle_;
    std::unique_ptr<State> state_;
  };

  // Throws std::bad_alloc, and what making a state throws.
  Borrowed borrow() { return Borrowed(*this); }

 private:
  std::unique_ptr<State> take() {
    const std::scoped_lock lock(mutex_);
    if (idle_.empty()) {
      idle_.reserve(made_ + 1);  // so that give_back() needs no memory
      auto state = std::make_unique<State>();
      ++made_;
      return state;
    }
    std::unique_ptr<State> state = std::move(idle_.back());
    idle_.pop_back();
    return state;
  }

  void give_back(std::unique_ptr<State> state) noexcept {
    const std::scoped_lock lock(mutex_);
    idle_.push_back(std::move(state));
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<State>> idle_;
  std::size_t made_ = 0;
};

}  // namespace hemstitch
