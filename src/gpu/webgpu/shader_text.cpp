#include "gpu/webgpu/shader_text.hpp"

#include <fmt/format.h>

#include <set>

#include "core/status.hpp"

namespace hemstitch::webgpu {
namespace {

constexpr std::string_view kImport = "#import ";

std::string_view source_of(std::string_view path) {
  for (const EmbeddedShader& shader : embedded_shaders())
    if (shader.path == path) return shader.text;
  throw Error(Status::kInternal, fmt::format("no shader '{}' in this build", path));
}

void append(std::string_view path, std::set<std::string, std::less<>>& imported, std::string& text) {
  if (!imported.emplace(path).second) return;
  std::string_view rest = source_of(path);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size() - 1) + 1;
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end);
    if (!line.starts_with(kImport)) {
      text += line;
      continue;
    }
    line.remove_prefix(kImport.size());
    append(line.substr(0, line.find_last_not_of(" \n") + 1), imported, text);
  }
}

}  // namespace

std::string shader_text(std::string_view path) {
  std::set<std::string, std::less<>> imported;
  std::string text;
  append(path, imported, text);
  return text;
}

}  // namespace hemstitch::webgpu
