# Flags for our own targets, in an interface library so that they do not leak into users' builds.
add_library(sidestream_options INTERFACE)
target_compile_options(sidestream_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow -Wnon-virtual-dtor>
  # One rounding per operation on every machine: results must not depend on whether the compiler fuses.
  -ffp-contract=off
  # GCC 12 takes `"text" + std::string` for overlapping copies when it optimises (its bug 105651).
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-restrict>
  # The table of marching cubes is computed by the compiler; Clang counts the steps and gives up after a million.
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:Clang>>:-fconstexpr-steps=100000000>)
foreach(sanitizer IN LISTS SIDESTREAM_SANITIZE)
  target_compile_options(sidestream_options INTERFACE -fsanitize=${sanitizer} -fno-omit-frame-pointer)
  target_link_options(sidestream_options INTERFACE -fsanitize=${sanitizer})
endforeach()
find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
endif()
