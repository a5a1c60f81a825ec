// What -r makes of its arguments: the files to work on, and one summary line of what was passed over.
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
  std::vector<FileName> files;         // in the order of the arguments, sorted inside each folder
  std::vector<FileName> done;          // with --rm: those that an earlier run has done, as far as can be seen
  std::vector<Failure> failures;       // folders that could not be read
  std::vector<std::string> left_over;  // temporary files of runs that were killed
  std::string skipped;                 // "skipped 3 files: 2 with suffix .lz4, 1 link"; empty where none was
};

// Compressing passes over files that have Hemstitch's suffix already, everything else over those that have
// not. Files that an earlier run has done (done_before.hpp) are passed over too, so that a second run changes nothing.
// Links inside folders, special files and temporary ones of any run are never followed or read. A file that two arguments
// lead to is taken once.
RecursiveInputs find_recursive_inputs(const Request& request);

}  // namespace hemstitch::cli
