// Working through a command's files: one that fails is told on stderr, the others go on, the exit status is
// the worst.
#pragma once

#include <functional>
#include <string>

#include "arguments.hpp"

namespace hemstitch::cli {

inline constexpr int kExitDone = 0;
inline constexpr int kExitError = 1;
inline constexpr int kExitWarning = 2;

enum class Outcome { kDone, kWarned };

// Calls `work` with each input of the request, folders resolved where -r was given. Returns the exit status.
int for_each_file(const Request& request, const std::function<Outcome(const std::string& path)>& work);

}  // namespace hemstitch::cli
