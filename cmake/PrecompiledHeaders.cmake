# The headers of the standard library and fmt take most of the compile time of a small file: they are compiled once for
# the library and its modules, once for the command and once for the test programs. Where a unit is a folder, nearly all
# include our headers of data and tasks, too. Elsewhere none of ours is there: a change only recompiles its users.
option(SIDESTREAM_PRECOMPILE "Compile the headers of the standard library and fmt once" ON)
set(SIDESTREAM_PRECOMPILED_HEADERS
  <algorithm> <array> <bit> <charconv> <chrono> <cmath> <cstddef> <cstdint> <cstdlib> <cstring> <deque> <exception>
  <filesystem> <fstream> <functional> <limits> <map> <memory> <numeric> <optional> <set> <span> <sstream> <string>
  <string_view> <thread> <tuple> <unordered_map> <utility> <variant> <vector> <fmt/format.h>)
set(SIDESTREAM_PRECOMPILED_OWN)
if(SIDESTREAM_UNITY)
  set(SIDESTREAM_PRECOMPILED_OWN <sidestream/extend/analysis.hpp> <sidestream/kit/base/fail.hpp>)
endif()

# sidestream_precompile(target headers... | REUSE_FROM other): headers that the target's files include first, compiled once.
function(sidestream_precompile target)
  if(SIDESTREAM_PRECOMPILE AND ARGV1 STREQUAL "REUSE_FROM")
    target_precompile_headers(${target} ${ARGN})
  elseif(SIDESTREAM_PRECOMPILE)
    list(TRANSFORM ARGN REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:CXX>:\\1>" OUTPUT_VARIABLE headers)
    target_precompile_headers(${target} PRIVATE ${headers})
  endif()
endfunction()
