// What is done to files, as a request says. Each returns the exit status.
#pragma once

#include "cli/request.hpp"

namespace hemstitch::cli {

int run_compress(const Request& request);
int run_restore(const Request& request);  // also -t
int run_list(const Request& request);

}  // namespace hemstitch::cli
