// JSON is written as text, value by value. nlohmann's arrays and objects allocate memory in their
// destructors, where a failing malloc would end the program.
#pragma once

#include <string>
#include <string_view>

namespace hemstitch::cli {

// The text between a string's quotes. Invalid UTF-8 is replaced.
std::string json_text(std::string_view text);

inline const char* json_bool(bool value) { return value ? "true" : "false"; }

}  // namespace hemstitch::cli
