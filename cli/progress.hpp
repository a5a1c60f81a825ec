// The progress bar: shown on a terminal, for work of more than a second.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/files/walk/folder.hpp"

namespace hemstitch::cli {

struct WorkDone {
  std::uint64_t input_bytes = 0;
  std::uint64_t output_bytes = 0;
  std::uint64_t file_count = 0;
};

class TreeProgress;

// When to draw: after a second, and no more often than one can read.
class DrawTimes {
 public:
  using Clock = std::chrono::steady_clock;

  bool due();
  double elapsed_seconds() const;

 private:
  Clock::time_point start_ = Clock::now();
  Clock::time_point next_ = start_ + std::chrono::seconds(1);
};

// One file, or one batch of files. While a TreeProgress exists, this is a part of it and draws nothing
// itself.
class Progress {
 public:
  // `total_bytes` of input, if known. `restoring` says which side of the ratio is the content.
  Progress(const std::string& path, std::optional<std::uint64_t> total_bytes, bool restoring, bool quiet);
  ~Progress();  // clears the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  bool enabled() const { return enabled_; }
  // `file_count` for a batch: how many files are done.
  void update(std::uint64_t input_bytes, std::uint64_t output_bytes, std::uint64_t file_count = 0);
  double elapsed_seconds() const { return times_.elapsed_seconds(); }

 private:
  std::string name_;
  std::optional<std::uint64_t> total_bytes_;
  bool restoring_;
  bool enabled_;
  TreeProgress* tree_;  // null if this is not a part of one
  WorkDone done_;
  DrawTimes times_;
};

// All files of -r together. At most one exists at a time.
class TreeProgress {
 public:
  TreeProgress(std::span<const FileName> files, bool restoring, bool quiet);
  ~TreeProgress();
  TreeProgress(const TreeProgress&) = delete;
  TreeProgress& operator=(const TreeProgress&) = delete;

  // All files except these are done, whatever their result.
  void only_these_are_left(std::span<const FileName> files);
  // The first of the remaining files is done.
  void next_file();

 private:
  friend class Progress;

  void show(const WorkDone& part);
  void add(const WorkDone& part);

  bool enabled_;
  bool restoring_;
  std::size_t total_files_ = 0;
  std::uint64_t total_bytes_ = 0;
  std::vector<std::uint64_t> left_;  // sizes, the last file's first
  std::uint64_t left_bytes_ = 0;     // of all of them
  WorkDone worked_;                  // by parts that have ended; without files that failed
  DrawTimes times_;
};

// "0.43 GB/s"; speeds are bytes of content over time, with GB = 1e9 bytes.
std::string shown_speed(std::uint64_t content_bytes, double seconds);
// "1.2 MB", with powers of 1000.
std::string shown_bytes(std::uint64_t bytes);

}  // namespace hemstitch::cli
