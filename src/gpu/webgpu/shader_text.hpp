// The shaders, as they were embedded at build, with their imports in place.
//
// A line `#import folder/file.wgsl` (a path below src/) stands for that file's text. Each file comes in once, at its first
// import, so that two shared pieces may import the same third one.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace hemstitch::webgpu {

struct EmbeddedShader {
  std::string_view path;  // below src/
  std::string_view text;
};

// All .wgsl files of this build, shared pieces included.
std::span<const EmbeddedShader> embedded_shaders();

// The whole text of a shader. Throws kInternal for a path that was not embedded.
std::string shader_text(std::string_view path);

}  // namespace hemstitch::webgpu
