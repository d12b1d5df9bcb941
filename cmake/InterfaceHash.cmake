# Writes sidestream/extend/interface.hpp: a number that changes with the text of headers that plug-ins see.
#
#   cmake -DHEADERS=include -DOUTPUT=build/include -P InterfaceHash.cmake
#
# HEADERS: the folder that contains sidestream/. The file is only touched when the number changes.
cmake_minimum_required(VERSION 3.25)
file(GLOB_RECURSE headers RELATIVE ${HEADERS} ${HEADERS}/sidestream/data/*.hpp ${HEADERS}/sidestream/extend/*.hpp
  ${HEADERS}/sidestream/kit/*.hpp)
list(APPEND headers sidestream/error.hpp)
list(REMOVE_ITEM headers sidestream/extend/interface.hpp)
list(SORT headers)
set(all "")
foreach(header IN LISTS headers)
  file(SHA256 ${HEADERS}/${header} hash)
  string(APPEND all "${header} ${hash}\n")
endforeach()
string(SHA256 hash "${all}")
string(SUBSTRING ${hash} 0 16 hash)
file(CONFIGURE OUTPUT ${OUTPUT}/sidestream/extend/interface.hpp CONTENT
"// Made by cmake/InterfaceHash.cmake from the text of data/*.hpp, extend/*.hpp, kit/*.hpp and error.hpp.
#pragma once

#include <cstdint>

namespace sidestream {

/// Plug-ins and the library that loads them must have been built with the same.
inline constexpr std::uint64_t interface_hash = 0x${hash};

}  // namespace sidestream
")
