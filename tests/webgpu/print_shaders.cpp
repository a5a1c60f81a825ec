// Prints every shader with entry points as JSON, with its imports in place. The Tint test passes them to a
// browser.
#include <cstdio>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>

#include "gpu/webgpu/shader_text.hpp"

int main() {
  using namespace hemstitch::webgpu;
  nlohmann::json shaders = nlohmann::json::array();
  const std::regex entry_point("@compute @workgroup_size\\([^)]*\\)\\s*fn (\\w+)");
  for (const EmbeddedShader& shader : embedded_shaders()) {
    const std::string text(shader.text);
    nlohmann::json entry_points = nlohmann::json::array();
    for (std::sregex_iterator it(text.begin(), text.end(), entry_point), end; it != end; ++it)
      entry_points.push_back((*it)[1].str());
    if (!entry_points.empty())
      shaders.push_back({{"path", shader.path}, {"text", text}, {"entry_points", entry_points}});
  }
  std::printf("%s\n", shaders.dump().c_str());
  return 0;
}
