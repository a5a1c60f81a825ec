# What `cmake --install` puts in place: the tool, both libraries with headers, a CMake package and a pkg-config file,
# the man page, shell completions, README with its pages, examples and the licence; and the target `uninstall`, which removes what was installed last, with the folders that were made for it.
# Components (`cmake --install --component NAME`): tool, library, development, nbdkit, cuda, webgpu, licence. tools/package makes a package of each of the first four.
include(CMakePackageConfigHelpers)

# Where everything goes that is named below; the first step, since it looks which of these folders are there already.
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/hemstitch)
set(bash_dir ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
set(zsh_dir ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
set(fish_dir ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
set(libexec_dir ${CMAKE_INSTALL_LIBEXECDIR}/hemstitch)
set(install_folders
  ${CMAKE_INSTALL_BINDIR} ${libexec_dir} ${CMAKE_INSTALL_INCLUDEDIR}/hemstitch ${CMAKE_INSTALL_DOCDIR} ${package_dir}
  ${CMAKE_INSTALL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_MANDIR}/man1 ${bash_dir} ${zsh_dir} ${fish_dir})
# README's links lead to the pages, so both lie as they do in the source.
file(GLOB_RECURSE document_folders LIST_DIRECTORIES true RELATIVE ${PROJECT_SOURCE_DIR}
     ${PROJECT_SOURCE_DIR}/docs/* ${PROJECT_SOURCE_DIR}/examples/*)
foreach(folder IN LISTS document_folders)
  if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/${folder})
    list(APPEND install_folders ${CMAKE_INSTALL_DOCDIR}/${folder})
  endif()
endforeach()
set(nbdkit_dir ${CMAKE_INSTALL_LIBDIR}/nbdkit/plugins)
if(HEMSTITCH_PARTS)
  list(APPEND install_folders ${CMAKE_INSTALL_LIBDIR}/hemstitch)
endif()
if(TARGET nbdkit_hemstitch_plugin)
  list(APPEND install_folders ${nbdkit_dir})
endif()
set(install_folders_file ${CMAKE_CURRENT_BINARY_DIR}/install_folders.txt)
install(CODE "set(FOLDERS \"${install_folders}\")\nset(FOLDERS_FILE \"${install_folders_file}\")")
install(SCRIPT cmake/note_folders.cmake)

install(TARGETS hemstitch RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tool)
if(TARGET nbdkit_hemstitch_plugin)
  # Who builds the tool alone can install as well.
  install(TARGETS nbdkit_hemstitch_plugin LIBRARY DESTINATION ${nbdkit_dir} COMPONENT nbdkit OPTIONAL)
endif()
install(PROGRAMS cli/libexec/igzip cli/libexec/bgzip DESTINATION ${libexec_dir} COMPONENT tool)
install(PROGRAMS cli/libexec/igzip DESTINATION ${libexec_dir} COMPONENT tool RENAME unpigz)
install(DIRECTORY include/hemstitch DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(FILES README.md SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tool)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tool)
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT development)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT licence)

# Two export sets, so that who links the shared library needs none of the static one's dependencies.
install(TARGETS hemstitch_shared EXPORT hemstitch-shared
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development)
install(TARGETS hemstitch_static EXPORT hemstitch-static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
foreach(kind shared static)
  install(EXPORT hemstitch-${kind} NAMESPACE hemstitch:: DESTINATION ${package_dir}
          FILE hemstitch-${kind}-targets.cmake COMPONENT development)
endforeach()
set(hemstitch_static_packages "Threads TBB fmt PkgConfig")
set(hemstitch_has_cuda FALSE)
if(HEMSTITCH_CUDA AND NOT HEMSTITCH_PARTS)
  set(hemstitch_has_cuda TRUE)
  string(APPEND hemstitch_static_packages " CUDAToolkit")
  set(hemstitch_cuda_libraries " -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -lrt -ldl")
endif()
configure_package_config_file(cmake/hemstitch-config.cmake.in hemstitch-config.cmake
                              INSTALL_DESTINATION ${package_dir})
# Until 1.0 a minor version may change the interface.
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/hemstitch-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/hemstitch-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/hemstitch-config-version.cmake
        DESTINATION ${package_dir} COMPONENT development)

# The prefix is found from where the file lies, so that a package can be moved.
file(RELATIVE_PATH prefix_from_pkgconfig /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" prefix_from_pkgconfig ${prefix_from_pkgconfig})
configure_file(cmake/hemstitch.pc.in hemstitch.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/hemstitch.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

# Parts, where those are wanted, and wgpu-native: where the program looks for them (src/gpu/device_parts.cpp, src/gpu/webgpu/library.cpp).
set(device_dir ${CMAKE_INSTALL_LIBDIR})
if(HEMSTITCH_PARTS)
  string(APPEND device_dir /hemstitch)
  foreach(part cuda webgpu)
    if(TARGET hemstitch_${part}_part)
      set_target_properties(hemstitch_${part}_part PROPERTIES EXCLUDE_FROM_ALL OFF)
      install(TARGETS hemstitch_${part}_part LIBRARY DESTINATION ${device_dir} COMPONENT ${part} OPTIONAL)
    endif()
  endforeach()
endif()
if(hemstitch_webgpu AND HEMSTITCH_WEBGPU_LIBRARY)
  install(FILES ${HEMSTITCH_WEBGPU_LIBRARY} DESTINATION ${device_dir} COMPONENT webgpu)
endif()

find_program(LOWDOWN lowdown)
if(LOWDOWN)
  foreach(page hemstitch nbdkit-hemstitch-plugin)
    set(man_source ${PROJECT_SOURCE_DIR}/docs/man/${page}.1.md)
    set(man_page ${CMAKE_CURRENT_BINARY_DIR}/${page}.1)
    add_custom_command(OUTPUT ${man_page} DEPENDS ${man_source} VERBATIM
                       COMMAND ${LOWDOWN} -s -Tman -o ${man_page} ${man_source})
    list(APPEND man_pages ${man_page})
  endforeach()
  add_custom_target(man ALL DEPENDS ${man_pages})
  add_dependencies(hemstitch man)  # who builds the tool alone can install as well
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/hemstitch.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tool)
  if(TARGET nbdkit_hemstitch_plugin)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/nbdkit-hemstitch-plugin.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
            COMPONENT nbdkit)
  endif()
else()
  message(STATUS "lowdown is not here: the man pages are not built")
endif()

install(FILES completions/hemstitch.bash DESTINATION ${bash_dir} COMPONENT tool RENAME hemstitch)
install(FILES completions/_hemstitch DESTINATION ${zsh_dir} COMPONENT tool)
install(FILES completions/hemstitch.fish DESTINATION ${fish_dir} COMPONENT tool)

add_custom_target(uninstall VERBATIM
                  COMMAND ${CMAKE_COMMAND} -D MANIFEST=${CMAKE_CURRENT_BINARY_DIR}/install_manifest.txt
                          -D FOLDERS_FILE=${install_folders_file}
                          -P ${PROJECT_SOURCE_DIR}/cmake/uninstall.cmake)
