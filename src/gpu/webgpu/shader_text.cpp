#include "gpu/webgpu/shader_text.hpp"

#include <fmt/format.h>

#include "core/status.hpp"

namespace hemstitch::webgpu {

std::string_view shader_text(std::string_view path) {
  for (const EmbeddedShader& shader : embedded_shaders())
    if (shader.path == path) return shader.text;
  throw Error(Status::kInternal, fmt::format("no shader '{}' in this build", path));
}

}  // namespace hemstitch::webgpu
