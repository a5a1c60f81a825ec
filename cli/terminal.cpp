#include "cli/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <limits>
#include <string_view>

namespace hemstitch::cli {

bool is_terminal(int descriptor) {
  constexpr std::string_view kNames[] = {"stdin", "stdout", "stderr"};
  const char* pretended = std::getenv("HEMSTITCH_PRETEND_TERMINAL");
  if (pretended != nullptr && std::string_view(pretended).find(kNames[descriptor]) != std::string_view::npos)
    return true;
  return isatty(descriptor) == 1;
}

std::size_t terminal_columns(int descriptor) {
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
    return std::numeric_limits<std::size_t>::max();
  return size.ws_col;
}

}  // namespace hemstitch::cli
