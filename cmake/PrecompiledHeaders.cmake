# The headers of the standard library and fmt take most of the compile time of a small file: they are compiled once for
# the library and once for the test programs. None of our headers is included, so that a change of one only recompiles
# its users.
option(SIDESTREAM_PRECOMPILE "Compile the headers of the standard library and fmt once" ON)
set(SIDESTREAM_PRECOMPILED_HEADERS
  <algorithm> <array> <bit> <charconv> <chrono> <cmath> <cstddef> <cstdint> <cstdlib> <cstring> <deque> <exception>
  <filesystem> <fstream> <functional> <limits> <map> <memory> <numeric> <optional> <set> <span> <sstream> <string>
  <string_view> <thread> <tuple> <unordered_map> <utility> <variant> <vector> <fmt/format.h>)

# sidestream_precompile(target headers...): headers that the target's files include first, compiled once.
function(sidestream_precompile target)
  if(SIDESTREAM_PRECOMPILE)
    list(TRANSFORM ARGN REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:CXX>:\\1>" OUTPUT_VARIABLE headers)
    target_precompile_headers(${target} PRIVATE ${headers})
  endif()
endfunction()
