// How much of a multiprocessor each registered kernel fills, for people who tune: `hemstitch backends -vv`.
#pragma once

#include <string>
#include <vector>

namespace hemstitch::cuda {

// One line a kernel, under a line of headings; for the current device. Throws Error.
std::vector<std::string> occupancy_report();

}  // namespace hemstitch::cuda
