# Runs the examples in several placements, and compares results with calculations with NumPy.
if(NOT SIDESTREAM_PYTHON)
  message(STATUS "SIDESTREAM_PYTHON is not set: the tests of the examples are not built")
  return()
endif()

set(pairs heat:minimal_c wave:minimal_cpp dye:function_analysis elements:spectral_elements block_tree:block_tree
  particles:particles pulse:amrex)
if(SIDESTREAM_FORTRAN)
  list(APPEND pairs heat_fortran:minimal_fortran listing:damaris_listing pencils:pencils heat77:common_blocks)
endif()
foreach(pair IN LISTS pairs)
  string(REPLACE ":" ";" pair ${pair})
  list(GET pair 0 example)
  list(GET pair 1 folder)
  add_test(NAME examples.${folder} COMMAND ${SIDESTREAM_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/test_examples.py ${example}
    $<TARGET_FILE:example_${example}> ${PROJECT_SOURCE_DIR}/examples/${folder}/run.yaml
    ${MPIEXEC_EXECUTABLE} ${SIDESTREAM_MPIRUN_FLAGS})
  set_tests_properties(examples.${folder} PROPERTIES TIMEOUT 300 LABELS "examples;mpi;long"
    ENVIRONMENT "${SIDESTREAM_TEST_ENVIRONMENT}")
endforeach()
if(SIDESTREAM_PYTHON_BUILT)
  set(folder ${PROJECT_SOURCE_DIR}/examples/python_analysis)
  add_test(NAME examples.python_analysis COMMAND ${SIDESTREAM_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/test_examples.py
    front $<TARGET_FILE:example_heat> ${folder}/run.yaml ${MPIEXEC_EXECUTABLE} ${SIDESTREAM_MPIRUN_FLAGS})
  set_tests_properties(examples.python_analysis PROPERTIES TIMEOUT 300 LABELS "examples;mpi;long"
    ENVIRONMENT "${SIDESTREAM_TEST_ENVIRONMENT}")
  set(folder ${PROJECT_SOURCE_DIR}/examples/minimal_python)
  add_test(NAME examples.minimal_python COMMAND ${SIDESTREAM_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/test_examples.py
    heat_python ${folder}/heat.py ${folder}/run.yaml ${MPIEXEC_EXECUTABLE} ${SIDESTREAM_MPIRUN_FLAGS})
  set_tests_properties(examples.minimal_python PROPERTIES TIMEOUT 300 LABELS "examples;mpi;long"
    ENVIRONMENT "${SIDESTREAM_TEST_ENVIRONMENT};PYTHONPATH=${PROJECT_BINARY_DIR}/bindings/python")
endif()

# The same program in every available language, in every placement.
set(programs $<TARGET_FILE:example_hello_c> $<TARGET_FILE:example_hello_cpp>)
set(modules)
if(SIDESTREAM_FORTRAN)
  list(APPEND programs $<TARGET_FILE:example_hello_fortran>)
endif()
if(SIDESTREAM_PYTHON_BUILT)
  list(APPEND programs ${PROJECT_SOURCE_DIR}/examples/hello/hello.py)
  set(modules PYTHONPATH=${PROJECT_BINARY_DIR}/bindings/python)
endif()
add_test(NAME examples.hello COMMAND ${SIDESTREAM_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/test_hello.py
  $<TARGET_FILE:sidestream_tool> ${PROJECT_SOURCE_DIR}/examples/hello/run.yaml ${MPIEXEC_EXECUTABLE}
  ${SIDESTREAM_MPIRUN_FLAGS} -- ${programs})
set_tests_properties(examples.hello PROPERTIES TIMEOUT 300 LABELS "examples;mpi;long"
  ENVIRONMENT "${SIDESTREAM_TEST_ENVIRONMENT};${modules}")
