// The progress bar: on a terminal, for work that takes longer than a second.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace hemstitch::cli {

class Progress {
 public:
  // `total_bytes` of input, where known. `restoring` tells which side of the ratio is the content.
  Progress(const std::string& path, std::optional<std::uint64_t> total_bytes, bool restoring, bool quiet);
  ~Progress();  // clears the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  bool enabled() const { return enabled_; }
  void update(std::uint64_t input_bytes, std::uint64_t output_bytes);
  double elapsed_seconds() const;

 private:
  using Clock = std::chrono::steady_clock;

  std::string line(std::uint64_t input_bytes, std::uint64_t output_bytes) const;

  std::string name_;
  std::optional<std::uint64_t> total_bytes_;
  bool restoring_;
  bool enabled_;
  bool shown_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point next_draw_;
};

// "0.43 GB/s"; speeds are bytes of content over time, with GB = 1e9 bytes.
std::string shown_speed(std::uint64_t content_bytes, double seconds);
// "1.2 MB", with powers of 1000.
std::string shown_bytes(std::uint64_t bytes);

}  // namespace hemstitch::cli
