// What somebody may have meant by a word that is neither a file nor, where it stands, a command.
#pragma once

#include <string>
#include <vector>

namespace hemstitch::cli {

// Options before a command's name make it a file's, which is rarely there and rarely meant. Throws UsageError.
void refuse_late_commands(const std::vector<std::string>& files);

// A first word that is no file may be a command mistyped ("serch" for search), or what is an option here ("decompress" for -d): then nothing
// is done, where the words behind it would be compressed. Throws UsageError.
void hint_at_command(const std::string& word);

}  // namespace hemstitch::cli
