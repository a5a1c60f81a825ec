// Writes outputs to the disk, so that a loss of power after their sources were removed loses nothing.
//
// For one file: its data before it gets its name, then the folder with the name. For many files: one syncfs()
// for each file system, which takes about as long as one fsync(). syncfs() reports failed writes only since
// Linux 5.8, and on a file system that records them. Elsewhere, each file is written by itself.
#pragma once

#include <sys/types.h>

#include <map>

#include "cli/files/walk/folder.hpp"
#include "core/descriptor.hpp"

namespace hemstitch::cli {

// Throw ToolError if the system fails.
void sync_descriptor(int number);
void sync_folder(int number);
// For a file that was written before.
void sync_file(const FileName& file);

// The file systems that a batch writes to.
class BatchSync {
 public:
  // Call it before anything is written in `folder`, since errors are reported to those who had opened the
  // file system by then. Returns false if each file there must be written to the disk by itself.
  bool take(const Folder& folder);
  // Returns when everything that was written is on the disk. Throws ToolError.
  void finish();

 private:
  std::map<dev_t, Descriptor> file_systems_;
};

}  // namespace hemstitch::cli
