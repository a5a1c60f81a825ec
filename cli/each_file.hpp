// Working through a command's files: one that fails is told on stderr, the others go on, the exit status is
// the worst.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "tally.hpp"

namespace hemstitch::cli {

enum class Outcome { kDone, kWarned };

// Does what it can of `files` many at a time; returns the others, in order.
using BatchWork = std::function<std::vector<std::string>(std::vector<std::string> files, Tally& tally)>;

// Calls `work` with each input of the request, folders resolved where -r was given; there, `batches` has its turn first.
// Returns the exit status.
int for_each_file(const Request& request, const std::function<Outcome(const std::string& path)>& work,
                  const BatchWork& batches = {});

}  // namespace hemstitch::cli
