# Expands the .wgsl files, "#import FILE" standing for that file, once: each as a file for other hosts (a browser, a checker), and all of
# them as strings in a C++ file.
#
#   cmake -DSOURCE_DIR=src -DOUTPUT=FILE.cpp -DEXPANDED_DIR=FOLDER -DSHADERS="a/b.wgsl;c/d.wgsl" -P embed_shaders.cmake
cmake_minimum_required(VERSION 3.22)
set(entries "")
foreach(shader IN LISTS SHADERS)
  file(READ ${SOURCE_DIR}/${shader} text)
  set(imported ${shader})
  while("\n${text}" MATCHES "\n(#import ([^\n]*[^\n ]) *\n)")
    set(line "${CMAKE_MATCH_1}")
    set(file ${CMAKE_MATCH_2})
    set(replacement "")
    if(NOT file IN_LIST imported)
      if(NOT file IN_LIST SHADERS)
        message(FATAL_ERROR "${shader}: no shader '${file}' in the lists of src/CMakeLists.txt and of formats' sources.cmake")
      endif()
      list(APPEND imported ${file})
      file(READ ${SOURCE_DIR}/${file} replacement)
    endif()
    # The first alone: string(REPLACE) takes all.
    string(FIND "${text}" "${line}" begin)
    string(LENGTH "${line}" length)
    math(EXPR end "${begin} + ${length}")
    string(SUBSTRING "${text}" 0 ${begin} before)
    string(SUBSTRING "${text}" ${end} -1 behind)
    set(text "${before}${replacement}${behind}")
  endwhile()
  file(WRITE ${EXPANDED_DIR}/${shader} "${text}")
  # A string literal may not be longer than 64 KB everywhere; none of ours comes near.
  string(APPEND entries "    {\"${shader}\", R\"wgsl(${text})wgsl\"sv},\n")
endforeach()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
// Made by cmake/embed_shaders.cmake.
#include "gpu/webgpu/shader_text.hpp"

namespace hemstitch::webgpu {

std::span<const EmbeddedShader> embedded_shaders() {
  using namespace std::string_view_literals;  // whose lengths are known: clang counts no more than a million steps
  static constexpr EmbeddedShader kShaders[] = {
@entries@  };
  return kShaders;
}

}  // namespace hemstitch::webgpu
]])
