// The work of a device for a batch, as JSON for hemstitch.js, which only executes it:
//
//   {"parts": [bytes, ..],                     buffers to be there
//    "uploads": [[part, place, bytes, at], ..],  from the module's memory to byte `at` of the part, whole words
//    "steps": [{"shader", "entryPoint", "parameters": [..], "bindings": [[part, written] or null, ..], "x", "y", "constants"}, ..],
//    "downloads": [[part, place, bytes], ..]}  into the module's memory, whole words
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "gpu/webgpu/recording.hpp"

namespace hemstitch::web {

// Limits for planning, from the device that the module plans for.
struct Limits {
  std::uint64_t binding_bytes = 128u << 20;
  std::uint32_t workgroups_per_dimension = 65535;
};

// Words that are transferred between the module's memory and a part of the plan. They must not move until the
// job is done.
struct Transfer {
  webgpu::BufferId part;
  std::uintptr_t place = 0;
  std::size_t bytes = 0;
  std::size_t at = 0;  // in the part; for uploads

  template <typename Row>
  Transfer(webgpu::BufferId id, const std::vector<Row>& rows)
      : part(id), place(reinterpret_cast<std::uintptr_t>(rows.data())), bytes(rows.size() * sizeof(Row)) {}
  Transfer(webgpu::BufferId id, const std::byte* from, std::size_t byte_count, std::size_t to)
      : part(id), place(reinterpret_cast<std::uintptr_t>(from)), bytes(byte_count), at(to) {}
};

std::string job_text(const webgpu::BufferPlan& plan, const std::vector<Transfer>& uploads,
                     const webgpu::Recording& recording, const std::vector<Transfer>& downloads,
                     const Limits& limits);

}  // namespace hemstitch::web
