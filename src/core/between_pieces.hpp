// Lets code deep below a call look between pieces of its work whether the call is to end: searches, and the
// twins of finders and parses, whose inputs are what kernels get too. call_in_pieces.hpp is for the calls.
#pragma once

#include <cstdint>
#include <utility>

namespace hemstitch {

class LooksBetweenPieces {
 public:
  virtual ~LooksBetweenPieces() = default;
  // By any thread of the call. Throws to end its work.
  virtual void look() = 0;

  // What this thread works for, null: nothing that looks. While a Here lives, it is another one. Threads that
  // work for a call make one of their own.
  static LooksBetweenPieces* here() { return here_; }
  class Here {
   public:
    explicit Here(LooksBetweenPieces* call) : before_(std::exchange(here_, call)) {}
    ~Here() { here_ = before_; }
    Here(const Here&) = delete;
    Here& operator=(const Here&) = delete;

   private:
    LooksBetweenPieces* before_;
  };

 private:
  static inline thread_local LooksBetweenPieces* here_ = nullptr;
};

inline void look_between_pieces() {
  if (LooksBetweenPieces* const call = LooksBetweenPieces::here()) call->look();
}

// For a loop over positions: looks every few thousand of them.
class PositionCount {
 public:
  void next() {
    constexpr std::uint32_t kBetweenLooks = 8192;
    if (++count_ % kBetweenLooks == 0) look_between_pieces();
  }

 private:
  std::uint32_t count_ = 0;
};

}  // namespace hemstitch
