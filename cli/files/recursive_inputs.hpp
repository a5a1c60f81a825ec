// What -r finds: the files to process, and one summary line about skipped files.
#pragma once

#include <string>
#include <vector>

#include "cli/files/folder.hpp"
#include "cli/request.hpp"

namespace hemstitch::cli {

struct RecursiveInputs {
  struct Failure {
    std::string path;
    std::string what;
  };
  std::vector<FileName> files;    // in the order of the arguments, sorted inside each folder
  std::vector<FileName> done;     // with --rm: files that an earlier run has completed, as far as can be seen
  std::vector<Failure> failures;  // folders that could not be read
  std::vector<std::string> left_over;  // temporary files of runs that were killed
  std::string skipped;  // "skipped 3 files: 2 with suffix .lz4, 1 link"; empty if there were none
};

// Compressing skips files that already have Hemstitch's suffix; all other actions skip files without it.
// Files that an earlier run has completed (done_before.hpp) are skipped too, so a second run changes nothing.
// Links inside folders, special files and temporary files of any run are never followed or read. A file that
// two arguments lead to is taken once.
RecursiveInputs find_recursive_inputs(const Request& request);

}  // namespace hemstitch::cli
