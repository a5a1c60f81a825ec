// Removing a source whose output is complete, and nothing else: not a line that somebody adds meanwhile, not a file that took
// its name.
//
// What is removed is what was read. Device, inode, size and times of the name's file are held against those it had when it was
// opened. Somebody may have the file open and write to it a moment later; so a lease is taken, which the system gives only while
// nobody has the file open for writing, and which makes those wait who come to open it. Then the file gets a temporary name:
// those who come now find none and make a file of their own. If one is waiting for the lease, who found the name before, the
// file gets its name back; else it goes. Where there are no leases (file systems on networks, another user's file), times
// and size decide alone, and a program that keeps a file open is not seen.
//
// Times tell of a change only if the clock that stamps files moved on between what was read and what was written after it.
// await_later_stamps() waits for that before a file is read.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>

#include "cli/files/files.hpp"
#include "cli/request.hpp"

namespace hemstitch::cli {

// Returns when a change of the file would change its times: at once, but for a file that was changed within the last 10 ms, or
// the last 2 s where its file system counts seconds.
void await_later_stamps(const struct stat& status);

// Removes the source, or returns why it is kept, a warning. Call it when the output is complete and, unless --no-sync was given, on the disk. Throws
// ToolError where the system does not let it go.
std::optional<std::string> remove_source(const Request& request, const FileSource& source);

}  // namespace hemstitch::cli
