#include "amr_codec/values/stream_parts.hpp"

#include <cstring>

#include "sidestream/kit/base/checksum.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream::trees {

namespace {

/// Version 1 of `predicted` had other codes. No release wrote it.
constexpr unsigned version_of(TreeMethod method) noexcept { return method == TreeMethod::predicted ? 2 : 1; }
constexpr std::uint8_t has_parents_bit = 1, has_beside_bit = 2, has_companions_bit = 4;

}  // namespace

void fail_damaged(const char* what) { fail(Code::file, "a stream of a tree's values {}; it is damaged", what); }

void put_byte(std::uint8_t byte, Bytes& out) { out.push_back(static_cast<std::byte>(byte)); }

void put_head(const StreamHead& head, Bytes& out) {
  put_byte(static_cast<std::uint8_t>(version_of(head.method) << 4 | static_cast<unsigned>(head.method)), out);
  const unsigned flags = (head.parents ? has_parents_bit : 0u) | (head.beside ? has_beside_bit : 0u) |
                         (head.companions != 0 ? has_companions_bit : 0u);
  put_byte(static_cast<std::uint8_t>(flags), out);
  for (int n = 0; head.companions != 0 && n < 4; ++n)
    put_byte(static_cast<std::uint8_t>(head.companions >> 8 * n), out);
}

StreamHead take_head(BytesView& stream) {
  StreamHead head;
  const unsigned first = take_byte(stream), flags = take_byte(stream);
  head.method = static_cast<TreeMethod>(first & 15);
  const unsigned version = version_of(head.method);
  if (first >> 4 != version) {
    fail(Code::file,
         "a stream of a tree's values of version {}, expected {}: it is damaged, or another Sidestream made it",
         first >> 4, version);
  }
  if (head.method > TreeMethod::predicted_zstd) fail_damaged("was made by an unknown method");
  if (flags > (has_parents_bit | has_beside_bit | has_companions_bit)) fail_damaged("has unknown flags");
  head.parents = (flags & has_parents_bit) != 0;
  head.beside = (flags & has_beside_bit) != 0;
  for (int n = 0; (flags & has_companions_bit) != 0 && n < 4; ++n) {
    head.companions |= std::uint32_t{take_byte(stream)} << 8 * n;
  }
  return head;
}

void put_checksum(BytesView values, Bytes& out) {
  const std::uint64_t sum = checksum_of(values);
  const std::size_t at = out.size();
  out.resize(at + sizeof sum);
  std::memcpy(out.data() + at, &sum, sizeof sum);
}

void put_number(std::uint64_t number, Bytes& out) {
  for (; number >= 128; number >>= 7) put_byte(static_cast<std::uint8_t>(number | 128), out);
  put_byte(static_cast<std::uint8_t>(number), out);
}

std::uint8_t take_byte(BytesView& stream) { return static_cast<std::uint8_t>(take_bytes(stream, 1)[0]); }

std::uint64_t take_number(BytesView& stream) {
  std::uint64_t number = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const std::uint64_t byte = take_byte(stream);
    number |= (byte & 127) << shift;
    if (byte < 128) return number;
  }
  fail_damaged("has a number of too many bytes");
}

BytesView take_bytes(BytesView& stream, std::uint64_t size) {
  if (size > stream.size()) fail_damaged("ends early");
  const BytesView taken = stream.first(static_cast<std::size_t>(size));
  stream = stream.subspan(static_cast<std::size_t>(size));
  return taken;
}

}  // namespace sidestream::trees
