// A test that passes but leaks memory. The address sanitizer must fail it.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdlib>
#include <vector>

namespace {

// A separate function, whose stack is overwritten below, so that no register or stack slot still holds the address.
[[gnu::noinline]] void leak() {
  auto* volatile lost = static_cast<volatile char*>(std::malloc(77));
  lost[76] = 1;
  lost = nullptr;
}

[[gnu::noinline]] std::size_t overwrite(std::size_t size) {
  volatile char stack[4096];
  for (std::size_t i = 0; i < size; ++i) stack[i % sizeof stack] = 0;
  return static_cast<std::size_t>(stack[size % sizeof stack]);
}

}  // namespace

TEST_CASE("memory that nobody frees") {
  leak();
  CHECK(overwrite(10'000) == 0);
}
