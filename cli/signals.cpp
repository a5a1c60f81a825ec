#include "signals.hpp"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <thread>

namespace hemstitch::cli {
namespace {

constexpr int kShellSignalBase = 128;  // how a shell counts an end by signal
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

void UnfinishedFiles::add(const std::string& path) {
  const std::lock_guard lock(paths_mutex_);
  paths_.insert(path);
}

void UnfinishedFiles::forget(const std::string& path) {
  const std::lock_guard lock(paths_mutex_);
  paths_.erase(path);
}

bool closed_pipe_is_fatal() { return g_closed_pipe_is_fatal; }

void end_by_signal(int signal) {
  UnfinishedFiles& unfinished = UnfinishedFiles::instance();
  // Held to the end: nobody renames or creates any more.
  const std::lock_guard entering(unfinished.entrance_);
  const std::lock_guard lock(unfinished.changing_);
  for (const std::string& path : unfinished.paths_) unlink(path.c_str());
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
  pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
  std::thread([awaited] {
    int signal = 0;
    while (sigwait(&awaited, &signal) != 0) {
    }
    end_by_signal(signal);
  }).detach();
}

}  // namespace hemstitch::cli
