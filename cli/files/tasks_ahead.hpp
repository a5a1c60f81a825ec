// Work that an arena's threads may do before it is wanted, and need not do at all.
//
// oneTBB's task_group would wait for ever for a task that it counts before it fails to find memory for it (2021.8,
// task_group_base::prepare_task).
#pragma once

#include <tbb/task_arena.h>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <mutex>

#include "core/parallel.hpp"

namespace hemstitch::cli {

class TasksAhead {
 public:
  // Throws std::bad_alloc: an arena whose beginning fails in a later call, unheard of, would let the next call wait for ever.
  explicit TasksAhead(tbb::task_arena& arena) : arena_(arena) { arena_.initialize(); }
  // Waits for what runs; what has not begun does not begin any more.
  ~TasksAhead() {
    std::unique_lock lock(state_.mutex);
    state_.stopped = true;
    state_.one_ended.wait(lock, [&] { return state_.running == 0; });
  }
  TasksAhead(const TasksAhead&) = delete;
  TasksAhead& operator=(const TasksAhead&) = delete;

  // `task` must not throw. From any thread.
  template <class Task>
  void run(const Task& task) {
    if (arena_.max_concurrency() == 1) return;  // the only thread is the one that will want it
    try {
      enqueue(arena_, [state = &state_, task] {
        if (!state->begin()) return;
        task();
        state->end();
      });
    } catch (const std::exception&) {  // no memory for the task, or no thread: it is done when it is wanted
    }
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable one_ended;
    std::size_t running = 0;
    bool stopped = false;

    bool begin() {
      const std::scoped_lock lock(mutex);
      if (!stopped) ++running;
      return !stopped;
    }
    void end() {
      const std::scoped_lock lock(mutex);
      --running;
      one_ended.notify_all();
    }
  };

  // Lives to the end of the process: a task that never begins stays somewhere in oneTBB with its reference.
  static State& new_state() {
    static std::mutex mutex;
    static auto& states = *new std::deque<State>;
    const std::scoped_lock lock(mutex);
    return states.emplace_back();
  }

  tbb::task_arena& arena_;
  State& state_ = new_state();
};

}  // namespace hemstitch::cli
