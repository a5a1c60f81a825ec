// Data for `bench` where no file is named: made, so it says how this machine does, not how real files
// compress.
#pragma once

#include <cstddef>
#include <vector>

namespace hemstitch::cli {

inline constexpr const char* kSampleName = "generated";

// 16 MiB: half words in a skewed distribution, like prose; half records of counters and small noise, like
// tables. The same bytes on every machine.
std::vector<std::byte> make_sample_data();

}  // namespace hemstitch::cli
