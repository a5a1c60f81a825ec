// The options of compressing, restoring, testing and listing.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "cli/options/option_table.hpp"
#include "cli/request.hpp"

namespace hemstitch::cli {

// `cat`: the words stand behind the command of that name. Reads HEMSTITCH_BACKEND, HEMSTITCH_LEVEL and HEMSTITCH_THREADS where no option
// says otherwise. Throws UsageError.
Request read_request(std::span<const std::string> words, bool cat);

// Calls `use` with the table of these options.
void with_request_options(const std::function<void(const OptionTable& table)>& use);

}  // namespace hemstitch::cli
