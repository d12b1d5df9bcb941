# Compares `sidestream reference` with the manual in docs/.
execute_process(COMMAND ${TOOL} reference OUTPUT_VARIABLE made RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${TOOL} reference failed with status ${status}")
endif()
file(READ ${MANUAL} kept)
if(NOT made STREQUAL kept)
  message(FATAL_ERROR "docs/reference.md is not what `sidestream reference` prints; run `make reference` in the build "
    "folder and commit the file")
endif()
