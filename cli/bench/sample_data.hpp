// Data for `bench` if no file is named. It is generated, so it shows how fast this machine is, not how real
// files compress.
#pragma once

#include <cstddef>
#include <vector>

namespace hemstitch::cli {

inline constexpr const char* kSampleName = "generated";

// 16 MiB: half words in a skewed distribution, like prose; half records of counters and small noise, like
// tables. The same bytes on every machine.
std::vector<std::byte> make_sample_data();

}  // namespace hemstitch::cli
