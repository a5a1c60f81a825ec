// Work that an arena's threads may do before its result is needed, and need not do at all.
//
// oneTBB's task_group counts a task before it allocates memory for it. If that fails, it waits for the task
// for ever (2021.8, task_group_base::prepare_task).
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
  // Throws std::bad_alloc. Without this, the arena's start might fail unnoticed in a later call, and the
  // next call would wait for ever.
  explicit TasksAhead(tbb::task_arena& arena) : arena_(arena) { arena_.initialize(); }
  // Waits for running tasks; others never begin.
  ~TasksAhead() {
    std::unique_lock lock(state_.mutex);
    state_.stopped = true;
    state_.one_ended.wait(lock, [&] { return state_.running == 0; });
  }
  TasksAhead(const TasksAhead&) = delete;
  TasksAhead& operator=(const TasksAhead&) = delete;

  // `task` must not throw. Any thread may call it.
  template <class Task>
  void run(const Task& task) {
    if (arena_.max_concurrency() == 1) return;  // the only thread is the one that needs the result
    try {
      enqueue(arena_, [state = &state_, task] {
        if (!state->begin()) return;
        task();
        state->end();
      });
    } catch (
        const std::exception&) {  // no memory or no thread for the task: it is done when its result is needed
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

  // Lives until the process ends: a task that never begins remains somewhere in oneTBB, with its reference.
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
