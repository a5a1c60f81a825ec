// What glibc 2.28 lacks of what our objects and libstdc++.a ask for. Linked into the wheel's module and tool as the first object, so that these definitions, which are
// hidden, win over those of the newer glibc that they are linked against (tools/wheel-root).
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <sys/random.h>
#include <time.h>

// 2.32. Zero: shared counts are changed by atomic instructions, always.
char __libc_single_threaded = 0;

// 2.29 made new versions of these, which set no errno by themselves; the old ones are there in every glibc.
double old_exp2(double);
double old_log2(double);
double old_pow(double, double);
__asm__(".symver old_exp2, exp2@GLIBC_2.2.5");
__asm__(".symver old_log2, log2@GLIBC_2.2.5");
__asm__(".symver old_pow, pow@GLIBC_2.2.5");
double exp2(double x) { return old_exp2(x); }
double log2(double x) { return old_log2(x); }
double pow(double x, double y) { return old_pow(x, y); }

// 2.30. As libstdc++ waits where it is missing: until the same moment of the clock that can be set. Who waits looks at the steady clock afterwards.
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const struct timespec* until) {
  struct timespec now, moment;
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &moment);
  const int64_t billion = 1000000000;
  const int64_t nanoseconds = (int64_t)moment.tv_nsec + until->tv_nsec - now.tv_nsec;
  // Rounded down: a remainder below zero belongs to the second before.
  const int64_t carried = nanoseconds < 0 ? -1 : nanoseconds / billion;
  moment.tv_sec += until->tv_sec - now.tv_sec + carried;
  moment.tv_nsec = nanoseconds - carried * billion;
  return pthread_cond_timedwait(condition, mutex, &moment);
}

// 2.36. libstdc++'s random_device asks for it.
uint32_t arc4random(void) {
  uint32_t value;
  while (getrandom(&value, sizeof value, 0) != sizeof value) {
  }
  return value;
}
