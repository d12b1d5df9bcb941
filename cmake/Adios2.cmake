# Finds ADIOS2 for the engine `sst` of streams, the output `bp` and (from 2.12 on) our engine for ADIOS2:
# SIDESTREAM_ADIOS2, and its target SIDESTREAM_ADIOS2_TARGET.
# scripts/build-adios2 builds it once into a cache folder, which is searched, too.
sidestream_part(ADIOS2 TITLE ADIOS2 PACKAGE "it with scripts/build-adios2, or adios2 with MPI (Spack, conda)"
  FOR "the engine sst of streams, the output bp, and the engine for ADIOS2" WAS "Use ADIOS2 if there is one")
set(ADIOS2_FOUND FALSE)
set(why)
if(SIDESTREAM_LOOK_FOR_ADIOS2)
  execute_process(COMMAND ${PROJECT_SOURCE_DIR}/scripts/build-adios2 --if-cached
    OUTPUT_VARIABLE cached_adios2 OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  find_package(ADIOS2 2.9 CONFIG QUIET HINTS ${cached_adios2})
  if(ADIOS2_FOUND AND NOT ADIOS2_HAVE_MPI)
    message(STATUS "ADIOS2: ${ADIOS2_DIR}")
    set(why "the one that was found was built without MPI")
    set(ADIOS2_FOUND FALSE)
  endif()
endif()
if(ADIOS2_FOUND)
  set(SIDESTREAM_ADIOS2_TARGET adios2::cxx_mpi)
  if(NOT TARGET adios2::cxx_mpi)  # before 2.11
    set(SIDESTREAM_ADIOS2_TARGET adios2::cxx11_mpi)
  endif()
  # An ADIOS2 built with another MPI library, for example in the cache, would only fail in the linker, at the end. One
  # that did not fit earlier may do so now.
  if(NOT SIDESTREAM_ADIOS2_HAS_THIS_MPI STREQUAL ADIOS2_DIR)
    include(CheckCXXSourceCompiles)
    unset(SIDESTREAM_ADIOS2_LINKS CACHE)
    set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_CXX ${SIDESTREAM_ADIOS2_TARGET})
    check_cxx_source_compiles("#include <adios2.h>\nint main() { adios2::ADIOS adios(MPI_COMM_WORLD); }"
      SIDESTREAM_ADIOS2_LINKS)
    unset(CMAKE_REQUIRED_LIBRARIES)
    unset(SIDESTREAM_ADIOS2_HAS_THIS_MPI CACHE)
    if(SIDESTREAM_ADIOS2_LINKS)
      set(SIDESTREAM_ADIOS2_HAS_THIS_MPI ${ADIOS2_DIR} CACHE INTERNAL "The ADIOS2 that was built with the MPI library at hand")
    endif()
  endif()
  if(NOT SIDESTREAM_ADIOS2_HAS_THIS_MPI)
    message(STATUS "ADIOS2: ${ADIOS2_DIR}")
    set(why "the one that was found was built with another MPI library")
    set(ADIOS2_FOUND FALSE)
  endif()
endif()
sidestream_part_found(ADIOS2 ${ADIOS2_FOUND} ${why})
