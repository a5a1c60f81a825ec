// Reads what is in a folder.
#pragma once

#include <dirent.h>

#include <string>
#include <vector>

namespace hemstitch::cli {

struct FolderEntry {
  std::string name;
  unsigned char type = DT_UNKNOWN;  // DT_REG and so on; DT_UNKNOWN if it disappeared meanwhile
  char note = 0;                    // for use by a command
};

struct FolderEntries {
  std::vector<FolderEntry> entries;  // without "." and "..", in no order
  std::string complaint;             // why entries are missing, if any are
};

// For an open folder, which stays open.
FolderEntries read_folder(int folder);

}  // namespace hemstitch::cli
