// One target for libFuzzer: SIDESTREAM_FUZZ_TARGET is its function.
#include <cstdint>

#include "targets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sidestream::fuzz::SIDESTREAM_FUZZ_TARGET({reinterpret_cast<const std::byte*>(data), size});
  return 0;
}
