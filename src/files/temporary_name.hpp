// The names that outputs have until they are complete.
//
// Who writes holds a lock on each of its temporary files from the beginning until the file has its final name. So one that nobody
// has locked is of no use any more, whichever process and whichever machine wrote it.
#pragma once

#include <string>
#include <string_view>

namespace hemstitch {

// ".hemstitch-1a2b3c4d". It says nothing of the target's name, so that it fits where that fits.
std::string new_temporary_name();
bool is_temporary_name(std::string_view name);

// Says that somebody is at work on an open temporary file, until that is closed.
void mark_in_use(int descriptor);

}  // namespace hemstitch
