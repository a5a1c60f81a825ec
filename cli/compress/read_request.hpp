// The options of compressing, restoring, testing and listing.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "cli/options/option_table.hpp"
#include "cli/request.hpp"

namespace hemstitch::cli {

// `cat`: the words follow the command of that name. HEMSTITCH_BACKEND, HEMSTITCH_LEVEL and HEMSTITCH_THREADS
// apply where no option does. Throws UsageError.
Request read_request(std::span<const std::string> words, bool cat);

// Calls `use` with the table of these options.
void with_request_options(const std::function<void(const OptionTable& table)>& use);

}  // namespace hemstitch::cli
