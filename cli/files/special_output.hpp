// Names that the user gives for an output and that reach no place for a file, but what is there to be written to: a device, a pipe, or
// a descriptor that is open already, as /dev/stdout and /dev/fd/3 do, even where that is a regular file.
#pragma once

#include <optional>

#include "cli/files/folder.hpp"

namespace hemstitch::cli {

// What is to be written to, from where it stands. Links are followed to see what they reach; nothing where that is a regular file, a
// folder or nothing at all. Throws ToolError.
std::optional<Descriptor> open_special_output(const FileName& file);

}  // namespace hemstitch::cli
