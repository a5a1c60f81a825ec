#include "cli/messages.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <new>
#include <system_error>

#include "cli/request.hpp"
#include "cli/status_line.hpp"

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

// Writes each line in one call, so that the lines of processes that share stderr stay whole. Without memory
// for the line it takes three calls.
void print_message(std::string_view text) noexcept {
  clear_status_line();
  try {
    const std::string line = fmt::format("hemstitch: {}\n", text);
    std::fwrite(line.data(), 1, line.size(), stderr);
  } catch (const std::bad_alloc&) {
    for (const std::string_view piece : {std::string_view("hemstitch: "), text, std::string_view("\n")})
      std::fwrite(piece.data(), 1, piece.size(), stderr);
  }
}

void print_message(std::string_view path, std::string_view text) noexcept {
  try {
    print_message(fmt::format("{}: {}", shown_name(path), text));
  } catch (const std::bad_alloc&) {
    print_message(text);
  }
}

void print_usage_error(const UsageError& error, std::string_view help_command) noexcept {
  try {
    print_message(fmt::format("{} ({} lists the options)", error.what(), help_command));
  } catch (const std::bad_alloc&) {
    print_message(error.what());
  }
}

}  // namespace hemstitch::cli
