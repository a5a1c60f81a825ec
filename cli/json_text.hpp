// JSON is written as text, a value at a time: nlohmann's arrays and objects take memory when they end, in a destructor, so a
// failing malloc would end the program there.
#pragma once

#include <string>
#include <string_view>

namespace hemstitch::cli {

// What stands between a string's quotes. What is no UTF-8 is replaced.
std::string json_text(std::string_view text);

inline const char* json_bool(bool value) { return value ? "true" : "false"; }

}  // namespace hemstitch::cli
