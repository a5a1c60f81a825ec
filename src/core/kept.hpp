// What one call leaves for the next to go on from, in an object that several threads may call at once. Its mutex is tried, never
// waited for: a call that finds it locked does without. So no call waits for another, and none for ever in a child of fork(), where
// the mutex may stay locked.
#pragma once

#include <mutex>
#include <utility>

namespace hemstitch {

template <class Value>
class Kept {
 public:
  // What is kept, which is nobody else's then. An empty value if there is none, or if it is in use.
  Value take() {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    return lock ? std::exchange(value_, Value{}) : Value{};
  }
  // The same, and it stays for others.
  Value share() const {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    return lock ? value_ : Value{};
  }
  // In place of what was kept, which is destroyed when the mutex is free again.
  void keep(Value value) {
    if (const std::unique_lock lock(mutex_, std::try_to_lock); lock) std::swap(value_, value);
  }

 private:
  mutable std::mutex mutex_;
  Value value_{};
};

}  // namespace hemstitch
