// --output-dir: a folder for all outputs, with the same folders in it as below the arguments.
//
// Missing folders are made. Each gets the owner, mode and access control list of the folder with its sources,
// so nobody sees an output who could not see its source. Links below the top folder are not followed, whoever
// made them.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "cli/files/walk/folder.hpp"

namespace hemstitch::cli {

class OutputTree {
 public:
  // `path` is the top folder's. `on_disk`: a new folder is written to the disk before it is used.
  OutputTree(const std::string& path, bool on_disk);

  // Makes the top folder if it is missing. Throws ToolError.
  void make() const;

  // Where an output with this name goes; the folder may be missing. The same place always has the same
  // Folder.
  FileName place_of(const FileName& source, std::string name);
  // Makes the folders that are missing between the top and the output. Throws ToolError.
  void make_folder_for(const FileName& source);

 private:
  using Shared = std::shared_ptr<const Folder>;

  Shared inside(const Shared& around, const std::string& name);

  Shared top_;
  bool on_disk_;
  std::mutex making_;  // so that no thread uses a folder before the thread that makes it has finished
  std::mutex mutex_;   // guards what follows
  std::map<std::pair<Shared, std::string>, Shared> inside_;
};

}  // namespace hemstitch::cli
