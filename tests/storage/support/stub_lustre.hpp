// A stand-in for Lustre's library that records the files that it makes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stub_lustre {

struct Call {
  std::string path;
  std::uint64_t size = 0;
  int offset = 0, count = 0, pattern = 0;
};

/// The calls since the last one of this function.
std::vector<Call> take_calls();

/// From now on the function fails with this error number after it has made the file; 0: it does not.
void fail_with(int error_number);

}  // namespace stub_lustre
