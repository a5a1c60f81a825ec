// The workspace planner: decides how much memory a run takes before its first byte, and can print it.
//
// A plan lists parts with their sizes, counts and lifetimes; it allocates nothing. Buffers are made from the
// same numbers, so what is printed is what is used.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace hemstitch {

class WorkspacePlan {
 public:
  struct Part {
    std::string name;
    std::uint64_t bytes_each = 0;
    std::uint64_t count = 0;
    std::string lifetime;  // who holds it and until when
  };

  void add(std::string name, std::uint64_t bytes_each, std::uint64_t count, std::string lifetime);
  const std::vector<Part>& parts() const { return parts_; }
  std::uint64_t total_bytes() const;

  // A table with a line for each part and the total last.
  std::string text() const;

 private:
  std::vector<Part> parts_;
};

// How much of a device's memory batches take.
struct DeviceNeeds {
  std::function<std::uint64_t(std::uint64_t blocks)> batch_bytes;  // empty: there is no device
  unsigned slots = 1;                                              // the most batches that are there at once
  std::optional<std::uint64_t> free_bytes;                         // if the device reports it
};

// How the blocks of one run are grouped: how many travel together as a batch, and how many batches at once.
struct BatchPlan {
  std::uint64_t blocks_per_batch = 1;
  unsigned batches_in_flight = 1;
  WorkspacePlan workspace;
  WorkspacePlan device_workspace;
  std::uint64_t device_limit_bytes = 0;  // 0: none
};

struct BatchNeeds {
  std::uint64_t block_bytes = 0;             // raw bytes of a block
  std::uint64_t buffer_bytes_per_block = 0;  // input, output and bookkeeping of one block in a slot
  std::uint64_t buffer_bytes_per_batch = 0;  // in a slot only once, e.g. history
  std::uint64_t preferred_batch_bytes = 0;   // raw bytes
  unsigned preferred_batches_in_flight = 1;
  std::optional<std::uint64_t> content_bytes;  // raw bytes of all batches, if known
  std::uint64_t memory_limit_bytes = 0;        // 0: none
  DeviceNeeds device;
  std::uint64_t device_limit_bytes = 0;  // 0: half of the free memory, but at least room for one block
};

// Starts from what the engine prefers, with no more batches than the content fills. It shrinks the batches,
// then their number, until the limits hold. Throws kMemoryLimit, with the least limit that works, if one
// batch of one block is too much.
BatchPlan plan_batches(const BatchNeeds& needs);

}  // namespace hemstitch
