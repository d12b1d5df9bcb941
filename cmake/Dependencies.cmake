# Dependencies of Sidestream. MPI, HDF5, yaml-cpp, fmt, libpng, zlib, xxHash, nlohmann/json and CLI11 are required; each
# of the others has a switch (OptionalParts.cmake).
find_package(MPI REQUIRED COMPONENTS C CXX)
set(HDF5_PREFER_PARALLEL OFF)
find_package(HDF5 REQUIRED COMPONENTS C)
find_package(yaml-cpp REQUIRED)
find_package(fmt REQUIRED)
find_package(PNG REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(Threads REQUIRED)

# Checksums of the database. Its functions are compiled into ours, so only the header is needed.
find_path(XXHASH_INCLUDE_DIR xxhash.h)
if(NOT XXHASH_INCLUDE_DIR)
  message(FATAL_ERROR "xxHash is not there: install libxxhash-dev (Debian), xxhash (Spack, conda), or set XXHASH_INCLUDE_DIR")
endif()
mark_as_advanced(XXHASH_INCLUDE_DIR)

sidestream_library_part(ZSTD TITLE zstd HEADER zstd.h LIBRARY zstd PACKAGE "libzstd-dev (Debian) or zstd (Spack, conda)"
  FOR "the codec zstd, small structures of octrees, and zstd in Zarr stores")
sidestream_library_part(ZFP TITLE zfp HEADER zfp.h LIBRARY zfp PACKAGE "libzfp-dev (Debian) or zfp (Spack, conda)"
  FOR "the codec zfp, with an error bound")
# In double precision, without threads and MPI.
sidestream_library_part(FFTW TITLE FFTW HEADER fftw3.h LIBRARY fftw3 PREFIX FFTW3
  PACKAGE "libfftw3-dev (Debian) or fftw (Spack, conda)" FOR "power spectra, and simulations/universe")
# Modules of Sidestream's own (modules/): the switches choose what is built.
sidestream_part(AMR_CODEC TITLE "the module amr_codec" PACKAGE "nothing: it is a part of Sidestream"
  FOR "the codec tree, for values in cells of octrees")
sidestream_part_found(AMR_CODEC TRUE)
sidestream_part(BOUNDED_CODEC TITLE "the module bounded_codec" PACKAGE "nothing: it is a part of Sidestream"
  FOR "the codec bounded, with an error bound")
sidestream_part_found(BOUNDED_CODEC TRUE)
sidestream_part(BP TITLE "the module bp" PACKAGE "nothing: it is a part of Sidestream" FOR "the output bp, with ADIOS2")
sidestream_part_found(BP TRUE)
sidestream_part(CLIMATE TITLE "the module climate" PACKAGE "nothing: it is a part of Sidestream"
  FOR "the outputs netcdf and zarr, statistics over time")
sidestream_part_found(CLIMATE TRUE)
sidestream_part(COSMOLOGY TITLE "the module cosmology" PACKAGE "nothing: it is a part of Sidestream"
  FOR "halos, merge trees, spectra, Lyman-alpha, deposits and samples of particles")
sidestream_part_found(COSMOLOGY TRUE)
sidestream_part(STAGING TITLE "the module staging" PACKAGE "nothing: it is a part of Sidestream"
  FOR "placement job, the output stream and the endpoint")
sidestream_part_found(STAGING TRUE)
sidestream_part(VISUALISATION TITLE "the module visualisation" PACKAGE "nothing: it is a part of Sidestream"
  FOR "slices, surfaces, samples, stream lines, projections and pictures")
sidestream_part_found(VISUALISATION TRUE)
# The former switch of muParser, which computed derived variables. Build folders and scripts may still name it.
if(DEFINED SIDESTREAM_WITH_MUPARSER)
  message(NOTICE "SIDESTREAM_WITH_MUPARSER means nothing any more: derived variables need no muParser, and are always built. "
    "Leave it out.")
  unset(SIDESTREAM_WITH_MUPARSER CACHE)
  unset(SIDESTREAM_WITH_MUPARSER)
endif()

sidestream_part(TINYXML2 TITLE tinyxml2 PACKAGE "libtinyxml2-dev (Debian) or tinyxml2 (Spack, conda)"
  FOR "`sidestream translate`")
set(tinyxml2_FOUND FALSE)
if(SIDESTREAM_LOOK_FOR_TINYXML2)
  find_package(tinyxml2 CONFIG QUIET)
endif()
sidestream_part_found(TINYXML2 ${tinyxml2_FOUND})

# Searched in benchmarks/io.
sidestream_part(NETCDF TITLE NetCDF PACKAGE "libnetcdf-mpi-dev (Debian), for Open MPI" FOR "the method netcdf of benchmarks/io"
  ONLY_WITH SIDESTREAM_BUILD_BENCHMARKS)

include(Adios2)
