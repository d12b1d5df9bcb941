# Destinations of `cmake --install`: library, headers, the command, the package for Python, the CMake package, the
# pkg-config file. An installed tree can be moved: only the file `interpreter` contains an absolute path, and where that
# leads nowhere python3 is used instead.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Sidestream)
file(RELATIVE_PATH bin_to_lib /prefix/${CMAKE_INSTALL_BINDIR} /prefix/${CMAKE_INSTALL_LIBDIR})
file(RELATIVE_PATH pkgconfig_to_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" pkgconfig_to_prefix ${pkgconfig_to_prefix})

install(TARGETS sidestream EXPORT SidestreamTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
get_property(modules GLOBAL PROPERTY SIDESTREAM_MODULES)
if(modules)
  install(TARGETS ${modules} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/sidestream/modules)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/sidestream ${PROJECT_SOURCE_DIR}/bindings/amrex/sidestream
  ${PROJECT_SOURCE_DIR}/tools/conformance/sidestream DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(DIRECTORY ${PROJECT_BINARY_DIR}/include/sidestream DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.hpp")

# Libraries found outside the system's folders (Spack, conda) are found there at run time, too.
foreach(target sidestream sidestream_tool)
  if(TARGET ${target})
    set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN/${bin_to_lib}" INSTALL_RPATH_USE_LINK_PATH TRUE)
  endif()
endforeach()

if(SIDESTREAM_FORTRAN)
  # A module file can only be read by the compiler that made it.
  install(DIRECTORY ${PROJECT_BINARY_DIR}/bindings/fortran/modules/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sidestream/fortran
    FILES_MATCHING PATTERN "*.mod")
  install(TARGETS sidestream_fortran EXPORT SidestreamFortranTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  set_target_properties(sidestream_fortran PROPERTIES INSTALL_RPATH "$ORIGIN" INSTALL_RPATH_USE_LINK_PATH TRUE)
  install(EXPORT SidestreamFortranTargets NAMESPACE Sidestream:: DESTINATION ${package_dir})
  export(EXPORT SidestreamFortranTargets NAMESPACE Sidestream:: FILE ${PROJECT_BINARY_DIR}/SidestreamFortranTargets.cmake)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/sidestream-fortran.pc.in ${PROJECT_BINARY_DIR}/sidestream-fortran.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/sidestream-fortran.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()

if(SIDESTREAM_PYTHON_BUILT)
  # The package with the client and the parts that servers need for analyses in Python: PYTHONPATH names its parent
  # folder.
  set(package_folder ${CMAKE_INSTALL_LIBDIR}/sidestream/python/sidestream)
  install(TARGETS sidestream_client sidestream_python_servers LIBRARY DESTINATION ${package_folder})
  set_target_properties(sidestream_client sidestream_python_servers PROPERTIES INSTALL_RPATH "$ORIGIN/../../.."
    INSTALL_RPATH_USE_LINK_PATH TRUE)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/bindings/python/sidestream/ DESTINATION ${package_folder}
    FILES_MATCHING PATTERN "*.py" PATTERN "*.pyi" PATTERN "py.typed"
    PATTERN "web/*.html" PATTERN "web/*.css" PATTERN "web/*.js" PATTERN "__pycache__" EXCLUDE)
  install(FILES ${PROJECT_BINARY_DIR}/bindings/python/interpreter DESTINATION ${CMAKE_INSTALL_LIBDIR}/sidestream/python)
endif()

install(EXPORT SidestreamTargets NAMESPACE Sidestream:: DESTINATION ${package_dir})
# A program can also be built against the build tree, with -DSidestream_DIR=BUILD.
export(EXPORT SidestreamTargets NAMESPACE Sidestream:: FILE ${PROJECT_BINARY_DIR}/SidestreamTargets.cmake)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/SidestreamConfig.cmake.in
  ${PROJECT_BINARY_DIR}/SidestreamConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/SidestreamConfigVersion.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
configure_file(${CMAKE_CURRENT_LIST_DIR}/sidestream.pc.in ${PROJECT_BINARY_DIR}/sidestream.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/SidestreamConfig.cmake ${PROJECT_BINARY_DIR}/SidestreamConfigVersion.cmake
  DESTINATION ${package_dir})
install(FILES ${PROJECT_BINARY_DIR}/sidestream.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
