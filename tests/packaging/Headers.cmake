# Each public header is compiled by itself, as strictly as a careful user would. It is included twice, to find missing
# guards.
#
# Only the headers with the calls may need MPI. Headers that a plug-in includes must compile without it.
set(header_roots ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/bindings/amrex ${PROJECT_SOURCE_DIR}/tools/conformance)
set(public_headers)
foreach(root IN LISTS header_roots)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${root} ${root}/*.h ${root}/*.hpp)
  list(APPEND public_headers ${headers})
endforeach()
list(TRANSFORM header_roots PREPEND -I)
set(mpi_flags ${MPI_C_INCLUDE_DIRS})
list(TRANSFORM mpi_flags PREPEND -isystem)
list(APPEND mpi_flags -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX)
set(strict -Wall -Wextra -Wshadow -Wpedantic -Werror -fsyntax-only)

# sidestream_header_test(name language header [flags...]) compiles a file that has only the include lines.
function(sidestream_header_test name language header)
  if(language STREQUAL "C")
    set(compiler ${CMAKE_C_COMPILER} -x c -std=c99)
  elseif(language STREQUAL "CXX17")
    set(compiler ${CMAKE_CXX_COMPILER} -x c++ -std=c++17)
  else()
    set(compiler ${CMAKE_CXX_COMPILER} -x c++ -std=c++20)
  endif()
  string(REGEX REPLACE "[/.]" "_" source ${name})
  set(source ${CMAKE_CURRENT_BINARY_DIR}/headers/${source}.in)
  file(CONFIGURE OUTPUT ${source} CONTENT "#include \"${header}\"\n#include \"${header}\"\nextern int not_empty;\n")
  add_test(NAME header.${name} COMMAND ${compiler} ${strict} ${header_roots}
    -I${PROJECT_BINARY_DIR}/include ${ARGN} ${source})
  set_tests_properties(header.${name} PROPERTIES TIMEOUT 60 LABELS "unit;packaging")
endfunction()

foreach(header IN LISTS public_headers)
  set(flags)
  if(header MATCHES "^sidestream/amrex[./]")
    # Against the stand-in for AMReX, as the programs that include them: C++17.
    sidestream_header_test(${header}.in_cxx17 CXX17 ${header} ${mpi_flags} -isystem ${PROJECT_BINARY_DIR}/tests/amrex/stand_in
      -isystem ${PROJECT_SOURCE_DIR}/tests/amrex)
    if(NOT header STREQUAL "sidestream/amrex.hpp")
      sidestream_later(header.${header}.in_cxx17)
    endif()
    continue()
  endif()
  if(header MATCHES "^sidestream/((sidestream|restart|reader)\\.hp*|analysis\\.h)$")
    set(flags ${mpi_flags})
  elseif(header MATCHES "/hdf5/")
    set(flags ${HDF5_C_INCLUDE_DIRS})
    list(TRANSFORM flags PREPEND -isystem)
  endif()
  sidestream_header_test(${header} CXX ${header} ${flags})
  if(header MATCHES "\\.h$")
    sidestream_header_test(${header}.in_c C ${header} ${flags})
  elseif(header MATCHES "^sidestream/[a-z]+/" AND NOT header MATCHES "/(plugin|analysis|transport)\\.hpp$")
    # In `make test` these are only compiled with others, in files of the library and in plug-ins.
    sidestream_later(header.${header})
  endif()
endforeach()

# Headers for programs that publish.
sidestream_header_test(sidestream/sidestream.hpp.in_cxx17 CXX17 sidestream/sidestream.hpp ${mpi_flags})
sidestream_header_test(sidestream/restart.hpp.in_cxx17 CXX17 sidestream/restart.hpp ${mpi_flags})
sidestream_header_test(sidestream/reader.hpp.in_cxx17 CXX17 sidestream/reader.hpp ${mpi_flags})
# Programs must not include these with C++17, and the first line of the compiler's message tells why.
sidestream_header_test(sidestream/extend/options.hpp.in_cxx17 CXX17 sidestream/extend/options.hpp)
set_tests_properties(header.sidestream/extend/options.hpp.in_cxx17 PROPERTIES
  PASS_REGULAR_EXPRESSION "are compiled as C\\+\\+20 or later")

# All ways to publish compile without a warning, except that calls without a length give one.
set(calls -fsyntax-only -Wall -Wextra -Wshadow -Werror -I${PROJECT_SOURCE_DIR}/include -I${PROJECT_BINARY_DIR}/include
  ${mpi_flags} ${CMAKE_CURRENT_SOURCE_DIR}/publishing_calls.cpp)
foreach(standard 17 20)
  add_test(NAME header.publishing_calls.in_cxx${standard} COMMAND ${CMAKE_CXX_COMPILER} -std=c++${standard} ${calls})
  add_test(NAME header.bare_calls.in_cxx${standard}
    COMMAND ${CMAKE_CXX_COMPILER} -std=c++${standard} -DBARE -Wno-error=deprecated-declarations ${calls})
  set_tests_properties(header.publishing_calls.in_cxx${standard} header.bare_calls.in_cxx${standard} PROPERTIES TIMEOUT 60
    LABELS "unit;packaging")
endforeach()
sidestream_later(header.bare_calls.in_cxx17)  # the next one compiles them, too
# All 14 such calls give a warning.
add_test(NAME header.bare_calls.are_warned_of COMMAND sh -c "\"$@\" 2>&1 | grep -cE 'is deprecated: (add|give) '"
  sh ${CMAKE_CXX_COMPILER} -std=c++17 -DBARE ${calls})
set_tests_properties(header.bare_calls.are_warned_of PROPERTIES TIMEOUT 60 LABELS "unit;packaging"
  PASS_REGULAR_EXPRESSION "^14[\n]*$")

# Faulty headers must fail for their fault, or the tests above would prove nothing.
sidestream_header_test(needs_another CXX needs_another.hpp -I${CMAKE_CURRENT_SOURCE_DIR}/faulty)
set_tests_properties(header.needs_another PROPERTIES PASS_REGULAR_EXPRESSION "int64_t.* in namespace")
sidestream_header_test(has_no_guard CXX has_no_guard.hpp -I${CMAKE_CURRENT_SOURCE_DIR}/faulty)
set_tests_properties(header.has_no_guard PROPERTIES PASS_REGULAR_EXPRESSION "redefinition of")
