# What Sidestream is built with. MPI, HDF5, yaml-cpp, fmt, libpng and CLI11 are required.
find_package(MPI REQUIRED COMPONENTS C CXX)
set(HDF5_PREFER_PARALLEL OFF)
find_package(HDF5 REQUIRED COMPONENTS C)
find_package(yaml-cpp REQUIRED)
find_package(fmt REQUIRED)
find_package(PNG REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Threads REQUIRED)
