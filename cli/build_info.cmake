# Writes build_info.hpp, which names what a recorded run was built from: the commit, and a hash of everything that
# decides a kernel's speed or bytes. Runs at every build; the file changes only when its content does.
find_package(Git QUIET)
set(commit unknown)
if(GIT_FOUND)
  execute_process(COMMAND ${GIT_EXECUTABLE} describe --always --dirty --abbrev=12 --exclude=*
                  WORKING_DIRECTORY ${SOURCE_DIR} OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE
                  RESULT_VARIABLE failed ERROR_QUIET)
  if(failed)
    set(commit unknown)
  endif()
endif()

file(GLOB_RECURSE kernels RELATIVE ${SOURCE_DIR} ${SOURCE_DIR}/src/*.cu ${SOURCE_DIR}/src/*.wgsl
     ${SOURCE_DIR}/src/*.cuh ${SOURCE_DIR}/src/core/*.hpp ${SOURCE_DIR}/src/match/*.hpp ${SOURCE_DIR}/src/parse/*.hpp
     ${SOURCE_DIR}/src/compact/*.hpp)
list(SORT kernels)
set(hashes "")
foreach(kernel IN LISTS kernels)
  file(SHA256 ${SOURCE_DIR}/${kernel} hash)
  string(APPEND hashes "${kernel} ${hash}\n")
endforeach()
string(SHA256 kernels_hash "${hashes}")

file(CONFIGURE OUTPUT ${OUTPUT} CONTENT [=[
#pragma once

namespace hemstitch::cli {

inline constexpr const char* kBuildCommit = "@commit@";
inline constexpr const char* kBuildKernels = "@kernels_hash@";

}  // namespace hemstitch::cli
]=] @ONLY)
