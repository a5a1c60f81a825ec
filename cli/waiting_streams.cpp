#include "cli/waiting_streams.hpp"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include <cerrno>

#include "cli/terminal.hpp"

namespace hemstitch::cli {

bool may_be_tried_again(int descriptor, short events) {
  if (errno == EINTR) return true;
  if (errno != EAGAIN && errno != EWOULDBLOCK) return false;
  pollfd waited_for{descriptor, events, 0};
  return poll(&waited_for, 1, -1) >= 0 || errno == EINTR;
}

void let_stdout_wait() {
  const int flags = fcntl(STDOUT_FILENO, F_GETFL);
  if (flags < 0 || (flags & O_NONBLOCK) == 0) return;
  // stdio drops what it could not write at once, so it writes through this function.
  const auto write_all = [](void*, const char* text, std::size_t bytes) -> ssize_t {
    std::size_t done = 0;
    while (done < bytes) {
      const ssize_t count = ::write(STDOUT_FILENO, text + done, bytes - done);
      if (count >= 0)
        done += static_cast<std::size_t>(count);
      else if (!may_be_tried_again(STDOUT_FILENO, POLLOUT))
        return 0;
    }
    return static_cast<ssize_t>(bytes);
  };
  FILE* const waiting = fopencookie(nullptr, "w", {nullptr, write_all, nullptr, nullptr});
  if (waiting == nullptr) return;
  if (is_terminal(STDOUT_FILENO)) setvbuf(waiting, nullptr, _IOLBF, BUFSIZ);
  stdout = waiting;
}

}  // namespace hemstitch::cli
