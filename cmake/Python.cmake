# The client for Python: SIDESTREAM_PYTHON_BUILT. It needs an interpreter with nanobind and its headers, and mpi4py to
# run. Under scikit-build-core the interpreter is the one that runs pip (bindings/python/wheel).
#
# SIDESTREAM_PYTHON itself names the interpreter.
sidestream_part(PYTHON_BUILT SWITCH SIDESTREAM_WITH_PYTHON TITLE Python
  PACKAGE "nanobind and mpi4py (pip), and python3-dev (Debian)" FOR "the client for Python, and analyses in Python"
  ALIAS SIDESTREAM_BUILD_PYTHON)
set(client FALSE)
set(detail)
if(SIDESTREAM_LOOK_FOR_PYTHON_BUILT AND "thread" IN_LIST SIDESTREAM_SANITIZE)
  set(detail "the interpreter was not built for the thread sanitizer")
elseif(SIDESTREAM_LOOK_FOR_PYTHON_BUILT AND NOT SIDESTREAM_PYTHON)
  set(detail "SIDESTREAM_PYTHON names no interpreter")
elseif(SIDESTREAM_LOOK_FOR_PYTHON_BUILT)
  execute_process(COMMAND ${SIDESTREAM_PYTHON} -c
    "import importlib.metadata as m, nanobind; print(nanobind.cmake_dir(), nanobind.__version__, m.version('mpi4py'), sep=';')"
    OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE missing ERROR_QUIET)
  if(missing)
    set(detail "the interpreter has no nanobind or no mpi4py")
  else()
    list(POP_FRONT found nanobind_DIR)
    list(JOIN found ", mpi4py " found)
    set(Python_EXECUTABLE ${SIDESTREAM_PYTHON})
    find_package(Python 3.11 QUIET COMPONENTS Interpreter Development.Module OPTIONAL_COMPONENTS Development.Embed)
    if(NOT Python_Development.Module_FOUND)
      set(detail "the interpreter has no headers")
    else()
      find_package(nanobind CONFIG REQUIRED)
      set(client TRUE)
      set(analyses "analyses in Python on servers of any program")
      if(NOT Python_Development.Embed_FOUND)
        set(analyses "no libpython, and so analyses in Python on servers of programs in Python alone")
      endif()
      message(STATUS "Python: ${SIDESTREAM_PYTHON}; nanobind ${found}; ${analyses}")
    endif()
  endif()
endif()
sidestream_part_found(PYTHON_BUILT ${client} ${detail})
