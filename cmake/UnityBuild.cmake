# Unity builds: the compiler takes several files at a time and reads shared headers once. Reading headers
# is most of the work for a small file. A file with flags of its own is compiled by itself, as is a file that depends on
# an optional library (OptionalParts.cmake): the others need not be compiled again when the library appears.
#
# Unity builds are on by default, since most builds begin from nothing. They are off in debug builds, which therefore
# notice a file that lacks an #include but finds it in a neighbouring file. SIDESTREAM_UNITY=OFF in the environment
# turns them off, too: that suits a developer who changes one file at a time and has a compiler cache.
#
# CMake's own unity builds include files by absolute path, so that a compiler cache misses in every other checkout. Ours
# use paths relative to the project.
set(sidestream_unity_default ON)
if(DEFINED ENV{SIDESTREAM_UNITY})
  set(sidestream_unity_default $ENV{SIDESTREAM_UNITY})
elseif(CMAKE_BUILD_TYPE STREQUAL "Debug")
  set(sidestream_unity_default OFF)
endif()
option(SIDESTREAM_UNITY "Compile several files as one" ${sidestream_unity_default})

# sidestream_unity(target size [SELDOM name...]): compiles the files of a wing (src/server with its folders, a module) together,
# up to `size` at a time and as evenly as that allows; small wings share units. Call it when the target has all its files.
# With 24 files a unit the compiler reads shared headers half as often as with ten. SELDOM names files (without .cpp) and
# folders (not those in them), from the target's folder, whose code runs when a session opens, or once for a file, a
# message or a picture, and loops over no cells. They have units of their own, which release builds optimise less: that
# halves the compiler's time for them.
function(sidestream_unity target size)
  cmake_parse_arguments(PARSE_ARGV 2 T "" "" "SELDOM")
  if(NOT SIDESTREAM_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  get_target_property(base ${target} SOURCE_DIR)
  set(wings)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${base} NORMALIZE)
    sidestream_unity_apart(${target} ${source} apart)
    if(NOT apart)
      cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${base} OUTPUT_VARIABLE name)
      cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
      string(REGEX MATCH "^[^/]+/[^/]+" wing ${source})
      cmake_path(REMOVE_EXTENSION name LAST_ONLY)
      cmake_path(GET name PARENT_PATH folder)
      if(name IN_LIST T_SELDOM OR folder IN_LIST T_SELDOM)
        set(wing seldom/${wing})
      endif()
      list(APPEND wings ${wing})
      list(APPEND "files_${wing}" ${source})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES wings)
  foreach(wing IN LISTS wings)
    list(LENGTH "files_${wing}" count)
    math(EXPR tripled "3 * ${count}")
    cmake_path(GET wing PARENT_PATH around)
    if(tripled LESS size AND NOT wing STREQUAL around)
      list(APPEND "files_${around}" ${files_${wing}})
      list(REMOVE_ITEM wings ${wing})
      list(APPEND wings ${around})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES wings)
  foreach(wing IN LISTS wings)
    string(MAKE_C_IDENTIFIER ${wing} name)
    set(options)
    if(wing MATCHES "^seldom")
      set(options $<$<CONFIG:Release>:-Og>)
    endif()
    sidestream_unity_files(${target} ${name} ${size} "${options}" ${files_${wing}})
  endforeach()
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  set_target_properties(${target} PROPERTIES SIDESTREAM_UNITS ON)  # read by CompilerOptions.cmake
endfunction()

# sidestream_unity_apart(target source result): sets `result` to TRUE if the file must not share a unit with others.
function(sidestream_unity_apart target source result)
  cmake_path(GET source EXTENSION LAST_ONLY extension)
  cmake_path(IS_PREFIX PROJECT_BINARY_DIR ${source} apart)
  foreach(property HEADER_FILE_ONLY SKIP_UNITY_BUILD_INCLUSION SKIP_PRECOMPILE_HEADERS COMPILE_OPTIONS COMPILE_DEFINITIONS INCLUDE_DIRECTORIES)
    get_source_file_property(value ${source} TARGET_DIRECTORY ${target} ${property})
    if(value)
      set(apart TRUE)
    endif()
  endforeach()
  if(NOT extension STREQUAL ".cpp")
    set(apart TRUE)
  endif()
  set(${result} ${apart} PARENT_SCOPE)
endfunction()

# sidestream_unity_files(target name size options files...): makes the units of these files, with options of the compiler.
function(sidestream_unity_files target name size options)
  set(files ${ARGN})
  list(SORT files)
  list(LENGTH files count)
  math(EXPR units "(${count} + ${size} - 1) / ${size}")
  set(index 0)
  foreach(file IN LISTS files)
    math(EXPR unit "${index} * ${units} / ${count}")
    string(APPEND text_${unit} "#include \"${file}\"\n")
    math(EXPR index "${index} + 1")
    set_source_files_properties(${PROJECT_SOURCE_DIR}/${file} TARGET_DIRECTORY ${target} PROPERTIES HEADER_FILE_ONLY ON)
  endforeach()
  math(EXPR last "${units} - 1")
  foreach(unit RANGE ${last})
    set(made ${PROJECT_BINARY_DIR}/units/${target}/${name}_${unit}.cpp)
    file(CONFIGURE OUTPUT ${made} CONTENT "${text_${unit}}" @ONLY)  # does not touch a file with the same content
    target_sources(${target} PRIVATE ${made})
    set_source_files_properties(${made} TARGET_DIRECTORY ${target} PROPERTIES COMPILE_OPTIONS "${options}")
  endforeach()
endfunction()
