// Finds temporary files (files/save/temporary_name.hpp) that a killed run left.
#pragma once

#include "cli/files/walk/folder.hpp"
#include "files/save/temporary_name.hpp"

namespace hemstitch::cli {

// True for a temporary file that no run uses; false if that cannot be known.
bool is_left_over(const FileName& file);

}  // namespace hemstitch::cli
