// What somebody may have meant whose first word is neither a file nor a command.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace hemstitch::cli {

// "hemstitch search" for "serch", "hemstitch -d" for "decompress"; nothing where no command is near.
std::optional<std::string> command_near(std::string_view word, std::span<const std::string_view> commands);

}  // namespace hemstitch::cli
