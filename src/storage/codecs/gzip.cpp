#include <zlib.h>

#include "sidestream/kit/base/fail.hpp"
#include "storage/codecs/codecs.hpp"

namespace sidestream {

namespace {

constexpr int window_with_gzip_header = 15 + 16;
constexpr int memory_level = 8;
constexpr int gzip_level = 4;  ///< higher levels gain little and cost much on shuffled values

bool deflated(BytesView in, Type, Bytes& out) {
  z_stream stream{};
  if (deflateInit2(&stream, gzip_level, Z_DEFLATED, window_with_gzip_header, memory_level, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    throw std::bad_alloc();
  }
  try {
    out.resize(deflateBound(&stream, in.size()));
  } catch (...) {
    deflateEnd(&stream);
    throw;
  }
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(in.data()));  // zlib does not write there
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int status = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return status == Z_STREAM_END;
}

void inflated(BytesView in, Type, std::span<std::byte> out) {
  z_stream stream{};
  if (inflateInit2(&stream, window_with_gzip_header) != Z_OK) throw std::bad_alloc();
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(in.data()));
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int status = inflate(&stream, Z_FINISH);
  const bool whole = status == Z_STREAM_END && stream.total_out == out.size() && stream.avail_in == 0;
  inflateEnd(&stream);
  if (!whole) fail(Code::file, "bytes that gzip cannot have made of {}; they are damaged", out.size());
}

}  // namespace

CodecKind gzip_codec() {
  return plain_codec("zlib's format, which all programs can read.",
                     {.name = "gzip", .encode = deflated, .decode = inflated, .packs = true});
}

}  // namespace sidestream
