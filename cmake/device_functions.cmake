# Makes two sources of the functions that a device has, which are those that these headers declare. So a function that is added to a
# header is in every build (src/gpu/device_parts.hpp).
#
#   cmake -DSOURCE_DIR=src -DPART=cuda -DTABLE=FILE.cpp -DFORWARDERS=FILE.cpp "-DHEADERS=a/b.hpp;c/d.hpp" -P device_functions.cmake
#
# TABLE goes where the device's code is: a table of them all. FORWARDERS goes where it is not: each of them, as one that calls the function
# in the table of the part, or throws kDeviceUnavailable if there is none.
# A declaration begins at the left edge and ends with `);`, and its parameters have names. So members of classes, which are indented, are
# left out, and parameters that are functions are not understood.
cmake_minimum_required(VERSION 3.22)
string(TOUPPER ${PART} part_upper)
string(SUBSTRING ${PART} 0 1 first)
string(SUBSTRING ${PART} 1 -1 rest)
string(TOUPPER ${first} first)
set(part_value k${first}${rest})
set(includes "")
set(entries "")
set(forwarders "")
set(count 0)
foreach(header IN LISTS HEADERS)
  set(file ${SOURCE_DIR}/${header})
  if(NOT EXISTS ${file})
    set(file ${SOURCE_DIR}/../include/${header})
  endif()
  file(READ ${file} text)
  string(REGEX REPLACE "//[^\n]*" "" text "${text}")
  string(REPLACE " = {}" "" text "${text}")  # defaults of parameters
  string(REPLACE "HEMSTITCH_API " "" text "${text}")
  # A list would be divided at a semicolon.
  string(REPLACE ");" ")@" text "${text}")
  string(REGEX MATCHALL "\n[A-Za-z_][^\n(;@]*\\([^;@]*\\)@" declarations "${text}")
  if(NOT declarations)
    message(FATAL_ERROR "${header} declares no function")
  endif()
  string(APPEND includes "#include \"${header}\"\n")
  foreach(declaration IN LISTS declarations)
    if(NOT declaration MATCHES "^\n([^(]*[ *&])([A-Za-z_0-9]+)\\((.*)\\)@$")
      message(FATAL_ERROR "${header}: not understood:${declaration}")
    endif()
    set(type "${CMAKE_MATCH_1}")
    set(name ${CMAKE_MATCH_2})
    set(parameters "${CMAKE_MATCH_3}")
    # The last word of each parameter is its name; commas between < and > are not between parameters.
    set(names "${parameters}")
    while(names MATCHES "<[^<>]*>")
      string(REGEX REPLACE "<[^<>]*>" "" names "${names}")
    endwhile()
    string(REGEX REPLACE "[ \n]+" " " names "${names}")
    string(REPLACE "," ";" names "${names}")
    set(arguments "")
    foreach(parameter IN LISTS names)
      string(REGEX MATCH "[A-Za-z_0-9]+$" parameter "${parameter}")
      list(APPEND arguments "static_cast<decltype(${parameter})&&>(${parameter})")
    endforeach()
    list(JOIN arguments ", " arguments)
    string(APPEND entries "    reinterpret_cast<PartFunction>(static_cast<${type}(*)(${parameters})>(&${name})),\n")
    string(APPEND forwarders "\n${type}${name}(${parameters}) {
  using Function = ${type}(${parameters});
  return reinterpret_cast<Function*>(in_part(${count}))(${arguments});
}\n")
    math(EXPR count "${count} + 1")
  endforeach()
endforeach()
file(CONFIGURE OUTPUT ${TABLE} @ONLY CONTENT [==[
// Made by cmake/device_functions.cmake.
@includes@#include "gpu/device_parts.hpp"

namespace hemstitch {

extern const bool @PART@_is_linked_in;
const bool @PART@_is_linked_in = true;
extern const PartFunction @PART@_part_functions[];
const PartFunction @PART@_part_functions[] = {
@entries@};

}  // namespace hemstitch
]==])
file(CONFIGURE OUTPUT ${FORWARDERS} @ONLY CONTENT [==[
// Made by cmake/device_functions.cmake.
@includes@#include "gpu/device_parts.hpp"

namespace hemstitch {

const bool @PART@_is_linked_in = false;

namespace {
PartFunction in_part(std::size_t index) { return part_function(DevicePart::@part_value@, index); }
}  // namespace
@forwarders@
}  // namespace hemstitch
]==])
