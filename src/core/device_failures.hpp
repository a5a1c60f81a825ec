// How often a device has failed, and whether it is still used. Everything that can work without a device follows this
// rule: engines, page batches, decoders of streams.
#pragma once

#include <atomic>

#include "core/status.hpp"

namespace hemstitch {

inline bool is_device_failure(const Error& error) {
  return status_family(error.status()) == StatusFamily::kDevice;
}

// One failure may have been temporary, for example if another process held the memory. After the second one the device is
// dropped. Thread safety: any thread may call any function at any time.
class DeviceFailures {
 public:
  void count() { ++calls_; }
  bool is_dropped() const { return calls_ >= kCallsToDrop; }
  void drop() { calls_ = kCallsToDrop; }

 private:
  static constexpr unsigned kCallsToDrop = 2;
  std::atomic<unsigned> calls_ = 0;  // that failed
};

}  // namespace hemstitch
