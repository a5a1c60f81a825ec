#include "cli/status_line.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>

#include "cli/terminal.hpp"

namespace hemstitch::cli {
namespace {

constexpr std::string_view kClearRow = "\r\033[K";
constexpr int kPatience = 100;  // how many milliseconds the end waits for a thread that is drawing

std::mutex g_drawing;
// g_drawing guards both.
bool g_shown = false;
bool g_given_up = false;

}  // namespace

void draw_status_line(std::string_view text) {
  const std::lock_guard lock(g_drawing);
  if (g_given_up) return;
  const std::size_t columns = terminal_columns(STDERR_FILENO);
  const std::string row = std::string(kClearRow) + std::string(text.substr(0, columns - 1));
  g_shown = true;
  std::fwrite(row.data(), 1, row.size(), stderr);
}

void give_up_status_line() {
  const std::lock_guard lock(g_drawing);
  g_given_up = true;
}

void clear_status_line() {
  const std::lock_guard lock(g_drawing);
  if (!g_shown) return;
  g_shown = false;
  std::fwrite(kClearRow.data(), 1, kClearRow.size(), stderr);
}

void end_status_line() {
  std::unique_lock lock(g_drawing, std::try_to_lock);
  for (int waited = 0; !lock && waited < kPatience; ++waited) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    lock = std::unique_lock(g_drawing, std::try_to_lock);
  }
  if (!lock) return;
  lock.release();  // held until the process ends
  pollfd terminal{STDERR_FILENO, POLLOUT, 0};
  if (!g_shown || poll(&terminal, 1, 0) != 1 || (terminal.revents & POLLOUT) == 0) return;
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kClearRow.data(), kClearRow.size());
}

}  // namespace hemstitch::cli
