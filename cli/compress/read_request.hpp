// The options of compressing, restoring, testing and listing.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "cli/options/option_table.hpp"
#include "cli/request.hpp"

namespace hemstitch::cli {

// A command, or a name of the program, that restores without -d.
struct RestoringName {
  std::string_view name;
  bool to_stdout;  // never writes a file, but for an index if it may
  bool may_index = true;
  bool removes = false;     // the source, as gunzip does, unless -k is given
  std::string_view format;  // that -r takes; data is known by its bytes. Empty: as without such a name
};

// `as`: null unless the tool was called so. HEMSTITCH_BACKEND, HEMSTITCH_LEVEL and HEMSTITCH_THREADS apply
// where no option does. Throws UsageError.
Request read_request(std::span<const std::string> words, const RestoringName* as);

// Calls `use` with the table of these options.
void with_request_options(const std::function<void(const OptionTable& table)>& use);

}  // namespace hemstitch::cli
