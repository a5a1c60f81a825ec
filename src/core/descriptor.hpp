// An open file descriptor that closes itself.
#pragma once

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <utility>

namespace hemstitch {

class Descriptor {
 public:
  // A negative number means no descriptor.
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }

  int number() const { return number_; }
  int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

// Whether a read() returns within this time: with bytes, or with the end or an error. A negative time: waits as
// long as it takes.
inline bool is_readable_within(const Descriptor& descriptor, std::chrono::milliseconds time) {
  pollfd waited_for{descriptor.number(), POLLIN, 0};
  int ready;
  do ready = poll(&waited_for, 1, static_cast<int>(time.count()));
  while (ready < 0 && errno == EINTR);
  return ready != 0;
}

}  // namespace hemstitch
