// The working states of a library that nobody uses at the moment: to make new ones costs more than to
// compress a short input. They are not thread_local, since glibc ends the process if it has no memory to
// note that a thread has something to destroy. But a thread finds the state that it used last, unless another
// thread needed it: each looks first at a place of its own, so that threads do not wait for each other.
//
// Thread safety: any number of calls at once.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

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

  IdleStates() = default;
  ~IdleStates() {
    for (Place& place : places_) delete place.state.load();
  }
  IdleStates(const IdleStates&) = delete;
  IdleStates& operator=(const IdleStates&) = delete;

  // Throws std::bad_alloc, and what making a state throws.
  Borrowed borrow() { return Borrowed(*this); }

 private:
  // States for which there is no place are freed.
  static constexpr std::size_t kPlaces = 64;
  static constexpr std::size_t kCacheLineBytes = 64;

  struct alignas(kCacheLineBytes) Place {
    std::atomic<State*> state = nullptr;
  };

  // Calls done(state) for places until it returns true, the calling thread's own first.
  template <class Done>
  bool at_a_place(const Done& done) {
    const std::size_t own = std::hash<std::thread::id>()(std::this_thread::get_id());
    for (std::size_t i = 0; i < kPlaces; ++i)
      if (done(places_[(own + i) % kPlaces].state)) return true;
    return false;
  }

  std::unique_ptr<State> take() {
    std::unique_ptr<State> taken;
    at_a_place([&](std::atomic<State*>& state) {
      if (state.load(std::memory_order_relaxed) != nullptr) taken.reset(state.exchange(nullptr));
      return taken != nullptr;
    });
    return taken ? std::move(taken) : std::make_unique<State>();
  }

  void give_back(std::unique_ptr<State> given) noexcept {
    const bool kept = at_a_place([&](std::atomic<State*>& state) {
      State* none = nullptr;
      return state.load(std::memory_order_relaxed) == nullptr &&
             state.compare_exchange_strong(none, given.get());
    });
    if (kept) static_cast<void>(given.release());
  }

  std::array<Place, kPlaces> places_;
};

}  // namespace hemstitch
