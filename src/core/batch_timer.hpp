// Times the stages of batches, of which a run may have millions.
//
// To read the clock six times takes a quarter of the time that a frame of 100 bytes takes. So once there are many
// batches, small ones are timed with a clock that only counts the ticks of the system, every few milliseconds. Most
// of them then take no time at all, and the one in which the tick comes takes all of it. Over many batches the sums
// are right, as in a profile that is made of samples.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>

#include "core/time_line.hpp"

namespace hemstitch {

class BatchTimer {
 public:
  // `bytes`: of the batch, or what batches usually have.
  BatchTimer(TimeLine& line, Stage stage, std::uint64_t batch, std::size_t bytes)
      : line_(line),
        exact_(batch <= kExactBatches || bytes >= kExactBytes),
        interval_{stage, batch, now(), 0} {}
  ~BatchTimer() {
    interval_.end = now();
    if (exact_ || interval_.end > interval_.begin) line_.add(interval_);
  }
  BatchTimer(const BatchTimer&) = delete;
  BatchTimer& operator=(const BatchTimer&) = delete;

 private:
  static constexpr std::uint64_t kExactBatches = 1024;
  static constexpr std::size_t kExactBytes = std::size_t{16} << 10;

  double now() const {
#ifdef CLOCK_MONOTONIC_COARSE
    // The last tick of TimeLine::Clock.
    timespec tick{};
    if (!exact_ && clock_gettime(CLOCK_MONOTONIC_COARSE, &tick) == 0)
      return line_.seconds_at(TimeLine::Clock::time_point(std::chrono::seconds(tick.tv_sec) +
                                                          std::chrono::nanoseconds(tick.tv_nsec)));
#endif
    return line_.now();
  }

  TimeLine& line_;
  const bool exact_;
  StageInterval interval_;
};

}  // namespace hemstitch
