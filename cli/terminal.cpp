#include "terminal.hpp"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace hemstitch::cli {

bool is_terminal(int descriptor) {
  constexpr std::string_view kNames[] = {"stdin", "stdout", "stderr"};
  const char* pretended = std::getenv("HEMSTITCH_PRETEND_TERMINAL");
  if (pretended != nullptr && std::string_view(pretended).find(kNames[descriptor]) != std::string_view::npos)
    return true;
  return isatty(descriptor) == 1;
}

}  // namespace hemstitch::cli
