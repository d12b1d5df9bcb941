# Flags for our own targets, in an interface library so that they do not leak into users' builds.
add_library(sidestream_options INTERFACE)
target_compile_options(sidestream_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow -Wnon-virtual-dtor>
  # One rounding per operation on every machine: results must not depend on whether the compiler fuses.
  -ffp-contract=off
  # GCC 12 takes `"text" + std::string` for overlapping or far too long copies when it optimises (its bug 105651).
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-restrict>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-stringop-overflow>
  # Without it ccache cannot cache what uses a precompiled header.
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-fpch-preprocess>
  # The table of marching cubes is computed by the compiler; Clang counts the steps and gives up after a million.
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:Clang>>:-fconstexpr-steps=100000000>)
foreach(sanitizer IN LISTS SIDESTREAM_SANITIZE)
  target_compile_options(sidestream_options INTERFACE -fsanitize=${sanitizer} -fno-omit-frame-pointer)
  target_link_options(sidestream_options INTERFACE -fsanitize=${sanitizer})
endforeach()
find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Precompiled headers are cached only if differences that do not matter for them are let pass; see ccache's manual.
  set(CMAKE_CXX_COMPILER_LAUNCHER
    ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime CCACHE_DEPEND=1 ${CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
endif()
