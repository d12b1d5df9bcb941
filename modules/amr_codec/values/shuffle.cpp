#include "amr_codec/values/shuffle.hpp"

namespace sidestream::trees {

void shuffle(BytesView in, std::size_t width, Bytes& out) {
  const std::size_t count = in.size() / width;
  out.resize(in.size());
  for (std::size_t b = 0; b < width; ++b) {
    for (std::size_t n = 0; n < count; ++n) out[b * count + n] = in[n * width + b];
  }
  for (std::size_t n = count * width; n < in.size(); ++n) out[n] = in[n];
}

void unshuffle(BytesView in, std::size_t width, std::span<std::byte> out) {
  const std::size_t count = in.size() / width;
  for (std::size_t b = 0; b < width; ++b) {
    for (std::size_t n = 0; n < count; ++n) out[n * width + b] = in[b * count + n];
  }
  for (std::size_t n = count * width; n < in.size(); ++n) out[n] = in[n];
}

}  // namespace sidestream::trees
