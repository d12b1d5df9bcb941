# What Sidestream is built with. MPI, HDF5, yaml-cpp, fmt, libpng, zlib, xxHash and CLI11 are required, zstd, zfp, ADIOS2, FFTW,
# muParser and tinyxml2 are not.
find_package(MPI REQUIRED COMPONENTS C CXX)
set(HDF5_PREFER_PARALLEL OFF)
find_package(HDF5 REQUIRED COMPONENTS C)
find_package(yaml-cpp REQUIRED)
find_package(fmt REQUIRED)
find_package(PNG REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Threads REQUIRED)

# Checksums of the database. Its functions are compiled into ours: the header is all there is.
find_path(XXHASH_INCLUDE_DIR xxhash.h)
if(NOT XXHASH_INCLUDE_DIR)
  message(FATAL_ERROR "xxHash is not there: install libxxhash-dev (Debian), xxhash (Spack, conda), or set XXHASH_INCLUDE_DIR")
endif()
mark_as_advanced(XXHASH_INCLUDE_DIR)

# A codec of the database. Without it what needs it says so.
find_path(ZSTD_INCLUDE_DIR zstd.h)
find_library(ZSTD_LIBRARY zstd)
mark_as_advanced(ZSTD_INCLUDE_DIR ZSTD_LIBRARY)
set(SIDESTREAM_ZSTD OFF)
if(ZSTD_INCLUDE_DIR AND ZSTD_LIBRARY)
  set(SIDESTREAM_ZSTD ON)
endif()

# Likewise, with an error bound.
find_path(ZFP_INCLUDE_DIR zfp.h)
find_library(ZFP_LIBRARY zfp)
mark_as_advanced(ZFP_INCLUDE_DIR ZFP_LIBRARY)
set(SIDESTREAM_ZFP OFF)
if(ZFP_INCLUDE_DIR AND ZFP_LIBRARY)
  set(SIDESTREAM_ZFP ON)
endif()

# For spectra alone; in double precision, without threads and MPI.
find_path(FFTW3_INCLUDE_DIR fftw3.h)
find_library(FFTW3_LIBRARY fftw3)
mark_as_advanced(FFTW3_INCLUDE_DIR FFTW3_LIBRARY)
set(SIDESTREAM_FFTW OFF)
if(FFTW3_INCLUDE_DIR AND FFTW3_LIBRARY)
  set(SIDESTREAM_FFTW ON)
else()
  message(STATUS "FFTW: not found, and so no power spectra (Debian: libfftw3-dev)")
endif()

# For `sidestream translate` alone.
find_package(tinyxml2 CONFIG QUIET)

# For derived variables alone. Not every muParser comes with a CMake package.
find_path(MUPARSER_INCLUDE_DIR muParser.h)
find_library(MUPARSER_LIBRARY muparser)
mark_as_advanced(MUPARSER_INCLUDE_DIR MUPARSER_LIBRARY)
if(NOT MUPARSER_INCLUDE_DIR OR NOT MUPARSER_LIBRARY)
  message(STATUS "muParser: not found, and so no derived variables (Debian: libmuparser-dev)")
endif()

# For the engine `sst` of streams; scripts/build-adios2 builds it once into a cache folder, which is looked into too.
option(SIDESTREAM_WITH_ADIOS2 "Use ADIOS2 if there is one" ON)
if(SIDESTREAM_WITH_ADIOS2)
  execute_process(COMMAND ${PROJECT_SOURCE_DIR}/scripts/build-adios2 --if-cached
    OUTPUT_VARIABLE cached_adios2 OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  find_package(ADIOS2 2.9 CONFIG QUIET HINTS ${cached_adios2})
  if(ADIOS2_FOUND AND NOT ADIOS2_HAVE_MPI)
    message(STATUS "ADIOS2 in ${ADIOS2_DIR} was built without MPI: not used")
    set(ADIOS2_FOUND FALSE)
  endif()
  if(ADIOS2_FOUND)
    # One that was built with another MPI library, in the cache say, would be missed by the linker only at the end.
    set(SIDESTREAM_ADIOS2_TARGET adios2::cxx_mpi)
    if(NOT TARGET adios2::cxx_mpi)  # before 2.11
      set(SIDESTREAM_ADIOS2_TARGET adios2::cxx11_mpi)
    endif()
    include(CheckCXXSourceCompiles)
    set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_CXX ${SIDESTREAM_ADIOS2_TARGET})
    check_cxx_source_compiles("#include <adios2.h>\nint main() { adios2::ADIOS adios(MPI_COMM_WORLD); }"
      SIDESTREAM_ADIOS2_HAS_THIS_MPI)
    unset(CMAKE_REQUIRED_LIBRARIES)
    if(NOT SIDESTREAM_ADIOS2_HAS_THIS_MPI)
      message(STATUS "ADIOS2 in ${ADIOS2_DIR} was built with another MPI library: not used")
      set(ADIOS2_FOUND FALSE)
    endif()
  endif()
endif()
