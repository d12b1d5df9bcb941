#include <zlib.h>

#include <algorithm>

#include "base/fail.hpp"
#include "storage/trees/packer.hpp"

namespace sidestream::trees {

std::size_t compress(std::span<const std::uint8_t> in, int level, std::span<std::byte> room) {
  uLongf size = room.size();
  const int outcome = ::compress2(reinterpret_cast<Bytef*>(room.data()), &size, in.data(),
                                  static_cast<uLong>(in.size()), std::clamp(level, 1, 9));
  if (outcome == Z_MEM_ERROR) throw std::bad_alloc();
  return outcome == Z_OK ? size : 0;  // no room: it saves nothing
}

Packed compressor() noexcept { return Packed::zlib; }

bool decompress_zstd(BytesView, std::span<std::uint8_t>) {
  fail(Code::file,
       "a stream of a tree's values went through zstd, which this build is without; build Sidestream with zstd");
}

}  // namespace sidestream::trees
