// The commands, one file each. Each returns the exit status; what it throws, run_tool() tells.
#pragma once

#include <span>
#include <string>

#include "cli/arguments.hpp"

namespace hemstitch::cli {

int run_compress(const Request& request);
int run_restore(const Request& request);  // also -t
int run_list(const Request& request);
int run_bench(const Request& request, const std::string& command_line);
int run_compare(const Request& request);
int run_backends(const Request& request);
// These read their words themselves: all that stand behind the command.
int run_evaluate(std::span<const std::string> words);
int run_analyze(std::span<const std::string> words);

// The exit statuses of search are grep's: 1 is an answer, and this an error.
inline constexpr int kExitTrouble = 2;
int run_search(std::span<const std::string> words);

}  // namespace hemstitch::cli
