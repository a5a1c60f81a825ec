// A backend for tests. It does another backend's work, and delays or spoils it on demand, as a device might.
//
// It is not part of the library: tests and the tool `hemstitch-fake` register it. Calls to compress and
// restore are counted together, over all engines of the backend, from 1.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "engine/backend.hpp"

namespace hemstitch {

// How often a backend was used so far.
struct FakeCounts {
  std::atomic<std::uint64_t> starts{0}, calls{0};
};

struct FakePlan {
  std::string inner = "cpu";           // the backend that does the work, and the fallback
  std::chrono::microseconds start{0};  // how long making an engine takes; 0: nothing is done meanwhile
  std::chrono::microseconds delay{0};  // before each call returns; longer for every second call
  // How long uploading and downloading a batch take; computing takes three times as long, plus the inner
  // backend's time. The device does each of the three for one batch at a time, overlapping with other
  // batches, and reports the times.
  std::chrono::microseconds stage{0};
  std::uint64_t device_bytes_per_byte =
      0;  // device memory for each byte of a batch; 0: no statement about memory. 64 MB are free
  std::set<std::uint64_t> out_of_memory_calls;  // throw kDeviceOutOfMemory
  std::set<std::uint64_t> failing_block_calls;  // the batch's first block ends with kDeviceFault
  std::set<std::uint64_t> wrong_bytes_calls;    // one byte of the batch's first block is changed; status kOk
  std::uint64_t lost_from_call = 0;             // from this call on: kDeviceLost; 0: never
  bool restores_blocks = true;                  // otherwise its engines are not asked to
  bool verifies_blocks = true;                  // the same with histories
  bool chosen_by_auto = false;
  bool starts = true;                  // otherwise no engine can be made: kDeviceFault
  std::string unavailable_reason;      // empty: usable
  std::shared_ptr<FakeCounts> counts;  // of the backend, for tests that read them; null: its own
};

std::unique_ptr<Backend> make_fake_backend(FakePlan plan);

// Reads HEMSTITCH_FAKE, words separated by spaces: "inner=NAME start_us=N delay_us=N stage_us=N oom=N fail=N
// wrong=N lost=N memory=N auto nostart unavailable=REASON". oom, fail and wrong may be repeated. Throws
// kInvalidOption on anything else.
FakePlan fake_plan_from_environment();

}  // namespace hemstitch
