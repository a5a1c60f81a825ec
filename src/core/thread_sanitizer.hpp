// Tells ThreadSanitizer of an order between threads that it cannot see, since it is made inside a library that was not
// built with it: Debian's oneTBB. Without ThreadSanitizer this is nothing.
//
// Who acquires an object sees what was done by those who released it before. No lock is taken: these calls may stand
// only where the library already makes that order, and hide a mistake anywhere else.
#pragma once

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HEMSTITCH_THREAD_SANITIZER
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define HEMSTITCH_THREAD_SANITIZER
#endif

#if defined(HEMSTITCH_THREAD_SANITIZER)
#include <sanitizer/tsan_interface.h>
#endif

namespace hemstitch {

inline void tsan_acquire([[maybe_unused]] void* object) {
#if defined(HEMSTITCH_THREAD_SANITIZER)
  __tsan_acquire(object);
#endif
}

inline void tsan_release([[maybe_unused]] void* object) {
#if defined(HEMSTITCH_THREAD_SANITIZER)
  __tsan_release(object);
#endif
}

// Acquires now, releases at the end of the scope: for what one thread holds at a time.
class TsanHold {
 public:
  explicit TsanHold(void* object) : object_(object) { tsan_acquire(object_); }
  ~TsanHold() { tsan_release(object_); }
  TsanHold(const TsanHold&) = delete;
  TsanHold& operator=(const TsanHold&) = delete;

 private:
  void* object_;
};

}  // namespace hemstitch
