#include "messages.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "arguments.hpp"

namespace hemstitch::cli {

ToolError tool_error_from_errno(std::string_view what) {
  return ToolError(fmt::format("{}: {}", what, std::generic_category().message(errno)));
}

std::string shown_name(std::string_view path) {
  if (path == kStandardStream) return "stdin";
  std::string shown;
  for (const char c : path) {
    const auto code = static_cast<unsigned char>(c);
    if (code < 0x20 || code == 0x7F)
      shown += fmt::format("\\x{:02x}", code);
    else
      shown += c;
  }
  return shown;
}

// One write a line, so that lines of processes that share a stderr stay whole.
void print_message(std::string_view text) {
  const std::string line = fmt::format("hemstitch: {}\n", text);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void print_message(std::string_view path, std::string_view text) {
  print_message(fmt::format("{}: {}", shown_name(path), text));
}

}  // namespace hemstitch::cli
