# Tests the installed tree as users have it. It is installed and then moved, so that absolute paths are found.
find_program(SIDESTREAM_PKG_CONFIG NAMES pkg-config pkgconf REQUIRED)
set(installed ${CMAKE_CURRENT_BINARY_DIR}/installed)
set(consume bash ${CMAKE_CURRENT_SOURCE_DIR}/consume.sh)

function(sidestream_consume name timeout)
  add_test(NAME packaging.${name} COMMAND ${consume} ${name} ${ARGN})
  set_tests_properties(packaging.${name} PROPERTIES TIMEOUT ${timeout} LABELS "packaging"
    FIXTURES_REQUIRED installed_tree
    ENVIRONMENT "${SIDESTREAM_TEST_ENVIRONMENT};SOURCE=${PROJECT_SOURCE_DIR};PREFIX=${installed};BUILD=${PROJECT_BINARY_DIR};WORK=${CMAKE_CURRENT_BINARY_DIR}/work;CMAKE=${CMAKE_COMMAND};MPIRUN=${MPIEXEC_EXECUTABLE};PKG_CONFIG=${SIDESTREAM_PKG_CONFIG};MPICC=${MPI_C_COMPILER};MPICXX=${MPI_CXX_COMPILER};MPIFC=${MPI_Fortran_COMPILER};CC=${CMAKE_C_COMPILER};CXX=${CMAKE_CXX_COMPILER};LIBDIR=${CMAKE_INSTALL_LIBDIR};PYTHON=${SIDESTREAM_PYTHON}")
  sidestream_cost(packaging.${name})
endfunction()

add_test(NAME packaging.install
  COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/install.sh ${CMAKE_COMMAND} ${PROJECT_BINARY_DIR} ${installed})
set_tests_properties(packaging.install PROPERTIES TIMEOUT 60 LABELS "packaging" FIXTURES_SETUP installed_tree)

# Other tests run its program.
sidestream_consume(minimal_c 120)
set_tests_properties(packaging.minimal_c PROPERTIES FIXTURES_SETUP minimal_c)
sidestream_consume(cmake 300)
sidestream_consume(pkg_config 120)
if(SIDESTREAM_FORTRAN)
  sidestream_consume(fortran 120)
endif()
sidestream_consume(plugin 300)
sidestream_later(packaging.plugin)  # packaging.partitioner builds a plug-in, too
sidestream_consume(partitioner 300)
sidestream_consume(faulty_plugins 300)
if(SIDESTREAM_PYTHON_BUILT)
  sidestream_consume(python_analysis 120)
  sidestream_consume(python_client 120)
endif()
sidestream_consume(tool 60)
foreach(name plugin faulty_plugins python_analysis)
  if(TEST packaging.${name})
    set_tests_properties(packaging.${name} PROPERTIES FIXTURES_REQUIRED "installed_tree;minimal_c")
  endif()
endforeach()
