// What -r finds: the files to process, and how many it skips.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/files/walk/folder.hpp"
#include "cli/request.hpp"

namespace hemstitch::cli {

// How many files were skipped, by the reason.
struct SkippedFiles {
  std::size_t other_suffix = 0;  // with the suffix when compressing, otherwise without one
  std::size_t other_format = 0;  // not compressing: by their suffix of a format that --format any takes
  std::size_t compressed = 0;    // already, as their content shows
  std::size_t done = 0, link = 0, special = 0, temporary = 0;

  // "skipped 3 files: 2 with suffix .lz4, 1 link"; empty if there were none.
  std::string text(const Request& request) const;
};

struct RecursiveInputs {
  struct Failure {
    std::string path;
    std::string what;
  };
  std::vector<FileName> files;    // in the order of the arguments, sorted inside each folder
  std::vector<FileName> done;     // with --rm: files that an earlier run has completed, as far as can be seen
  std::vector<Failure> failures;  // folders that could not be read
  std::vector<std::string> left_over;  // temporary files of runs that were killed
  SkippedFiles skipped;
};

// Compressing skips files that already have Hemstitch's suffix; all other actions skip files without it, or with
// --format any those without a suffix of any format. Files that are excluded by their names do not count.
// Files that an earlier run has completed (done_before.hpp) are skipped too, so a second run changes nothing.
// Links inside folders, special files and temporary files of any run are never followed or read. A file that
// two arguments lead to is taken once.
RecursiveInputs find_recursive_inputs(const Request& request);

}  // namespace hemstitch::cli
