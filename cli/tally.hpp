// The results of a command's files. Failures are reported on stderr as they happen, and again in a line at
// the end.
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

  // For several files: which ones failed.
  void print_failures(std::size_t total) const;
  int exit_status() const { return !failed_.empty() ? kExitError : warned_ ? kExitWarning : kExitDone; }

 private:
  std::vector<std::string> failed_;
  bool warned_ = false;
};

// The message of an exception that was thrown while a file was processed. Call it and use the result where
// the exception was caught.
std::string_view failure_text() noexcept;

}  // namespace hemstitch::cli
