# Filled by the packaging: library, headers, CMake package, pkg-config file.
