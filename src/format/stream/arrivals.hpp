// Content on its way from a device to the rooms of a decoder's caller, in the order in which its transfers began.
// Any thread may call any function.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <utility>

namespace hemstitch {

template <class Arrival>
class Arrivals {
 public:
  // `mutex`: the decoder's. What an arrival keeps alive is released under it.
  explicit Arrivals(std::mutex& mutex) : mutex_(mutex) {}

  // Returns its number, from 1 on.
  std::uint64_t add(Arrival arrival) {
    const std::scoped_lock lock(mutex_);
    arrivals_.push_back({++count_, std::move(arrival)});
    return count_;
  }

  // The last number that is not settled; 0: none.
  std::uint64_t under_way() const {
    const std::scoped_lock lock(mutex_);
    return arrivals_.empty() ? 0 : arrivals_.back().number;
  }

  // Returns when everything up to this number has arrived. Calls receive(arrival) for each, one at a time and in
  // order; if it throws, the arrival stays. Calls rest() when none is left.
  template <class Receive, class Rest>
  void settle(std::uint64_t number, const Receive& receive, const Rest& rest) {
    const std::scoped_lock settling(settling_);
    for (;;) {
      const Numbered* first = nullptr;
      {
        const std::scoped_lock lock(mutex_);
        if (arrivals_.empty() || arrivals_.front().number > number) return;
        first = &arrivals_.front();  // stays in its place while others are added
      }
      receive(first->arrival);
      const std::scoped_lock lock(mutex_);
      arrivals_.pop_front();
      if (arrivals_.empty()) rest();
    }
  }

 private:
  struct Numbered {
    std::uint64_t number = 0;
    Arrival arrival;
  };

  std::mutex settling_;  // taken before mutex_
  std::mutex& mutex_;    // guards what follows
  std::deque<Numbered> arrivals_;
  std::uint64_t count_ = 0;
};

}  // namespace hemstitch
