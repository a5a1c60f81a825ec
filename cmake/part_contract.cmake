# Writes the source of part_contract(), by which the library knows a part of the same build (src/gpu/device_parts.hpp): a hash over all
# headers and what makes the tables of parts, and the compiler.
#
#   cmake -DSOURCE_DIR=FOLDER -DOUTPUT=FILE.cpp -P part_contract.cmake
file(GLOB_RECURSE headers LIST_DIRECTORIES false RELATIVE ${SOURCE_DIR}
     ${SOURCE_DIR}/include/*.h ${SOURCE_DIR}/include/*.hpp ${SOURCE_DIR}/src/*.h ${SOURCE_DIR}/src/*.hpp)
list(SORT headers)
list(APPEND headers src/CMakeLists.txt cmake/device_functions.cmake)
set(hashes "")
foreach(header IN LISTS headers)
  file(SHA256 ${SOURCE_DIR}/${header} hash)
  string(APPEND hashes "${header} ${hash}\n")
endforeach()
string(SHA256 hash "${hashes}")
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [==[
// Made by cmake/part_contract.cmake.
#include "gpu/device_parts.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define HEMSTITCH_PART_SANITIZER " address"
#elif defined(__SANITIZE_THREAD__)
#define HEMSTITCH_PART_SANITIZER " thread"
#else
#define HEMSTITCH_PART_SANITIZER ""
#endif

namespace hemstitch {

const char* part_contract() { return "@hash@ " __VERSION__ HEMSTITCH_PART_SANITIZER; }

}  // namespace hemstitch
]==])
