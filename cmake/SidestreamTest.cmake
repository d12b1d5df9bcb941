# sidestream_test(NAME name SOURCES files... [RANKS 1 2 3 ...] [THREADS] [TIMEOUT seconds] [LIBRARIES ...] [LABELS ...])
#
# Builds a doctest program and runs it for each rank count: several counts in one job of mpirun, one after the other, each
# with the time limit and in a folder of its own (tests/support/ranks.hpp). The test NAME has the first count and one that
# its name chooses, so that all tests together have each count; NAME.counts has the others, for `make test-all`. Without
# RANKS the program runs as one process without mpirun. With THREADS it asks for MPI_THREAD_MULTIPLE.
set(SIDESTREAM_MPIRUN_FLAGS "" CACHE STRING "Further flags for mpirun in the tests")

# Open MPI 4's mpirun removes its session folders, HOST's and USER's, when no other run is in them. It fails to start if
# that happens while it creates them ("unable to create the desired directory: File exists"). Tests start and end jobs
# all the time, some two at once, so their folders are never empty.
set(sidestream_session_folders ${PROJECT_BINARY_DIR}/mpirun)
cmake_host_system_information(RESULT sidestream_host QUERY HOSTNAME)
string(REGEX REPLACE "[.].*" "" sidestream_host "${sidestream_host}")
execute_process(COMMAND id -u OUTPUT_VARIABLE sidestream_user OUTPUT_STRIP_TRAILING_WHITESPACE)
foreach(host "${sidestream_host}" sidestream-one sidestream-two) # the latter two are of tests/system/two-hosts
  file(MAKE_DIRECTORY ${sidestream_session_folders}/ompi.${host}.${sidestream_user}/keep)
endforeach()

# Open MPI opens modules for networks that one machine does not use, above all UCX and libfabric: a third of the time of
# a small job. Each process also loads hwloc's plug-ins, with OpenCL and X11, which are not in this folder.
set(SIDESTREAM_TEST_ENVIRONMENT OMPI_MCA_orte_tmpdir_base=${sidestream_session_folders}
  HWLOC_PLUGINS_PATH=${sidestream_session_folders}
  OMPI_MCA_pml=ob1 OMPI_MCA_osc=^ucx OMPI_MCA_btl=^openib,ofi,usnic,uct OMPI_MCA_coll=^hcoll
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
  OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
  # Else each pytest imports the plug-ins of all packages, zarr among them, and each NumPy starts threads.
  PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 OPENBLAS_NUM_THREADS=1
  SIDESTREAM_BUILD=${PROJECT_BINARY_DIR}
  # Python keeps compiled modules in the build instead of beside the sources. Otherwise each pytest compiles all modules of
  # tests that it imports.
  PYTHONPYCACHEPREFIX=${PROJECT_BINARY_DIR}/pycache PYTHONDONTWRITEBYTECODE=)

# sidestream_tests_find(NAME=VALUE...): environment variables with which Python tests find programs and settings of this
# build, with and without CTest: tests/conftest.py reads the file that sidestream_write_test_environment writes.
function(sidestream_tests_find)
  set_property(GLOBAL APPEND PROPERTY SIDESTREAM_TESTS_FIND ${ARGN})
endfunction()

function(sidestream_write_test_environment)
  get_property(found GLOBAL PROPERTY SIDESTREAM_TESTS_FIND)
  list(JOIN SIDESTREAM_TEST_ENVIRONMENT "\n" settings)
  list(JOIN found "\n" found)
  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/tests/environment CONTENT "${settings}\n${found}\n")
endfunction()

# The programs that need no mpirun, which are built for the address sanitizer.
add_custom_target(unit_tests)

# The part that all test programs share, including the test framework; it takes longer to compile than most tests.
function(sidestream_test_main name)
  set(support ${PROJECT_SOURCE_DIR}/tests/support)
  add_library(${name} OBJECT ${support}/main.cpp ${support}/ranks.cpp ${support}/deadline.cpp)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE MPI::MPI_C doctest::doctest sidestream_options sidestream_test_options)
  target_compile_definitions(${name} PRIVATE ${ARGN})
endfunction()

# Tests are compiled more often than they run: optimised as much as brute force needs, not more.
add_library(sidestream_test_options INTERFACE)
target_compile_options(sidestream_test_options INTERFACE $<$<CONFIG:Release>:-O1>)

# sidestream_cost(NAME): makes the longest tests begin first (tests/costs.txt), and leaves them out of `make check`, but for
# some that look at most of the library. CTest corrects their times by its own measurements.
set(sidestream_checked python.client system.placements tool)
file(STRINGS ${PROJECT_SOURCE_DIR}/tests/costs.txt lines REGEX "^[^#]")
foreach(line IN LISTS lines)
  string(REPLACE " " ";" line "${line}")
  list(GET line 0 name)
  list(GET line 1 cost)
  set(sidestream_cost_${name} ${cost})
endforeach()
function(sidestream_cost name)
  if(DEFINED sidestream_cost_${name})
    set_tests_properties(${name} PROPERTIES COST ${sidestream_cost_${name}})
    if(NOT name IN_LIST sidestream_checked)
      set_property(TEST ${name} APPEND PROPERTY LABELS long)
    endif()
  endif()
endfunction()

# sidestream_later(NAME...): these run in `make test-all` only. Others that are quicker look at most of the same.
function(sidestream_later)
  foreach(name IN LISTS ARGN)
    get_test_property(${name} LABELS labels)
    set_tests_properties(${name} PROPERTIES LABELS "${labels};all")
  endforeach()
endfunction()

# Programs are slower under the sanitizers, so their limits are longer.
set(sidestream_patience 1)
if(SIDESTREAM_SANITIZE)
  set(sidestream_patience 10)
endif()

# sidestream_run_test(NAME ranks seconds program arguments...): a job of mpirun.
function(sidestream_run_test name ranks timeout)
  math(EXPR timeout "${timeout} * ${sidestream_patience}")
  # Two small jobs at a time, as with the system tests: starting and ending takes most of their time.
  set(processors 1)
  if(ranks GREATER 4)
    set(processors 2)
  endif()
  add_test(NAME ${name} COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} ${SIDESTREAM_MPIRUN_FLAGS} ${ARGN})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${timeout} ENVIRONMENT "${SIDESTREAM_TEST_ENVIRONMENT}" PROCESSORS ${processors})
  sidestream_cost(${name})
endfunction()

# sidestream_run_counts(NAME seconds "counts" program): runs a sidestream_test program with several rank counts, each
# with the limit. The program ends itself with a message; CTest only ends one that does not.
function(sidestream_run_counts name timeout counts program)
  list(LENGTH counts number)
  set(most 0)
  foreach(count IN LISTS counts)
    if(count GREATER most)
      set(most ${count})
    endif()
  endforeach()
  math(EXPR limit "${timeout} * ${sidestream_patience}")
  math(EXPR timeout "${timeout} * ${number} + 20")
  list(JOIN counts "," counts)
  sidestream_run_test(${name} ${most} ${timeout} ${program} --ranks ${counts} --limit ${limit}
    --folder ${CMAKE_CURRENT_BINARY_DIR}/ranks/${name})
endfunction()

function(sidestream_test)
  cmake_parse_arguments(T "THREADS" "NAME;TIMEOUT" "SOURCES;RANKS;LIBRARIES;LABELS" ${ARGN})
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 60)
  endif()
  set(main sidestream_test_main)
  if(T_THREADS)
    set(main sidestream_test_main_threads)
  endif()
  add_executable(test_${T_NAME} ${T_SOURCES} $<TARGET_OBJECTS:${main}>)
  target_include_directories(test_${T_NAME} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(test_${T_NAME} PRIVATE sidestream_internal doctest::doctest sidestream_options
    sidestream_test_options ${T_LIBRARIES})
  if(SIDESTREAM_PRECOMPILE)
    target_precompile_headers(test_${T_NAME} REUSE_FROM test_precompiled)
  endif()
  if(T_RANKS)
    set(later ${T_RANKS})
    list(LENGTH T_RANKS number)
    if(number GREATER 2)
      string(MD5 hash ${T_NAME})
      string(SUBSTRING ${hash} 6 4 hash)  # with these digits long tests have few ranks
      math(EXPR chosen "1 + 0x${hash} % (${number} - 1)")
      list(GET T_RANKS 0 ${chosen} T_RANKS)
    endif()
    list(REMOVE_ITEM later ${T_RANKS})
    sidestream_run_counts(${T_NAME} ${T_TIMEOUT} "${T_RANKS}" $<TARGET_FILE:test_${T_NAME}>)
    set_tests_properties(${T_NAME} PROPERTIES LABELS "mpi;${T_LABELS}")
    sidestream_cost(${T_NAME})
    if(later)
      sidestream_run_counts(${T_NAME}.counts ${T_TIMEOUT} "${later}" $<TARGET_FILE:test_${T_NAME}>)
      set_tests_properties(${T_NAME}.counts PROPERTIES LABELS "mpi;${T_LABELS};all")
    endif()
  else()
    add_dependencies(unit_tests test_${T_NAME})
    math(EXPR timeout "${T_TIMEOUT} * ${sidestream_patience}")
    add_test(NAME ${T_NAME} COMMAND test_${T_NAME} --limit ${timeout})
    math(EXPR timeout "${timeout} + 20")
    set_tests_properties(${T_NAME} PROPERTIES TIMEOUT ${timeout} LABELS "unit;cpp-unit;${T_LABELS}"
      ENVIRONMENT "${SIDESTREAM_TEST_ENVIRONMENT}")
    sidestream_cost(${T_NAME})
  endif()
endfunction()
find_package(doctest REQUIRED)
sidestream_test_main(sidestream_test_main)
sidestream_test_main(sidestream_test_main_threads TEST_THREADS=MPI_THREAD_MULTIPLE)

# The shared headers are compiled once, with the flags of a typical program.
add_executable(test_precompiled ${PROJECT_SOURCE_DIR}/tests/support/precompiled.cpp
  $<TARGET_OBJECTS:sidestream_test_main>)
target_link_libraries(test_precompiled PRIVATE sidestream_internal doctest::doctest sidestream_options
  sidestream_test_options)
sidestream_precompile(test_precompiled ${SIDESTREAM_PRECOMPILED_HEADERS} <doctest/doctest.h>)

# sidestream_pytest(NAME name FILES file... [TIMEOUT seconds] [LABELS ...] [ENVIRONMENT NAME=VALUE...] [ARGUMENTS ...])
#
# Python files (without .py) of this folder in one process of pytest: starting it and importing NumPy, h5py and VTK takes
# as long as many cases do. What fails is said by file and case, and files after it run, too. By hand each runs by
# itself: `pytest tests/FOLDER/test_FILE.py -k CASE`.
function(sidestream_pytest)
  cmake_parse_arguments(T "" "NAME;TIMEOUT" "FILES;LABELS;ENVIRONMENT;ARGUMENTS" ${ARGN})
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 300)
  endif()
  math(EXPR timeout "${T_TIMEOUT} * ${sidestream_patience}")
  list(TRANSFORM T_FILES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  list(TRANSFORM T_FILES APPEND .py)
  add_test(NAME ${T_NAME} COMMAND ${SIDESTREAM_PYTHON} -m pytest -q --maxfail=5 -rfEs -p no:cacheprovider ${T_FILES}
    ${T_ARGUMENTS})
  set_tests_properties(${T_NAME} PROPERTIES TIMEOUT ${timeout} LABELS "${T_LABELS}")
  set_property(TEST ${T_NAME} PROPERTY ENVIRONMENT ${SIDESTREAM_TEST_ENVIRONMENT} ${T_ENVIRONMENT})
  sidestream_cost(${T_NAME})
endfunction()
