// The results of a command's files. Failures are reported on stderr as they happen, and again in a line at
// the end.
#pragma once

#include <cstddef>
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
  // A file that is compressed already, and so was left as it is.
  void leave_compressed() { ++left_compressed_; }
  std::size_t left_compressed() const { return left_compressed_; }

  // For several files: which ones failed.
  void print_failures(std::size_t total) const;
  int exit_status() const { return !failed_.empty() ? kExitError : warned_ ? kExitWarning : kExitDone; }

 private:
  std::vector<std::string> failed_;
  bool warned_ = false;
  std::size_t left_compressed_ = 0;
};

// The message of an exception that was thrown while a file was processed. Call it and use the result where
// the exception was caught.
std::string_view failure_text() noexcept;

}  // namespace hemstitch::cli
