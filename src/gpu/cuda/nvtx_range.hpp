// Named stretches of host time for profilers. Costs nothing worth counting unless one is attached.
#pragma once

#include <nvtx3/nvtx3.hpp>

namespace hemstitch::cuda {

struct NvtxDomain {
  static constexpr const char* name = "hemstitch";
};

// From its making to its end, on this thread: NvtxRange range("hash_chain.build");
using NvtxRange = nvtx3::scoped_range_in<NvtxDomain>;

}  // namespace hemstitch::cuda
