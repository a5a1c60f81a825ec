// A backend for tests: does another backend's work, late and wrong on demand, as a device might.
//
// Never part of the library: tests and the tool `hemstitch-fake` register it. Calls are counted over all
// engines of the backend, from 1, compress and restore alike.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "engine/backend.hpp"

namespace hemstitch {

// What a backend has been asked for so far.
struct FakeCounts {
  std::atomic<std::uint64_t> starts{0}, calls{0};
};

struct FakePlan {
  std::string inner = "cpu";           // whose bytes it gives; also its fallback
  std::chrono::microseconds start{0};  // that making an engine takes; 0: nothing is done meanwhile
  std::chrono::microseconds delay{0};  // before each call returns; longer for every second one
  // Of uploading and downloading a batch; computing takes three times as long, and what the other backend takes. The device
  // does each for one batch at a time, side by side with the others, and tells when.
  std::chrono::microseconds stage{0};
  std::uint64_t device_bytes_per_byte =
      0;  // of a batch; 0: it says nothing of its memory, of which 64 MB are free
  std::set<std::uint64_t> out_of_memory_calls;  // throw kDeviceOutOfMemory
  std::set<std::uint64_t> failing_block_calls;  // the batch's first block ends with kDeviceFault
  std::set<std::uint64_t> wrong_bytes_calls;    // one byte of the batch's first block is changed, status kOk
  std::uint64_t lost_from_call = 0;             // from this call on: kDeviceLost; 0: never
  bool chosen_by_auto = false;
  bool starts = true;                  // else no engine is made: kDeviceFault
  std::string unavailable_reason;      // empty: usable
  std::shared_ptr<FakeCounts> counts;  // of the backend, for who wants to see them; null: its own
};

std::unique_ptr<Backend> make_fake_backend(FakePlan plan);

// From HEMSTITCH_FAKE, words separated by spaces: "inner=NAME start_us=N delay_us=N stage_us=N oom=N fail=N wrong=N lost=N
// memory=N auto nostart unavailable=REASON"; oom, fail and wrong may be repeated. Throws kInvalidOption on anything else.
FakePlan fake_plan_from_environment();

}  // namespace hemstitch
