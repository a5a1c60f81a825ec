// The workspace planner: how much memory a run takes, decided before its first byte and printable.
//
// A plan lists parts with their sizes, counts and lifetimes; nothing is allocated by it. Buffers are made
// from the same numbers, so what is printed is what is used.
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

  // A table, a line a part, with the total last.
  std::string text() const;

 private:
  std::vector<Part> parts_;
};

// What batches take of a device's memory.
struct DeviceNeeds {
  std::function<std::uint64_t(std::uint64_t blocks)> batch_bytes;  // empty: there is no device
  unsigned slots = 1;                                              // batches that are there at once, at most
  std::optional<std::uint64_t> free_bytes;                         // where the device tells
};

// How the blocks of one run are grouped: batches that travel together, and how many of them at once.
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
  std::uint64_t buffer_bytes_per_batch = 0;  // what a slot holds once, e.g. history
  std::uint64_t preferred_batch_bytes = 0;   // raw bytes
  unsigned preferred_batches_in_flight = 1;
  std::optional<std::uint64_t> content_bytes;  // raw bytes of all batches, where that is known
  std::uint64_t memory_limit_bytes = 0;        // 0: none
  DeviceNeeds device;
  std::uint64_t device_limit_bytes = 0;  // 0: half of what is free, but room for a block
};

// Takes what the engine prefers, but no more batches than the content fills, then shrinks batches, then their number, until the limits hold.
// Throws kMemoryLimit, naming the least that works, when one batch of one block is already too much.
BatchPlan plan_batches(const BatchNeeds& needs);

}  // namespace hemstitch
