# Flags for our own targets, in an interface library so that they do not leak into users' builds.
add_library(sidestream_options INTERFACE)
target_compile_options(sidestream_options INTERFACE
  # Two files of one unit (cmake/UnityBuild.cmake) may use the same name, each for itself: no warnings of shadows there.
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra $<$<NOT:$<BOOL:$<TARGET_PROPERTY:SIDESTREAM_UNITS>>>:-Wshadow> -Wnon-virtual-dtor>
  $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<BOOL:$<TARGET_PROPERTY:SIDESTREAM_UNITS>>>:-Wno-subobject-linkage>
  # One rounding per operation on every machine: results must not depend on fused operations.
  -ffp-contract=off
  # GCC 12, when optimising, mistakes `"text" + std::string` for overlapping or far too long copies (its bug 105651).
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-restrict>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-stringop-overflow>
  # GCC collects garbage from 128 MiB on, for some 10 % of the compile time; a unit allocates some 700 MiB in all.
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:SHELL:--param ggc-min-heapsize=600000>
  # Without it, ccache cannot cache files that use a precompiled header.
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-fpch-preprocess>
  # The table of marching cubes is computed by the compiler; Clang counts the steps and gives up after a million.
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:Clang>>:-fconstexpr-steps=100000000>)
foreach(sanitizer IN LISTS SIDESTREAM_SANITIZE)
  target_compile_options(sidestream_options INTERFACE -fsanitize=${sanitizer} -fno-omit-frame-pointer)
  target_link_options(sidestream_options INTERFACE -fsanitize=${sanitizer})
endforeach()
# Checks of undefined behaviour that `.ci/run addresses` leaves out and `.ci/run all` includes: these two nearly double
# the compile time. The address sanitizer finds null pointers, too, and x86 reads numbers at any address.
set(SIDESTREAM_SANITIZE_WITHOUT "null;alignment" CACHE STRING "Checks of undefined behaviour to leave out (semicolon list)")
if("undefined" IN_LIST SIDESTREAM_SANITIZE AND SIDESTREAM_SANITIZE_WITHOUT)
  list(JOIN SIDESTREAM_SANITIZE_WITHOUT "," without)
  target_compile_options(sidestream_options INTERFACE -fno-sanitize=${without})
endif()
# The choice is made when a build folder is first configured: a cache added later would compile everything again.
if(NOT DEFINED SIDESTREAM_CCACHE)
  find_program(CCACHE ccache)
  set(SIDESTREAM_CCACHE ${CCACHE} CACHE FILEPATH "The ccache that compilations go through; empty: none")
  mark_as_advanced(CCACHE SIDESTREAM_CCACHE)
endif()
if(SIDESTREAM_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Precompiled headers are only cached if differences that are irrelevant for them are ignored; see ccache's manual.
  set(CMAKE_CXX_COMPILER_LAUNCHER
    ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime CCACHE_DEPEND=1 ${SIDESTREAM_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${SIDESTREAM_CCACHE})
endif()
