#include "few_threads.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <memory>

namespace {

constinit std::atomic<int> g_free{INT_MAX}, g_refused{0};

struct Start {
  void* (*run)(void*);
  void* argument;
};

void* run(void* given) {
  const Start start = *std::unique_ptr<Start>(static_cast<Start*>(given));
  void* const result = start.run(start.argument);
  ++g_free;
  return result;
}

}  // namespace

namespace hemstitch::testing {

void allow_threads(int count) { g_free = count; }
int refused_threads() { return g_refused; }

}  // namespace hemstitch::testing

// Since the program defines it, all its libraries call it: ours, oneTBB and the C++ library.
extern "C" __attribute__((visibility("default"))) int pthread_create(pthread_t* thread,
                                                                     const pthread_attr_t* attributes,
                                                                     void* (*start)(void*),
                                                                     void* argument) noexcept {
  static auto* const create = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  if (g_free.fetch_sub(1) <= 0) {
    ++g_free;
    ++g_refused;
    return EAGAIN;
  }
  auto begun = std::make_unique<Start>(Start{start, argument});
  const int error = create(thread, attributes, run, begun.get());
  if (error == 0)
    static_cast<void>(begun.release());
  else
    ++g_free;
  return error;
}
