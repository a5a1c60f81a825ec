// What `hemstitch backends --calibrate` measures, for the choice by `auto`.
#pragma once

#include <string>

#include "engine/choice/kept_figures.hpp"

namespace hemstitch::cli {

// The processor, the host, and every device that `auto` may choose and that can be used: how long it takes to start, and made data from memory to
// memory at each level. `device` as wanted_device() gives it. A device's start is only seen by a process that has not started it yet.
KeptFigures calibrate(const std::string& device);

}  // namespace hemstitch::cli
