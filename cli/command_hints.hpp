// Hints for a word that is neither a file nor, in this position, a command.
#pragma once

#include <string>
#include <vector>

namespace hemstitch::cli {

// With options before it, a command's name counts as a file, which rarely exists and is rarely meant. Throws
// UsageError.
void refuse_late_commands(const std::vector<std::string>& files);

// A first word that is not a file may be a mistyped command ("serch" for search), or the name of what is an
// option here ("decompress" for -d). Then nothing is done; otherwise the words after it would be compressed.
// Throws UsageError.
void hint_at_command(const std::string& word);

}  // namespace hemstitch::cli
