// The decoder as a function in C, which the package for Python calls (bindings/python/sidestream/codecs/bounded.py).
#include <algorithm>
#include <cstring>

#include "bounded_codec/bounded.hpp"
#include "sidestream/error.hpp"

/// Fills `values` with reals of 4 or 8 bytes. Returns 0, or the code of an error, whose sentence it writes to
/// `message`.
extern "C" __attribute__((visibility("default"))) int sidestream_bounded_codec_decode_1(
    const std::byte* stream, std::uint64_t size, std::uint64_t width, std::byte* values, std::uint64_t values_size,
    char* message, std::uint64_t message_size) {
  using namespace sidestream;
  const auto say = [&](const char* text, Code code) {
    const std::uint64_t length = std::min<std::uint64_t>(std::strlen(text), message_size - 1);
    std::memcpy(message, text, length);
    message[length] = 0;
    return static_cast<int>(code);
  };
  try {
    bounded::decode({stream, size}, width == 4 ? Type::float32 : Type::float64, {values, values_size});
    return 0;
  } catch (const Error& error) {
    return say(error.what(), error.code());
  } catch (const std::exception& error) {
    return say(error.what(), Code::system);
  }
}
