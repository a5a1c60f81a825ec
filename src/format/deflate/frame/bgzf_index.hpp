// The index for BGZF that bgzip and htslib use, .gzi: where blocks begin, in the file and in the content.
//
//   how many | for every block but the first: place in the file | place in the content    8 bytes each, little-endian
//
// It does not list the end marker and other blocks without content.
#pragma once

#include <memory>

#include "format/side_index.hpp"

namespace hemstitch {

std::unique_ptr<SideIndex> make_bgzf_index();

}  // namespace hemstitch
