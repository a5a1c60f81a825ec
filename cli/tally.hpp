// What became of a command's files: failures are told on stderr as they come and once more in a line at the end.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hemstitch::cli {

inline constexpr int kExitDone = 0;
inline constexpr int kExitError = 1;
inline constexpr int kExitWarning = 2;

class Tally {
 public:
  void fail(const std::string& path, std::string_view what);
  void warn() { warned_ = true; }

  // Of several files: which failed.
  void print_failures(std::size_t total) const;
  int exit_status() const { return !failed_.empty() ? kExitError : warned_ ? kExitWarning : kExitDone; }

 private:
  std::vector<std::string> failed_;
  bool warned_ = false;
};

// The message of what was thrown while a file was worked on; call it where that was caught, and use it there.
std::string_view failure_text() noexcept;

}  // namespace hemstitch::cli
