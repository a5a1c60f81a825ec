// Hints for a word that is neither a file nor, in this position, a command.
#pragma once

#include <string>
#include <vector>

#include "cli/request.hpp"

namespace hemstitch::cli {

// With options before it, a command's name counts as a file, which rarely exists and is rarely meant. Throws
// UsageError.
void refuse_late_commands(const std::vector<std::string>& files);

// A first word that is not a file may be a mistyped command ("serch" for search), or the name of what is an
// option here ("decompress" for -d). Then nothing is done; otherwise the words after it would be compressed.
// Throws UsageError.
void hint_at_command(const std::string& word);

// Two words of which the second is no file but looks like an output's name: "big.log big.log.lz4", as lz4 takes
// it, or "big.log.lz4 big.log" where files are restored. Throws UsageError.
void hint_at_output(const std::vector<std::string>& words, Action action);

}  // namespace hemstitch::cli
