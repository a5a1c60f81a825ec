// The whole shaders, as cmake/embed_shaders.cmake expanded and embedded them at build.
//
// A line `#import folder/file.wgsl` (a path below src/) is replaced by that file's text. Each file is
// included once, at its first import, so two shared files may import the same third one.
#pragma once

#include <span>
#include <string_view>

namespace hemstitch::webgpu {

struct EmbeddedShader {
  std::string_view path;  // below src/
  std::string_view text;  // with its imports in place
};

// All .wgsl files of this build, shared pieces included.
std::span<const EmbeddedShader> embedded_shaders();

// The whole text of a shader. Throws kInternal for a path that was not embedded.
std::string_view shader_text(std::string_view path);

}  // namespace hemstitch::webgpu
