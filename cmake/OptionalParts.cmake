# Parts of Sidestream that need a library or a compiler that not every machine has. Each has a switch
# SIDESTREAM_WITH_<NAME>: AUTO uses the part if it is found and searches each time, ON fails without it, OFF does not
# search. Afterwards SIDESTREAM_<NAME> is ON or OFF, and SIDESTREAM_PARTS_REPORT (cmake/PartsReport.cmake) lists all.
#
# Flags and folders of a part only reach the files that use it: no other is compiled again when a library appears.

# sidestream_part(NAME TITLE text FOR text PACKAGE text [ALIAS option] [SWITCH name] [WAS text] [ONLY_WITH option])
#
# Declares the switch; SIDESTREAM_LOOK_FOR_<NAME> is true if the part is to be searched. PACKAGE: what to install, for
# messages. ALIAS: an older option, of which OFF means OFF and ON means AUTO. SWITCH: its name, if it is not derived
# from NAME. WAS: the help text from when the switch itself was an option, whose ON meant "if there is one". ONLY_WITH:
# the option that builds all users of the part; without it the part is not searched, and ON fails.
function(sidestream_part name)
  cmake_parse_arguments(PART "" "TITLE;FOR;PACKAGE;ALIAS;SWITCH;WAS;ONLY_WITH" "" ${ARGN})
  set(switch SIDESTREAM_WITH_${name})
  if(PART_SWITCH)
    set(switch ${PART_SWITCH})
  endif()
  get_property(kind CACHE ${switch} PROPERTY TYPE)
  get_property(help CACHE ${switch} PROPERTY HELPSTRING)
  if(PART_WAS AND kind STREQUAL "BOOL" AND help STREQUAL PART_WAS AND ${switch})  # a build folder of that time
    unset(${switch} CACHE)
  endif()
  set(${switch} AUTO CACHE STRING "${PART_TITLE}, for ${PART_FOR}: AUTO, ON (fail without it) or OFF")
  set_property(CACHE ${switch} PROPERTY STRINGS AUTO ON OFF)
  string(TOUPPER "${${switch}}" value)
  if(value STREQUAL "AUTO" AND PART_ALIAS)
    if(DEFINED ${PART_ALIAS} AND NOT ${PART_ALIAS})
      set(value OFF)
      set(switch ${PART_ALIAS})
    endif()
  endif()
  if(value STREQUAL "AUTO")
  elseif(value MATCHES "^(ON|YES|TRUE|Y|1)$")
    set(value ON)
  elseif(value MATCHES "^(OFF|NO|FALSE|N|0|)$")
    set(value OFF)
  else()
    message(FATAL_ERROR "${switch} is '${${switch}}'; it can be AUTO, ON or OFF")
  endif()
  if(value STREQUAL "ON" AND PART_ONLY_WITH AND NOT ${PART_ONLY_WITH})
    message(FATAL_ERROR "${switch} is ON, but ${PART_TITLE} is only for ${PART_FOR}, and ${PART_ONLY_WITH} is OFF. Set "
      "${PART_ONLY_WITH} to ON, or ${switch} to AUTO.")
  endif()
  set_property(GLOBAL PROPERTY SIDESTREAM_PART_${name} "${value};${switch};${PART_TITLE};${PART_FOR};${PART_PACKAGE}")
  set(look TRUE)
  if(value STREQUAL "OFF")
    set(look FALSE)
  endif()
  set(SIDESTREAM_LOOK_FOR_${name} ${look} PARENT_SCOPE)
endfunction()

# sidestream_part_found(NAME FOUND [detail]): records the result. FOUND: true or false; detail: the one that was found,
# or the reason why none is used (unless it is just missing).
function(sidestream_part_found name found)
  get_property(part GLOBAL PROPERTY SIDESTREAM_PART_${name})
  list(POP_FRONT part value switch title for package)
  set(detail "${ARGN}")
  if(found AND NOT value STREQUAL "OFF")
    set(result ON)
  else()
    set(result OFF)
    if(value STREQUAL "OFF")
      set(detail "${switch} is OFF")
    elseif(NOT detail)
      set(detail "not found")
    endif()
    if(value STREQUAL "ON")
      message(FATAL_ERROR "${switch} is ON, but there is no ${title} (${detail}). Install ${package}; name its prefix in "
        "CMAKE_PREFIX_PATH if it is in a place that CMake does not know; or set ${switch} to AUTO, to build without it.")
    endif()
    if(NOT value STREQUAL "OFF")
      string(APPEND detail "; install ${package}")
    endif()
  endif()
  set(SIDESTREAM_${name} ${result} PARENT_SCOPE)
  set_property(GLOBAL APPEND PROPERTY SIDESTREAM_PARTS ${name})
  set_property(GLOBAL PROPERTY SIDESTREAM_PART_${name}_RESULT ${result})
  set_property(GLOBAL PROPERTY SIDESTREAM_PART_${name}_DETAIL "${detail}")
endfunction()

# sidestream_library_part(NAME HEADER header LIBRARY name [PREFIX prefix] what sidestream_part takes...)
#
# A part that needs a header and a library; <PREFIX>_INCLUDE_DIR and <PREFIX>_LIBRARY are their places (PREFIX: NAME,
# unless given). The target sidestream_part_<NAME> has both.
function(sidestream_library_part name)
  cmake_parse_arguments(LIB "" "HEADER;LIBRARY;PREFIX" "" ${ARGN})
  if(NOT LIB_PREFIX)
    set(LIB_PREFIX ${name})
  endif()
  sidestream_part(${name} ${LIB_UNPARSED_ARGUMENTS})
  set(folder ${LIB_PREFIX}_INCLUDE_DIR)
  set(library ${LIB_PREFIX}_LIBRARY)
  foreach(place ${folder} ${library})  # places that have vanished are searched anew
    if(NOT SIDESTREAM_LOOK_FOR_${name} OR NOT EXISTS "${${place}}")
      unset(${place} CACHE)
    endif()
  endforeach()
  set(found FALSE)
  if(SIDESTREAM_LOOK_FOR_${name})
    find_path(${folder} ${LIB_HEADER})
    find_library(${library} ${LIB_LIBRARY})
    mark_as_advanced(${folder} ${library})
    if(${folder} AND ${library})
      set(found TRUE)
      add_library(sidestream_part_${name} INTERFACE)
      target_link_libraries(sidestream_part_${name} INTERFACE ${${library}})
      target_include_directories(sidestream_part_${name} SYSTEM INTERFACE ${${folder}})
    endif()
  endif()
  sidestream_part_found(${name} ${found})
  set(SIDESTREAM_${name} ${SIDESTREAM_${name}} PARENT_SCOPE)
endfunction()

# sidestream_part_sources(NAME WITH files... WITHOUT files... [USES target] [TARGET objects]): files that are compiled
# with the part, and others that replace them without it. USES: the target needed by the former (default:
# sidestream_part_<NAME>). TARGET: the object library of the files (default: sidestream_objects). Each file is compiled
# by itself, so that no other depends on the result.
function(sidestream_part_sources name)
  cmake_parse_arguments(FILES "" "USES;TARGET" "WITH;WITHOUT" ${ARGN})
  if(NOT FILES_TARGET)
    set(FILES_TARGET sidestream_objects)
  endif()
  if(NOT FILES_USES)
    set(FILES_USES sidestream_part_${name})
  endif()
  set(files ${FILES_WITHOUT})
  if(SIDESTREAM_${name})
    set(files ${FILES_WITH})
    target_link_libraries(${FILES_TARGET} INTERFACE $<LINK_ONLY:${FILES_USES}>)
  endif()
  target_sources(${FILES_TARGET} PRIVATE ${files})
  set_source_files_properties(${files} TARGET_DIRECTORY ${FILES_TARGET} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  if(SIDESTREAM_${name})
    # Includes everything that the target itself links to. Naming the compiler's own folders would change their order.
    set(folders $<TARGET_PROPERTY:${FILES_USES},INTERFACE_INCLUDE_DIRECTORIES>)
    foreach(folder IN LISTS CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
      string(REGEX REPLACE "([+.])" "[\\1]" pattern ${folder})
      set(folders $<FILTER:${folders},EXCLUDE,^${pattern}\$>)
    endforeach()
    set_source_files_properties(${files} TARGET_DIRECTORY ${FILES_TARGET} PROPERTIES
      INCLUDE_DIRECTORIES "${folders}"
      COMPILE_DEFINITIONS "$<TARGET_PROPERTY:${FILES_USES},INTERFACE_COMPILE_DEFINITIONS>")
  endif()
endfunction()
