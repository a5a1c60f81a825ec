#pragma once

#include <string>

namespace hemstitch::cli {

// hemstitch bench --compare: returns the exit status, 1 if a row became worse.
int compare_runs(const std::string& old_path, const std::string& new_path);

}  // namespace hemstitch::cli
