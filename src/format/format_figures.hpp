// How fast a format's blocks are made and restored, as far as `auto` knows it (hemstitch/choice.hpp). The
// figures come from recorded runs (choice_recorded.hpp).
#pragma once

#include <array>

#include "hemstitch/choice.hpp"

namespace hemstitch {

// GB/s of content, in blocks of 256K.
struct FormatRates {
  std::array<double, kFigureLevels.size()> compress{};  // at kFigureLevels
  double restore = 0;
};

// `cpu` on 16 cores, `reference` on one, `cuda` on an H200.
struct FormatFigures {
  FormatRates cpu, reference, cuda;
};

}  // namespace hemstitch
