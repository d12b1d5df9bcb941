// The decoder as a function in C, which the package for Python calls (bindings/python/sidestream/codecs/bounded.py).
#include "bounded_codec/bounded.hpp"
#include "sidestream/kit/base/c_status.hpp"

/// Fills `values` with reals of 4 or 8 bytes. Returns 0, or the code of an error, whose sentence it writes to
/// `message`.
extern "C" __attribute__((visibility("default"))) int sidestream_bounded_codec_decode_1(
    const std::byte* stream, std::uint64_t size, std::uint64_t width, std::byte* values, std::uint64_t values_size,
    char* message, std::uint64_t message_size) {
  using namespace sidestream;
  const auto decode = [&] {
    bounded::decode({stream, size}, width == 4 ? Type::float32 : Type::float64, {values, values_size});
  };
  return c_status_of(decode, message, message_size);
}
