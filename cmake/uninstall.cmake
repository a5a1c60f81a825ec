# Removes the files that the last `cmake --install` of this build folder put in place. Folders stay.
if(NOT EXISTS ${MANIFEST})
  message(FATAL_ERROR "Nothing was installed from this build folder: ${MANIFEST} is not there.")
endif()
file(STRINGS ${MANIFEST} installed_files)
foreach(path IN LISTS installed_files)
  message(STATUS "Removing $ENV{DESTDIR}${path}")
  file(REMOVE $ENV{DESTDIR}${path})
endforeach()
