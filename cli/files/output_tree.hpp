// --output-dir: a folder for all outputs, with folders in it as they are below the arguments.
//
// Folders that are missing are made, each with the owner, mode and access control list of the one that its sources are in, so that
// nobody sees an output who could not see its source. Links below the folder at the top are not followed, whoever put them there.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "cli/files/folder.hpp"

namespace hemstitch::cli {

class OutputTree {
 public:
  // `path` is that of the folder at the top. `on_disk`: a folder that is made is on the disk before it is used.
  OutputTree(const std::string& path, bool on_disk);

  // Makes the folder at the top where it is missing. Throws ToolError.
  void make() const;

  // Where an output of that name goes; the folder may be missing. One place is always in the same Folder.
  FileName place_of(const FileName& source, std::string name);
  // Makes what is missing between the top and the output. Throws ToolError.
  void make_folder_for(const FileName& source);

 private:
  using Shared = std::shared_ptr<const Folder>;

  Shared inside(const Shared& around, const std::string& name);

  Shared top_;
  bool on_disk_;
  std::mutex making_;  // a folder that one thread makes is not used by another before it is as it should be
  std::mutex mutex_;   // of what follows
  std::map<std::pair<Shared, std::string>, Shared> inside_;
};

}  // namespace hemstitch::cli
