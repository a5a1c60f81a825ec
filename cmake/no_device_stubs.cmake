# Writes what a build without CUDA has in place of the device's part: each function that these headers declare, as one
# that throws kDeviceUnavailable. So a function that is added to a header is in every build.
#
#   cmake -DSOURCE_DIR=src -DOUTPUT=FILE.cpp "-DHEADERS=a/b.hpp;c/d.hpp" -P no_device_stubs.cmake
#
# A declaration begins at the left edge and ends with `);`. So members of classes, which are indented, are left out.
cmake_minimum_required(VERSION 3.22)
set(includes "")
set(stubs "")
foreach(header IN LISTS HEADERS)
  file(READ ${SOURCE_DIR}/${header} text)
  string(REGEX REPLACE "//[^\n]*" "" text "${text}")
  string(REPLACE " = {}" "" text "${text}")  # defaults of parameters
  # A list would be divided at a semicolon.
  string(REPLACE ");" ")@" text "${text}")
  string(REGEX MATCHALL "\n[A-Za-z_][^\n(;@]*\\([^;@]*\\)@" declarations "${text}")
  if(NOT declarations)
    message(FATAL_ERROR "${header} declares no function")
  endif()
  string(APPEND includes "#include \"${header}\"\n")
  foreach(declaration IN LISTS declarations)
    string(REPLACE ")@" ") { throw_no_cuda(); }" stub "${declaration}")
    string(APPEND stubs "${stub}")
  endforeach()
endforeach()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [==[
// Made by cmake/no_device_stubs.cmake.
#include "core/status.hpp"
@includes@
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"

namespace hemstitch {
namespace {

[[noreturn]] void throw_no_cuda() {
  throw Error(Status::kDeviceUnavailable, "this build of Hemstitch has no CUDA");
}

}  // namespace
@stubs@

}  // namespace hemstitch

#pragma GCC diagnostic pop
]==])
