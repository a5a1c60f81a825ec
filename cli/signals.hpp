// Ends by a signal without leaving a partial file.
//
// Signals that ask the process to end are blocked in every thread, and one thread waits for them. So ordinary
// code runs: it removes the unfinished files and then lets the signal end the process in the usual way, so
// that a shell sees what it expects. A signal that was ignored when the process began (nohup) stays ignored.
#pragma once

#include <mutex>
#include <set>
#include <shared_mutex>
#include <string>
#include <utility>

namespace hemstitch::cli {

// Call before any other thread starts. SIGPIPE and SIGXFSZ are blocked as well, so that writing returns an
// error. Throws ToolError.
void take_signals();

// Ends the process by `signal`, as if it had never been blocked, after removing the unfinished files.
[[noreturn]] void end_by_signal(int signal);

// Whether a closed pipe should end the process by SIGPIPE: it was not ignored when the process began.
bool closed_pipe_is_fatal();

// The files to remove if the process ends early, by their names in folders that stay open. Creating, renaming
// and removing such a file happens under the lock, which many threads may hold at once. So a signal finds
// either the file and its name, or neither.
class UnfinishedFiles {
 public:
  static UnfinishedFiles& instance();
  [[nodiscard]] std::shared_lock<std::shared_mutex> lock();
  void add(int folder, const std::string& name);
  void forget(int folder, const std::string& name) noexcept;

 private:
  friend void end_by_signal(int signal);

  std::mutex entrance_;  // a signal holds it, so that no others enter while it waits for the lock
  std::shared_mutex changing_;
  std::mutex names_mutex_;
  std::set<std::pair<int, std::string>> names_;
};

}  // namespace hemstitch::cli
