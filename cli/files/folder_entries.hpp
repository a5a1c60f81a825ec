// What is in a folder, for all that go through folders.
#pragma once

#include <dirent.h>

#include <string>
#include <vector>

namespace hemstitch::cli {

struct FolderEntry {
  std::string name;
  unsigned char type = DT_UNKNOWN;  // DT_REG and its like; DT_UNKNOWN where it went away meanwhile
  char note = 0;                    // what a command makes of it
};

struct FolderEntries {
  std::vector<FolderEntry> entries;  // but "." and "..", in no order
  std::string complaint;             // why these are not all, where they are not
};

// Of an open folder, which stays open.
FolderEntries read_folder(int folder);

}  // namespace hemstitch::cli
