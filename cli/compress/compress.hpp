// Processes files as a request says. Each function returns the exit status.
#pragma once

#include "cli/request.hpp"

namespace hemstitch::cli {

int run_compress(const Request& request);
int run_restore(const Request& request);  // also -t
int run_list(const Request& request);

}  // namespace hemstitch::cli
