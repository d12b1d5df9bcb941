# Unity builds: the compiler takes several files of a folder at a time and reads shared headers once. Reading headers
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
option(SIDESTREAM_UNITY "Compile several files of a folder as one" ${sidestream_unity_default})

# sidestream_unity(target size [SELDOM name...]): compiles the files of each folder of the target together, up to `size`
# at a time and as evenly as that allows. Folders with fewer than four files join the folder around them. Call it when the
# target has all its files. SELDOM names files (without .cpp) and folders (not those in them), from the target's
# folder, whose code runs when a session opens, or once for a file, a message or a picture, and loops over no cells. They
# have units of their own, which release builds optimise less: that halves the compiler's time for them.
function(sidestream_unity target size)
  cmake_parse_arguments(PARSE_ARGV 2 T "" "" "SELDOM")
  if(NOT SIDESTREAM_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  get_target_property(base ${target} SOURCE_DIR)
  set(folders)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${base} NORMALIZE)
    sidestream_unity_apart(${target} ${source} apart)
    if(NOT apart)
      cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${base} OUTPUT_VARIABLE name)
      cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
      cmake_path(GET source PARENT_PATH folder)
      cmake_path(GET name PARENT_PATH name_of_folder)
      cmake_path(REMOVE_EXTENSION name LAST_ONLY)
      if(name IN_LIST T_SELDOM OR name_of_folder IN_LIST T_SELDOM)
        set(folder seldom/${folder})
      endif()
      list(APPEND folders ${folder})
      list(APPEND "files_${folder}" ${source})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES folders)
  # A small folder joins the one around it; the deepest come first.
  list(SORT folders ORDER DESCENDING)
  set(all ${folders})
  set(folders)
  while(all)
    list(POP_FRONT all folder)
    list(LENGTH "files_${folder}" count)
    cmake_path(GET folder PARENT_PATH around)
    if(count LESS 4 AND around MATCHES "/")
      list(APPEND "files_${around}" ${files_${folder}})
      if(NOT around IN_LIST all)
        list(APPEND all ${around})
        list(SORT all ORDER DESCENDING)
      endif()
    else()
      list(APPEND folders ${folder})
    endif()
  endwhile()
  foreach(folder IN LISTS folders)
    string(MAKE_C_IDENTIFIER ${folder} name)
    set(options)
    if(folder MATCHES "^seldom")
      set(options $<$<CONFIG:Release>:-Og>)
    endif()
    sidestream_unity_folder(${target} ${name} ${size} "${options}" ${files_${folder}})
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

# sidestream_unity_folder(target folder size options files...): makes the units of one folder, with options of the compiler.
function(sidestream_unity_folder target folder size options)
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
    set(made ${PROJECT_BINARY_DIR}/units/${target}/${folder}_${unit}.cpp)
    file(CONFIGURE OUTPUT ${made} CONTENT "${text_${unit}}" @ONLY)  # does not touch a file with the same content
    target_sources(${target} PRIVATE ${made})
    set_source_files_properties(${made} TARGET_DIRECTORY ${target} PROPERTIES COMPILE_OPTIONS "${options}")
  endforeach()
endfunction()
