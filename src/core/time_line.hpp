// The time line of a run: which stage worked on which batch, and when. Engines with a device use the device's
// own clock for uploads, kernels and downloads; the host's clock times reading, writing and starting.
//
// The wall time of a stage is the time in which at least one batch was in it. The stage with the longest wall
// time limited the run, since all others could have been hidden behind it.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hemstitch {

// Without a device, kKernel is the whole work of the engine.
enum class Stage { kStart, kRead, kUpload, kKernel, kDownload, kWrite };
inline constexpr std::size_t kStageCount = 6;
std::string_view stage_name(Stage stage);

// In seconds since the run began. Batches count from 1: for reading and writing in the order of reading, for
// an engine's stages in the order of its calls. Starting has batch 0.
struct StageInterval {
  Stage stage = Stage::kStart;
  std::uint64_t batch = 0;
  double begin = 0, end = 0;
};

struct TimeReport {
  struct Sum {
    double busy_seconds = 0;  // of all batches; more than wall_seconds if several were there at once
    double wall_seconds = 0;
  };
  std::array<Sum, kStageCount> stages;
  double wall_seconds = 0;               // of the run so far
  std::vector<StageInterval> intervals;  // the first ones, in no order

  const Sum& of(Stage stage) const { return stages[static_cast<std::size_t>(stage)]; }
  Stage bound_by() const;
  // "1.21 s: start 0.02, read 0.31, ..., write 0.90; bound by write", in wall time. Stages that did not
  // occur are left out.
  std::string text() const;
};

// The total time covered by many intervals in any order, in bounded memory. If an interval comes after
// thousands of later gaps, its part before the settled time is not counted.
class CoveredTime {
 public:
  void add(double begin, double end);
  double seconds() const;

 private:
  double settled_seconds_ = 0;
  double settled_until_ = 0;
  std::vector<std::pair<double, double>> pieces_;  // disjoint and in order
};

// Any thread may use it.
class TimeLine {
 public:
  using Clock = std::chrono::steady_clock;

  explicit TimeLine(Clock::time_point begin = Clock::now()) : begin_(begin) {}

  double now() const { return seconds_at(Clock::now()); }
  double seconds_at(Clock::time_point time) const {
    return std::chrono::duration<double>(time - begin_).count();
  }
  // If memory runs out, the interval is left out.
  void add(const StageInterval& interval) noexcept;
  // The number of an engine's next call.
  std::uint64_t next_batch();
  TimeReport report() const;

 private:
  const Clock::time_point begin_;
  mutable std::mutex mutex_;  // guards what follows
  std::uint64_t batches_ = 0;
  std::array<double, kStageCount> busy_seconds_{};
  std::array<CoveredTime, kStageCount> covered_;
  std::vector<StageInterval> intervals_;
};

// Adds a stage that lasts as long as the object.
class StageTimer {
 public:
  StageTimer(TimeLine& line, Stage stage, std::uint64_t batch)
      : line_(line), interval_{stage, batch, line.now(), 0} {}
  ~StageTimer() {
    interval_.end = line_.now();
    line_.add(interval_);
  }
  StageTimer(const StageTimer&) = delete;
  StageTimer& operator=(const StageTimer&) = delete;

 private:
  TimeLine& line_;
  StageInterval interval_;
};

}  // namespace hemstitch
