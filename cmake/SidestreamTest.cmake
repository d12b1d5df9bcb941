# sidestream_test(NAME name SOURCES files... [RANKS 1 2 3 ...] [THREADS] [TIMEOUT seconds] [LIBRARIES ...] [LABELS ...])
#
# Builds a doctest program and runs it once per rank count, each run under its own time limit. Without RANKS the program
# runs as one process without mpirun. With THREADS it asks for MPI_THREAD_MULTIPLE.
set(SIDESTREAM_MPIRUN_FLAGS "" CACHE STRING "Further flags for mpirun in the tests")
set(SIDESTREAM_TEST_ENVIRONMENT
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
  OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none)

# The programs that need no mpirun: what the address sanitizer is built for.
add_custom_target(unit_tests)

function(sidestream_run_test name ranks timeout)
  add_test(NAME ${name} COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} ${SIDESTREAM_MPIRUN_FLAGS} ${ARGN})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${timeout} ENVIRONMENT "${SIDESTREAM_TEST_ENVIRONMENT}" PROCESSORS 2)
endfunction()

function(sidestream_test)
  cmake_parse_arguments(T "THREADS" "NAME;TIMEOUT" "SOURCES;RANKS;LIBRARIES;LABELS" ${ARGN})
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 60)
  endif()
  add_executable(test_${T_NAME} ${T_SOURCES} ${PROJECT_SOURCE_DIR}/tests/support/main.cpp)
  target_include_directories(test_${T_NAME} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(test_${T_NAME} PRIVATE sidestream_internal doctest::doctest sidestream_options ${T_LIBRARIES})
  if(T_THREADS)
    target_compile_definitions(test_${T_NAME} PRIVATE TEST_THREADS=MPI_THREAD_MULTIPLE)
  endif()
  if(T_RANKS)
    foreach(ranks IN LISTS T_RANKS)
      sidestream_run_test(${T_NAME}.${ranks} ${ranks} ${T_TIMEOUT} $<TARGET_FILE:test_${T_NAME}>)
      set_tests_properties(${T_NAME}.${ranks} PROPERTIES LABELS "mpi;${T_LABELS}")
    endforeach()
  else()
    add_dependencies(unit_tests test_${T_NAME})
    add_test(NAME ${T_NAME} COMMAND test_${T_NAME})
    set_tests_properties(${T_NAME} PROPERTIES TIMEOUT ${T_TIMEOUT} LABELS "unit;cpp-unit;${T_LABELS}"
      ENVIRONMENT "${SIDESTREAM_TEST_ENVIRONMENT}")
  endif()
endfunction()
find_package(doctest REQUIRED)
