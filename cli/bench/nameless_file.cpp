#include "cli/bench/nameless_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "cli/messages.hpp"

namespace hemstitch::cli {

NamelessFile::NamelessFile() {
  const char* folder = std::getenv("TMPDIR");
  std::string path = fmt::format("{}/hemstitch-bench-XXXXXX", folder != nullptr ? folder : "/tmp");
  descriptor_ = Descriptor(mkstemp(path.data()));
  if (descriptor_.number() < 0) throw tool_error_from_errno(path);
  unlink(path.c_str());
}

std::string NamelessFile::path() const { return fmt::format("/proc/self/fd/{}", descriptor()); }

}  // namespace hemstitch::cli
