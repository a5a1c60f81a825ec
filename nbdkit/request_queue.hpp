// Gathers the requests of many threads into batches. The first thread does its own request. Those that come
// meanwhile wait, and the first of these does all of them together. No thread waits for requests that have
// not come.
#pragma once

#include <condition_variable>
#include <exception>
#include <mutex>
#include <span>
#include <vector>

namespace hemstitch {

template <class Request>
class RequestQueue {
 public:
  // Returns after `run` was called, by this thread or another, with a list that includes the request. An
  // exception is rethrown to all whose requests were in the list.
  template <class Run>
  void add(Request& request, const Run& run) {
    Waiting waiting{&request, nullptr, false};
    std::unique_lock lock(mutex_);
    queue_.push_back(&waiting);
    changed_.wait(lock, [&] { return waiting.done || !is_running_; });
    if (!waiting.done) {
      is_running_ = true;
      std::vector<Waiting*> taken;
      taken.swap(queue_);
      lock.unlock();
      std::exception_ptr failure;
      try {
        std::vector<Request*> requests;
        requests.reserve(taken.size());
        for (const Waiting* other : taken) requests.push_back(other->request);
        run(std::span<Request* const>(requests));
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
      for (Waiting* other : taken) {
        other->failure = failure;
        other->done = true;
      }
      is_running_ = false;
      changed_.notify_all();
    }
    if (waiting.failure) std::rethrow_exception(waiting.failure);
  }

 private:
  struct Waiting {
    Request* request;
    std::exception_ptr failure;
    bool done;
  };
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::vector<Waiting*> queue_;
  bool is_running_ = false;
};

}  // namespace hemstitch
