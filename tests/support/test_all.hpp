// Tells if a test is to try everything, as in `make test-all`, or the few values of `make test`.
#pragma once

#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <vector>

namespace sidestream::testing {

[[nodiscard]] inline bool test_all() {
  const char* const all = std::getenv("SIDESTREAM_TEST_ALL");
  return all && std::strcmp(all, "1") == 0;
}

/// The first and the last of some values, or all of them in `make test-all`.
template <class T>
[[nodiscard]] std::vector<T> ends_of(std::initializer_list<T> values) {
  if (test_all() || values.size() < 3) return values;
  return {*values.begin(), *(values.end() - 1)};
}

}  // namespace sidestream::testing
