#include "core/thread_limit.hpp"

#include <pthread.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace hemstitch {
namespace {

// That of oneTBB's workers, since memory for stacks may be short too. The C library keeps these stacks for
// the workers.
constexpr std::size_t kStackBytes = std::size_t{4} << 20;
constexpr auto kTryAgainAfter = std::chrono::seconds(1);

void* wait_for_end(void* gate) {
  const std::scoped_lock lock(*static_cast<std::mutex*>(gate));
  return nullptr;
}

// How many of `count` threads can be started beside those that there are.
unsigned started_together(unsigned count) {
  std::vector<pthread_t> threads;
  threads.reserve(count);
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return 0;
  pthread_attr_setstacksize(&attributes, kStackBytes);
  {
    std::mutex gate;
    std::unique_lock closed(gate);
    pthread_t thread{};
    while (threads.size() < count && pthread_create(&thread, &attributes, wait_for_end, &gate) == 0)
      threads.push_back(thread);
    closed.unlock();
    for (const pthread_t started : threads) pthread_join(started, nullptr);
  }
  pthread_attr_destroy(&attributes);
  return static_cast<unsigned>(threads.size());
}

class ThreadLimit {
 public:
  static ThreadLimit& instance() {
    static auto* const limit = new ThreadLimit;  // never destroyed: threads may work while the process ends
    return *limit;
  }

  unsigned startable(unsigned wanted) {
    if (wanted <= sure_.load(std::memory_order_relaxed)) return wanted;
    const std::scoped_lock lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    if (wanted <= sure_ || now < next_try_) return std::min<unsigned>(wanted, sure_);
    const unsigned started = started_together(wanted - 1);
    if (started == wanted - 1) {
      told_.reset();
      sure_ = wanted;
      return wanted;
    }
    next_try_ = now + kTryAgainAfter;
    const unsigned kept_free = (started + 3) / 4;
    // oneTBB's workers of earlier calls may be among those that are there already.
    sure_ = std::max(sure_.load(), 1 + started - kept_free);
    told_ = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism, sure_);
    return sure_;
  }

 private:
  std::mutex mutex_;
  std::atomic<unsigned> sure_ = 1;  // so many threads could be started; it never falls
  std::unique_ptr<tbb::global_control> told_;
  std::chrono::steady_clock::time_point next_try_;
};

}  // namespace

unsigned startable_threads(unsigned wanted) { return ThreadLimit::instance().startable(wanted); }

}  // namespace hemstitch
