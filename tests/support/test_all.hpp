// Tells if a test is to try everything, as in `make test-all`, or the few values of `make test`.
#pragma once

#include <cstdlib>
#include <cstring>

namespace sidestream::testing {

[[nodiscard]] inline bool test_all() {
  const char* const all = std::getenv("SIDESTREAM_TEST_ALL");
  return all && std::strcmp(all, "1") == 0;
}

}  // namespace sidestream::testing
