# Writes a header with a hash over all headers and what makes the tables of parts, by which the library knows a part of the same build (src/gpu/device_parts.hpp).
#
#   cmake -DSOURCE_DIR=FOLDER -DOUTPUT=FILE.hpp -P interface_hash.cmake
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
file(WRITE ${OUTPUT} "// Made by cmake/interface_hash.cmake.\n#define HEMSTITCH_INTERFACE_HASH \"${hash}\"\n")
