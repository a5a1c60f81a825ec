# What lets a mistake end the program rather than be used: checked calls of the C library, a guarded stack, addresses that are
# not known before, and tables of addresses that nobody can write to once the program has started. With sanitizers, which check
# more (fuzz targets have them from flags of their own, maybe), and in debug builds, where the first of them does not work, they are left out.
include(CheckCXXSourceCompiles)
include(CheckPIESupported)

if(HEMSTITCH_SANITIZE AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
  # Sanitizers' tables have a million addresses, and to relocate them is a third of the time that the start of a program takes; tests start thousands.
  add_link_options($<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>)
else()
  check_pie_supported()  # with CMAKE_POSITION_INDEPENDENT_CODE, for programs as well
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang" AND NOT HEMSTITCH_SANITIZE AND NOT HEMSTITCH_FUZZ)
  set(optimised "$<AND:$<COMPILE_LANGUAGE:C,CXX>,$<NOT:$<CONFIG:Debug>>>")
  add_compile_options("$<${optimised}:-fstack-protector-strong>")
  # Many a distribution's compiler, and those who build for one, ask for it already, maybe for more of it.
  set(CMAKE_REQUIRED_FLAGS -O2)
  check_cxx_source_compiles("#ifndef _FORTIFY_SOURCE\n#error\n#endif\nint main() {}" HEMSTITCH_IS_FORTIFIED)
  unset(CMAKE_REQUIRED_FLAGS)
  if(NOT HEMSTITCH_IS_FORTIFIED)
    add_compile_options("$<${optimised}:-D_FORTIFY_SOURCE=2>")
  endif()
  if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    add_link_options("$<$<NOT:$<CONFIG:Debug>>:LINKER:-z,relro,-z,now>")
  endif()
endif()
