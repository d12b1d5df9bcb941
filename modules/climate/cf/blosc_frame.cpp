#include "climate/cf/blosc_frame.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace sidestream {

namespace {

constexpr std::size_t header_size = 16;
constexpr std::uint8_t shuffled = 0x01, stored = 0x02, unsplit = 0x10;

void shuffle_bytes(BytesView in, std::size_t width, std::span<std::byte> out) {
  const std::size_t count = in.size() / width;
  for (std::size_t b = 0; b < width; ++b) {
    std::byte* const to = out.data() + b * count;
    for (std::size_t n = 0; n < count; ++n) to[n] = in[n * width + b];
  }
}

void put_number(std::byte* at, std::size_t number) {
  const auto narrow = static_cast<std::uint32_t>(number);
  std::memcpy(at, &narrow, sizeof narrow);
}

void put_header(std::byte* at, std::uint8_t flags, std::size_t width, std::size_t size, std::size_t block,
                std::size_t packed) {
  constexpr std::uint8_t version = 2, version_of_format = 1;
  const std::array<std::uint8_t, 4> first{version, version_of_format, flags, static_cast<std::uint8_t>(width)};
  std::memcpy(at, first.data(), first.size());
  put_number(at + 4, size);
  put_number(at + 8, block);
  put_number(at + 12, packed);
}

}  // namespace

void append_blosc_frame(BytesView values, std::size_t width, BloscFormat format, const BloscPack& pack, Bytes& out) {
  const std::size_t begin = out.size(), most = header_size + values.size();
  const std::size_t block = std::min(values.size(), blosc_block / width * width);
  const std::size_t blocks = block == 0 ? 0 : (values.size() + block - 1) / block;
  out.resize(begin + most);
  std::byte* const frame = out.data() + begin;
  Bytes mixed(block);
  std::size_t at = header_size + blocks * sizeof(std::uint32_t);
  bool fits = at < most;
  for (std::size_t n = 0; n < blocks && fits; ++n) {
    const BytesView part = values.subspan(n * block, std::min(block, values.size() - n * block));
    shuffle_bytes(part, width, mixed);
    put_number(frame + header_size + n * sizeof(std::uint32_t), at);
    const std::size_t room = most - at;
    fits = room > sizeof(std::uint32_t);
    if (!fits) break;
    // Readers take a block with the size of its values as it is.
    const std::span<std::byte> to(frame + at + sizeof(std::uint32_t),
                                  std::min(room - sizeof(std::uint32_t), part.size() - 1));
    std::size_t packed = pack(BytesView(mixed).first(part.size()), to);
    if (packed == 0 && room >= sizeof(std::uint32_t) + part.size()) {
      packed = part.size();
      std::memcpy(to.data(), mixed.data(), packed);
    }
    fits = packed > 0;
    put_number(frame + at, packed);
    at += sizeof(std::uint32_t) + packed;
  }
  const auto number = static_cast<std::uint8_t>(static_cast<std::uint8_t>(format) << 5);
  if (fits) {
    put_header(frame, static_cast<std::uint8_t>(shuffled | unsplit | number), width, values.size(), block, at);
    out.resize(begin + at);
    return;
  }
  put_header(frame, static_cast<std::uint8_t>(stored | number), width, values.size(), block, most);
  if (!values.empty()) std::memcpy(frame + header_size, values.data(), values.size());
}

}  // namespace sidestream
