# Compiles for the oldest glibc that wheels are for. Lies in the folder that tools/wheel-root makes, which it names as the system's root: headers and archives of an old
# glibc, of libraries that are linked in, and no shared library but glibc's, so that nothing newer is linked by mistake.
# A cache of objects that other folders share would answer the probes of this configuration with the folders of another one; the build itself may use it.
set(ENV{CCACHE_DISABLE} 1)
set(CMAKE_SYSROOT ${CMAKE_CURRENT_LIST_DIR})
set(CMAKE_FIND_ROOT_PATH ${CMAKE_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# Python's headers are the interpreter's.
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE BOTH)
set(libraries ${CMAKE_SYSROOT}/usr/lib/x86_64-linux-gnu)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${CMAKE_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${libraries}/pkgconfig)
# -B: GCC looks there first, before the system's folders, for glibc and for what begins a program. libgcc_s is the system's, and newer; what it asks for is not looked for.
set(link "-B${libraries} ${libraries}/old_glibc.o -static-libstdc++ -Wl,--allow-shlib-undefined")
set(CMAKE_EXE_LINKER_FLAGS_INIT "${link}")
set(CMAKE_MODULE_LINKER_FLAGS_INIT "${link}")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "${link}")
# Until 2.34 these were libraries of their own.
set(CMAKE_C_STANDARD_LIBRARIES_INIT "-lm -lpthread -ldl")
set(CMAKE_CXX_STANDARD_LIBRARIES_INIT "-lm -lpthread -ldl")
