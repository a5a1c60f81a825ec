// What is in a folder, for all that go through folders.
#pragma once

#include <dirent.h>

#include <string>
#include <vector>

namespace hemstitch::cli {

struct FolderEntry {
  std::string name;
  unsigned char type;  // DT_REG and its like; DT_UNKNOWN where it went away meanwhile
};

struct FolderEntries {
  std::vector<FolderEntry> entries;  // but "." and "..", in no order
  std::string complaint;             // why these are not all, where they are not
};

FolderEntries read_folder(const std::string& path);
// Of an open folder, which stays open.
FolderEntries read_folder(int folder);

}  // namespace hemstitch::cli
