// What `hemstitch backends --calibrate` measures, for the choice by `auto`.
#pragma once

#include <string>

#include "engine/choice/kept_figures.hpp"

namespace hemstitch::cli {

// Measures the processor, the host, and every usable device that `auto` may choose: the time to start, and
// generated data from memory to memory at each level. `device` as wanted_device() returns it. The start of a
// device can only be measured in a process that has not started it yet.
KeptFigures calibrate(const std::string& device);

}  // namespace hemstitch::cli
