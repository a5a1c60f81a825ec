// What is left of temporary files (files/temporary_name.hpp) where a run was killed.
#pragma once

#include "cli/files/folder.hpp"
#include "files/temporary_name.hpp"

namespace hemstitch::cli {

// True for a temporary file that no run is at work on; false where that cannot be told.
bool is_left_over(const FileName& file);

}  // namespace hemstitch::cli
