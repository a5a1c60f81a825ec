#include "cli/json_text.hpp"

#include <nlohmann/json.hpp>

namespace hemstitch::cli {

std::string json_text(std::string_view text) {
  const std::string quoted =
      nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return quoted.substr(1, quoted.size() - 2);
}

}  // namespace hemstitch::cli
