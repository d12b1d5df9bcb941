#include "amr_codec/values/packer.hpp"

#include <zlib.h>

#include <cstring>

#include "sidestream/kit/base/fail.hpp"

namespace sidestream::trees {

namespace {

bool decompress_zlib(BytesView in, std::span<std::uint8_t> out) {
  uLongf size = out.size();
  const int outcome =
      ::uncompress(out.data(), &size, reinterpret_cast<const Bytef*>(in.data()), static_cast<uLong>(in.size()));
  if (outcome == Z_MEM_ERROR) throw std::bad_alloc();
  return outcome == Z_OK && size == out.size();
}

bool copy_stored(BytesView in, std::span<std::uint8_t> out) {
  if (in.size() != out.size()) return false;
  if (!out.empty()) std::memcpy(out.data(), in.data(), in.size());
  return true;
}

}  // namespace

void Packer::pack(std::span<const std::uint8_t> in, int level, Bytes& out) {
  const std::size_t start = out.size();
  out.resize(start + 1 + in.size());
  const std::size_t size = in.empty() ? 0 : compress(in, level, std::span(out).subspan(start + 1));
  if (size > 0 && size < in.size()) {
    out[start] = static_cast<std::byte>(compressor());
    out.resize(start + 1 + size);
    return;
  }
  out[start] = static_cast<std::byte>(Packed::stored);
  if (!in.empty()) std::memcpy(out.data() + start + 1, in.data(), in.size());
}

void unpack(BytesView in, std::span<std::uint8_t> out) {
  bool whole = false;
  if (!in.empty()) {
    const BytesView rest = in.subspan(1);
    switch (static_cast<Packed>(in[0])) {
      case Packed::stored:
        whole = copy_stored(rest, out);
        break;
      case Packed::zlib:
        whole = decompress_zlib(rest, out);
        break;
      case Packed::zstd:
        whole = decompress_zstd(rest, out);
        break;
    }
  }
  if (!whole)
    fail(Code::file, "a stream of a tree's values has a part that does not unpack to {} bytes; it is damaged",
         out.size());
}

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
