# Some system tests also run under MPICH, if it is installed beside the MPI library of this build. There is an option
# for this, because the library is built once more. The first of these tests builds what the others need. `cmake
# --preset mpich` runs all tests under MPICH.
option(SIDESTREAM_TEST_MPICH "Build the library with MPICH too and run a part of the system tests with it" OFF)
if(NOT SIDESTREAM_TEST_MPICH)
  message(STATUS "SIDESTREAM_TEST_MPICH is off: nothing is tested under MPICH (make test-all does it)")
  return()
endif()
find_program(SIDESTREAM_MPICC_MPICH mpicc.mpich)
find_program(SIDESTREAM_MPICXX_MPICH mpicxx.mpich)
find_program(SIDESTREAM_MPIRUN_MPICH mpirun.mpich)
if(MPI_C_LIB_NAMES MATCHES "mpich")
  return()
elseif(NOT SIDESTREAM_MPICC_MPICH OR NOT SIDESTREAM_MPICXX_MPICH OR NOT SIDESTREAM_MPIRUN_MPICH)
  add_test(NAME mpich.not_tested COMMAND ${CMAKE_COMMAND} -E echo
    "MPICH is NOT TESTED: there is none beside this MPI (mpicc.mpich, mpirun.mpich).")
  set_tests_properties(mpich.not_tested PROPERTIES LABELS "mpich;all")
  return()
endif()

set(build ${PROJECT_BINARY_DIR}/mpich)
add_test(NAME mpich.build COMMAND ${CMAKE_CTEST_COMMAND}
  --build-and-test ${PROJECT_SOURCE_DIR} ${build} --build-generator ${CMAKE_GENERATOR} --build-noclean
  --build-target field_program --build-options -DMPI_C_COMPILER=${SIDESTREAM_MPICC_MPICH}
  -DMPI_CXX_COMPILER=${SIDESTREAM_MPICXX_MPICH} -DCMAKE_BUILD_TYPE=${CMAKE_BUILD_TYPE}
  -DSIDESTREAM_BUILD_FORTRAN=OFF -DSIDESTREAM_BUILD_EXAMPLES=OFF -DSIDESTREAM_BUILD_BENCHMARKS=OFF -DSIDESTREAM_BUILD_SIMULATIONS=OFF)
set_tests_properties(mpich.build PROPERTIES TIMEOUT 1800 LABELS "mpich;all" PROCESSORS 2 FIXTURES_SETUP mpich
  ENVIRONMENT "CMAKE_BUILD_PARALLEL_LEVEL=2;MAKEFLAGS=-j2")

system_test(mpich.placements test_placements -k "cores or nodes")
system_test(mpich.in_transit test_in_transit -k "over_tcp or pushed or moves")
system_test(mpich.groups test_groups -k "(test_nodes or test_cores or waits or delays or skip) and not sidecar")
set_property(TEST mpich.placements mpich.in_transit mpich.groups APPEND PROPERTY ENVIRONMENT
  SIDESTREAM_MPIEXEC=${SIDESTREAM_MPIRUN_MPICH} SIDESTREAM_FIELD_PROGRAM=${build}/tests/system/field_program)
set_tests_properties(mpich.placements mpich.in_transit mpich.groups PROPERTIES LABELS "mpich;mpi;system;all" FIXTURES_REQUIRED mpich)
