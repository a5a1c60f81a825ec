// Converts a device's times to the host's clock, by an event whose time is known on both.
#pragma once

#include <mutex>
#include <optional>

#include "core/time_line.hpp"
#include "gpu/cuda/device_buffer.hpp"
#include "gpu/cuda/event.hpp"

namespace hemstitch::cuda {

// Any thread may use it.
class DeviceClock {
 public:
  explicit DeviceClock(TimeLine& line) : line_(line) {}

  TimeLine& line() const { return line_; }

  // Call it before using a stream that has nothing to do.
  void start(const Stream& stream) {
    std::call_once(started_, [&] {
      zero_.emplace(Event::Kind::kTiming);
      zero_->record(stream.get());
      zero_->synchronize();
      zero_seconds_ = line_.now();
    });
  }
  // Adds the interval between two timing events that have both passed.
  void tell(Stage stage, std::uint64_t batch, const Event& begin, const Event& end) {
    line_.add({stage, batch, seconds_at(begin), seconds_at(end)});
  }

 private:
  double seconds_at(const Event& event) const {
    return zero_seconds_ + double(event.milliseconds_since(*zero_)) / 1000;
  }

  TimeLine& line_;
  std::once_flag started_;
  std::optional<Event> zero_;
  double zero_seconds_ = 0;
};

}  // namespace hemstitch::cuda
