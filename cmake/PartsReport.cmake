# Table of included and omitted parts with reasons, at the end of configuring; the same as C++ for `sidestream
# --version`.
function(sidestream_parts_report)
  get_property(parts GLOBAL PROPERTY SIDESTREAM_PARTS)
  set(width 0)
  foreach(name IN LISTS parts)
    get_property(part GLOBAL PROPERTY SIDESTREAM_PART_${name})
    list(GET part 2 title)
    string(LENGTH "${title}" length)
    if(length GREATER width)
      set(width ${length})
    endif()
  endforeach()
  set(table)
  set(code)
  foreach(wanted ON OFF)
    foreach(name IN LISTS parts)
      get_property(result GLOBAL PROPERTY SIDESTREAM_PART_${name}_RESULT)
      get_property(detail GLOBAL PROPERTY SIDESTREAM_PART_${name}_DETAIL)
      get_property(part GLOBAL PROPERTY SIDESTREAM_PART_${name})
      if(NOT result STREQUAL wanted)
        continue()
      endif()
      list(GET part 2 title)
      list(GET part 3 line)
      string(LENGTH "${title}" length)
      math(EXPR blanks "${width} - ${length} + 2")
      string(REPEAT " " ${blanks} blanks)
      set(word "with     ")
      if(NOT result)
        set(word "without  ")
        string(APPEND line " (${detail})")
      endif()
      string(APPEND table "--   ${word}${title}${blanks}${line}\n")
      string(REGEX REPLACE "([\\\"])" "\\\\\\1" line "${line}")
      string(APPEND code "    \"${word}${title}${blanks}${line}\\n\"\n")
    endforeach()
  endforeach()
  message(STATUS "Optional parts (SIDESTREAM_WITH_<NAME>=AUTO|ON|OFF, docs/installing.md):\n${table}")
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/built_parts.cpp @ONLY CONTENT
"// Made by cmake/PartsReport.cmake from what was found.
#include \"commands.hpp\"

namespace sidestream {

const char* built_parts() noexcept {
  return
@code@      ;
}

}  // namespace sidestream
")
endfunction()
