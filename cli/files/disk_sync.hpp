// Bringing outputs to the disk, so that a loss of power after their sources are gone loses nothing.
//
// One file: its data before it takes its name, then the folder that has the name. Many files: one syncfs() for all that were
// written to a file system, which takes about as long as fsync() of one of them. syncfs() tells that writing failed only
// since Linux 5.8, and on a file system that keeps note of it: where that is not known, each file goes by itself.
#pragma once

#include <sys/types.h>

#include <map>

#include "cli/files/folder.hpp"
#include "core/descriptor.hpp"

namespace hemstitch::cli {

// Throw ToolError where the system could not.
void sync_descriptor(int number);
void sync_folder(int number);
// Of a file that was written before.
void sync_file(const FileName& file);

// The file systems that a batch writes to.
class BatchSync {
 public:
  // Call before anything is written in `folder`, since what fails is told to those who had opened the file system by then.
  // False where files there are to go to the disk each by itself.
  bool take(const Folder& folder);
  // Returns when all that was written is on the disk. Throws ToolError.
  void finish();

 private:
  std::map<dev_t, Descriptor> file_systems_;
};

}  // namespace hemstitch::cli
