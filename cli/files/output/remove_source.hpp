// Removes a source whose output is complete, and nothing else: no line that somebody adds meanwhile, and no
// file that took its name.
//
// Only what was read is removed. Device, inode, size and times of the file with this name are compared with
// those at opening. Another process may have the file open and write to it a moment later. So we take a
// lease, which the system grants only while nobody has the file open for writing, and which makes processes
// wait that open it. Then the file gets a temporary name, so that later processes do not find it and make
// their own file. If a process that had found the name before is waiting for the lease, the file gets its
// name back; otherwise it is removed. Where there are no leases (network file systems, another user's file),
// only times and size decide, and a program that keeps the file open is not noticed.
//
// Times show a change only if the clock for file times advanced between reading and the later write.
// await_later_stamps() waits for that before a file is read.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>

#include "cli/files/files.hpp"
#include "cli/request.hpp"

namespace hemstitch::cli {

// Returns when a change of the file would change its times. That is at once, except for a file that was
// changed within the last 10 ms, or the last 2 s if its file system counts seconds.
void await_later_stamps(const struct stat& status);

// Removes the source, or returns a warning why it is kept. Call it when the output is complete and, unless
// --no-sync was given, on the disk. Throws ToolError if the system refuses.
std::optional<std::string> remove_source(const Request& request, const FileSource& source);

}  // namespace hemstitch::cli
