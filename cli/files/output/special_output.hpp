// Output names that do not stand for a new file, but for something that exists and is written to: a device, a
// pipe, or a descriptor that is open already, like /dev/stdout and /dev/fd/3, even if that is a regular file.
#pragma once

#include <optional>

#include "cli/files/walk/folder.hpp"

namespace hemstitch::cli {

// Opens what is to be written to, from its current position. Follows links to see what they lead to. Nothing
// if that is a regular file, a folder or nothing. Throws ToolError.
std::optional<Descriptor> open_special_output(const FileName& file);

}  // namespace hemstitch::cli
