// The scan on many cores, in two passes over parts. scan_sizes() takes it where there are enough of them.
#pragma once

#include <cstdint>
#include <span>

namespace hemstitch {

// As scan_sizes(), for any number of sizes and cores; `offsets` has one element more.
std::uint64_t scan_in_parts(std::span<const std::uint32_t> sizes, std::span<std::uint64_t> offsets);

}  // namespace hemstitch
