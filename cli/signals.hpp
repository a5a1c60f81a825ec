// Ending by a signal without leaving a partial file behind.
//
// Signals that ask for an end are blocked in every thread and taken by one thread that waits for them. It
// therefore runs ordinary code: it removes the unfinished file and then lets the signal end the process in
// the usual way, so that a shell sees what it expects. A signal that was ignored when the process began
// (nohup) stays ignored.
#pragma once

#include <mutex>
#include <string>

namespace hemstitch::cli {

// Call before any other thread starts. SIGPIPE and SIGXFSZ are blocked as well, so that writing returns an
// error.
void take_signals();

// Ends the process by `signal`, as if it had never been blocked, after removing the unfinished file.
[[noreturn]] void end_by_signal(int signal);

// True where a closed pipe should end the process by SIGPIPE: it was not ignored when the process began.
bool closed_pipe_is_fatal();

// The file that is to be removed when the process ends early. There is one at most. Creating, renaming and
// removing it happen under the lock, so that a signal finds either the file and its name or neither.
class UnfinishedFile {
 public:
  static UnfinishedFile& instance();
  [[nodiscard]] std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }
  void set_path(const std::string& path) { path_ = path; }
  void forget() { path_.clear(); }
  const std::string& path() const { return path_; }

 private:
  std::mutex mutex_;
  std::string path_;
};

}  // namespace hemstitch::cli
