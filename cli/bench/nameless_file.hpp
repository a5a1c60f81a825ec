// A file without a name in the folder for temporary files, so that nothing remains however the tool ends.
#pragma once

#include <string>

#include "core/descriptor.hpp"

namespace hemstitch::cli {

class NamelessFile {
 public:
  // In $TMPDIR, or /tmp. Throws ToolError.
  NamelessFile();
  int descriptor() const { return descriptor_.number(); }
  // A path to open the file again, from its beginning.
  std::string path() const;

 private:
  Descriptor descriptor_;
};

}  // namespace hemstitch::cli
