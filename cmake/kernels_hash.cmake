# One hash over all that decides what kernels compute and how fast: the kernels themselves, headers that are compiled
# for host and device, and tuning numbers. A recorded run carries it, so that one sees whether its figures and tests
# are of today's kernels.
#
#   cmake -DSOURCE_DIR=FOLDER -P kernels_hash.cmake      prints it; tools/kernels-hash does this
#   include()d with SOURCE_DIR set                       leaves it in `kernels_hash`
file(GLOB_RECURSE kernel_files LIST_DIRECTORIES false RELATIVE ${SOURCE_DIR}
     ${SOURCE_DIR}/src/*.cu ${SOURCE_DIR}/src/*.cuh ${SOURCE_DIR}/src/*.wgsl ${SOURCE_DIR}/src/*.hpp)
list(SORT kernel_files)
set(hashes "")
foreach(file IN LISTS kernel_files)
  if(file MATCHES "\\.hpp$" AND NOT file MATCHES "_tuning\\.hpp$|device_block\\.hpp$")
    file(READ ${SOURCE_DIR}/${file} text)
    string(FIND "${text}" "HEMSTITCH_HOST_DEVICE" place)
    if(place EQUAL -1)
      continue()
    endif()
  endif()
  file(SHA256 ${SOURCE_DIR}/${file} hash)
  string(APPEND hashes "${file} ${hash}\n")
endforeach()
string(SHA256 kernels_hash "${hashes}")

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  # message() would write to standard error.
  execute_process(COMMAND ${CMAKE_COMMAND} -E echo ${kernels_hash})
endif()
