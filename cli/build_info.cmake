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

include(${CMAKE_CURRENT_LIST_DIR}/../cmake/kernels_hash.cmake)

file(CONFIGURE OUTPUT ${OUTPUT} CONTENT [=[
#pragma once

namespace hemstitch::cli {

inline constexpr const char* kBuildCommit = "@commit@";
inline constexpr const char* kBuildKernels = "@kernels_hash@";

}  // namespace hemstitch::cli
]=] @ONLY)
