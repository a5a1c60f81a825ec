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

UnfinishedFile& UnfinishedFile::instance() {
  // Never destroyed: the waiting thread may need it while the process ends.
  static auto* const file = new UnfinishedFile;
  return *file;
}

bool closed_pipe_is_fatal() { return g_closed_pipe_is_fatal; }

void end_by_signal(int signal) {
  UnfinishedFile& unfinished = UnfinishedFile::instance();
  const auto lock = unfinished.lock();  // held to the end: nobody renames or creates any more
  if (!unfinished.path().empty()) unlink(unfinished.path().c_str());
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
