# One hash over all that decides what kernels compute and how fast: the kernels themselves, headers that are compiled
# for host and device, and tuning numbers; without comments and layout. A recorded run carries it, so that one sees whether its
# figures and tests are of today's kernels. tools/records/code_hash.py computes the same for any commit.
#
#   cmake -DSOURCE_DIR=FOLDER -P kernels_hash.cmake      prints it; tools/kernels-hash does this
#   include()d with SOURCE_DIR set                       leaves it in `kernels_hash`
file(GLOB_RECURSE kernel_files LIST_DIRECTORIES false RELATIVE ${SOURCE_DIR}
     ${SOURCE_DIR}/src/*.cu ${SOURCE_DIR}/src/*.cuh ${SOURCE_DIR}/src/*.wgsl ${SOURCE_DIR}/src/*.hpp)
list(SORT kernel_files)
# Quotes are not looked at: results.gate fails if a kernel has one that holds a comment's marks.
set(comment "//[^\n]*|/\\*([^*]|\\*+[^*/])*\\*+/")
set(hashes "")
foreach(file IN LISTS kernel_files)
  file(READ ${SOURCE_DIR}/${file} text)
  if(file MATCHES "\\.hpp$" AND NOT file MATCHES "_tuning\\.hpp$|device_block\\.hpp$")
    string(FIND "${text}" "HEMSTITCH_HOST_DEVICE" place)
    if(place EQUAL -1)
      continue()
    endif()
  endif()
  string(REGEX REPLACE "${comment}" "" code "${text}")
  string(REGEX REPLACE "[ \t\r\n]+" "" code "${code}")
  string(SHA256 hash "${code}")
  string(APPEND hashes "${file} ${hash}\n")
endforeach()
string(SHA256 kernels_hash "${hashes}")

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  # message() would write to standard error.
  execute_process(COMMAND ${CMAKE_COMMAND} -E echo ${kernels_hash})
endif()
