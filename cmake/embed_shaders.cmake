# Writes a C++ file that holds the .wgsl files, each as one string.
#
#   cmake -DSOURCE_DIR=src -DOUTPUT=FILE.cpp -DSHADERS="a/b.wgsl;c/d.wgsl" -P embed_shaders.cmake
set(entries "")
foreach(shader IN LISTS SHADERS)
  file(READ ${SOURCE_DIR}/${shader} text)
  # A string literal may not be longer than 64 KB everywhere; none of ours comes near.
  string(APPEND entries "    {\"${shader}\", R\"wgsl(${text})wgsl\"},\n")
endforeach()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
// Made by cmake/embed_shaders.cmake.
#include "gpu/webgpu/shader_text.hpp"

namespace hemstitch::webgpu {

std::span<const EmbeddedShader> embedded_shaders() {
  static constexpr EmbeddedShader kShaders[] = {
@entries@  };
  return kShaders;
}

}  // namespace hemstitch::webgpu
]])
