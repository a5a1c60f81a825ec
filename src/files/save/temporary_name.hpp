// The names of outputs until they are complete.
//
// A writer holds a lock on each of its temporary files until the file has its final name. So a temporary file
// without a lock is left over, whichever process on whichever machine wrote it.
#pragma once

#include <string>
#include <string_view>

namespace hemstitch {

// ".hemstitch-1a2b3c4d". It does not contain the target's name, so it is never too long where that is not.
std::string new_temporary_name();
bool is_temporary_name(std::string_view name);

// Locks an open temporary file until it is closed.
void mark_in_use(int descriptor);

}  // namespace hemstitch
