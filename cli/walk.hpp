// What -r makes of its arguments: the files to work on, and one summary line of what was passed over.
#pragma once

#include <string>
#include <vector>

#include "arguments.hpp"

namespace hemstitch::cli {

struct Walk {
  struct Failure {
    std::string path;
    std::string what;
  };
  std::vector<std::string> files;  // in the order of the arguments, sorted inside each folder
  std::vector<Failure> failures;   // folders that could not be read
  std::string skipped;             // "skipped 3 files: 2 with suffix .lz4, 1 link"; empty where none was
};

// Compressing passes over files that have Hemstitch's suffix already, everything else over those that have
// not. Files whose output is there with the source's time were done by an earlier run and are passed over
// too, so that a second run changes nothing. Links inside folders and special files are never followed or
// read.
Walk walk_inputs(const Request& request);

}  // namespace hemstitch::cli
