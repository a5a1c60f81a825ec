#include "cli/signals.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <thread>

#include "cli/messages.hpp"
#include "cli/status_line.hpp"

namespace hemstitch::cli {
namespace {

constexpr int kShellSignalBase = 128;  // a shell reports the end by a signal as this plus its number
bool g_closed_pipe_is_fatal = false;

bool is_ignored(int signal) {
  struct sigaction action {};
  sigaction(signal, nullptr, &action);
  return action.sa_handler == SIG_IGN;
}

}  // namespace

UnfinishedFiles& UnfinishedFiles::instance() {
  // Never destroyed: the waiting thread may need it while the process ends.
  static auto* const files = new UnfinishedFiles;
  return *files;
}

std::shared_lock<std::shared_mutex> UnfinishedFiles::lock() {
  const std::lock_guard entering(entrance_);
  return std::shared_lock(changing_);
}

void UnfinishedFiles::add(int folder, const std::string& name) {
  const std::lock_guard lock(names_mutex_);
  names_.emplace(folder, name);
}

// Also called when memory is short, so it allocates nothing. There are few unfinished files at a time.
void UnfinishedFiles::forget(int folder, const std::string& name) noexcept {
  const std::lock_guard lock(names_mutex_);
  const auto found = std::find_if(names_.begin(), names_.end(), [&](const auto& unfinished) {
    return unfinished.first == folder && unfinished.second == name;
  });
  if (found != names_.end()) names_.erase(found);
}

bool closed_pipe_is_fatal() { return g_closed_pipe_is_fatal; }

void end_by_signal(int signal) {
  UnfinishedFiles& unfinished = UnfinishedFiles::instance();
  // Held until the process ends, so that no file is renamed or created any more.
  const std::lock_guard entering(unfinished.entrance_);
  const std::lock_guard lock(unfinished.changing_);
  for (const auto& [folder, name] : unfinished.names_) unlinkat(folder, name.c_str(), 0);
  end_status_line();
  ::signal(signal, SIG_DFL);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signal);
  pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  raise(signal);
  _exit(kShellSignalBase + signal);
}

void take_signals() {
  sigset_t awaited, blocked;
  sigemptyset(&awaited);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU})
    if (!is_ignored(signal)) sigaddset(&awaited, signal);
  blocked = awaited;
  sigaddset(&blocked, SIGPIPE);
  sigaddset(&blocked, SIGXFSZ);
  g_closed_pipe_is_fatal = !is_ignored(SIGPIPE);
  // Sent when somebody waits for a file that is about to be removed; remove_source queries the lease instead.
  ::signal(SIGIO, SIG_IGN);
  pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
  try {
    std::thread([awaited] {
      int signal = 0;
      while (sigwait(&awaited, &signal) != 0) {
      }
      end_by_signal(signal);
    }).detach();
  } catch (const std::system_error& error) {
    throw ToolError(
        fmt::format("no thread can be started: {} (memory or 'ulimit -u' is short)", error.what()));
  }
}

}  // namespace hemstitch::cli
