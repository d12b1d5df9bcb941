// Exclusive or with the parent (Strafella and Chapon, "Boosting I/O and visualization for exascale era using Hercule:
// test case on RAMSES", section 2.3).
//
// A parent that is a mean shares sign, exponent and first digits with its children. The exclusive or of their bits has
// zeros in these places. For each sibling group:
//   1. Combine each child with the parent by exclusive or, and all results by or.
//   2. Count the leading zeros of that, at most 2^header_bits - 1.
//   3. Store the count in the header, and for each child only the bits behind the zeros.
// This needs no neighbours, no companions and no arithmetic, so it works for integers and NaN alike.
#include "amr_codec/values/parent_xor.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "amr_codec/values/elements.hpp"
#include "amr_codec/values/stream_parts.hpp"

namespace sidestream::trees {

namespace {

template <class W>
constexpr unsigned word_bits = 8 * sizeof(W);

template <class W>
unsigned kept_bits(W all, unsigned most) noexcept {
  const auto zeros = static_cast<unsigned>(std::countl_zero(all));
  return word_bits<W> - std::min(zeros, most);
}

constexpr std::size_t group_bytes(unsigned kept, std::size_t children) noexcept { return (kept * children + 7) / 8; }

template <class W>
unsigned most_zeros(int header_bits) noexcept {
  return std::min((1u << header_bits) - 1, word_bits<W> - 1);
}

// Usually a whole word is written at a time: up to 56 bits fit behind 7 bits of an incomplete byte.
template <class W, std::size_t Children>
std::uint8_t* put_group(const W* residues, unsigned kept, std::uint8_t* to) noexcept {
  if (kept > 56) {
    BitWriter writer(to);
    for (std::size_t n = 0; n < Children; ++n) writer.put(residues[n], kept);
    return to + writer.finish();
  }
  std::uint64_t held = 0;
  unsigned fill = 0;
  for (std::size_t n = 0; n < Children; ++n) {
    held |= static_cast<std::uint64_t>(residues[n]) << fill;
    store_word(to, held);
    fill += kept;
    to += fill >> 3;
    held >>= fill & ~7u;
    fill &= 7;
  }
  return to + (fill != 0);
}

template <class W, std::size_t Children>
void get_group(const std::uint8_t* from, unsigned kept, W parent, std::byte* to) noexcept {
  W children[Children];
  if (kept > 56) {
    for (std::size_t n = 0; n < Children; ++n) children[n] = static_cast<W>(get_bits(from, n * kept, kept)) ^ parent;
  } else {
    const std::uint64_t mask = (std::uint64_t{1} << kept) - 1;
    for (std::size_t n = 0; n < Children; ++n) {
      const unsigned place = static_cast<unsigned>(n) * kept;
      children[n] = static_cast<W>(load_word(from + (place >> 3)) >> (place & 7) & mask) ^ parent;
    }
  }
  std::memcpy(to, children, sizeof children);
}

template <class W, std::size_t Children>
std::size_t encode_groups(BytesView values, const TreeChunk& chunk, unsigned most, std::uint8_t* zeros,
                          std::uint8_t* to) noexcept {
  const std::uint8_t* const begin = to;
  const Index* parent = chunk.groups.parent.data();
  const std::size_t groups = chunk.groups.parent.size();
  for (std::size_t g = 0; g < groups; ++g) {
    const W above = element<W>(chunk.parents.data(), static_cast<std::size_t>(parent[g]));
    W residues[Children];
    std::memcpy(residues, values.data() + g * sizeof residues, sizeof residues);
    W all = 0;
    for (std::size_t n = 0; n < Children; ++n) {
      residues[n] ^= above;
      all |= residues[n];
    }
    const unsigned kept = kept_bits(all, most);
    zeros[g] = static_cast<std::uint8_t>(word_bits<W> - kept);
    to = put_group<W, Children>(residues, kept, to);
  }
  return static_cast<std::size_t>(to - begin);
}

template <class W, std::size_t Children>
void decode_groups(const std::uint8_t* from, const std::uint8_t* zeros, const TreeChunk& chunk,
                   std::span<std::byte> values) noexcept {
  const Index* parent = chunk.groups.parent.data();
  const std::size_t groups = chunk.groups.parent.size();
  for (std::size_t g = 0; g < groups; ++g) {
    const W above = element<W>(chunk.parents.data(), static_cast<std::size_t>(parent[g]));
    const unsigned kept = word_bits<W> - zeros[g];
    get_group<W, Children>(from, kept, above, values.data() + g * Children * sizeof(W));
    from += group_bytes(kept, Children);
  }
}

/// Calls `f.template operator()<W, Children>()` for the type and the dimensions of the chunk.
template <class F>
auto with_group(const TreeChunk& chunk, F&& f) {
  const auto with_children = [&]<class W>(W) {
    switch (chunk.groups.dimensions) {
      case 1:
        return f.template operator()<W, 2>();
      case 2:
        return f.template operator()<W, 4>();
      default:
        return f.template operator()<W, 8>();
    }
  };
  return size_of(chunk.type) == 8 ? with_children(std::uint64_t{}) : with_children(std::uint32_t{});
}

/// Packs the counts of zeros with `bits` bits each.
void put_zeros(const std::uint8_t* zeros, std::size_t count, unsigned bits, std::uint8_t* to) noexcept {
  BitWriter writer(to);
  for (std::size_t g = 0; g < count; ++g) writer.put(zeros[g], bits);
  writer.finish();
}

std::size_t header_bytes(std::size_t groups, unsigned bits) noexcept { return (groups * bits + 7) / 8; }

}  // namespace

void encode_parent_xor(BytesView values, const TreeChunk& chunk, int header_bits, Bytes& out) {
  const std::size_t groups = chunk.groups.parent.size();
  const auto bits = static_cast<unsigned>(header_bits);
  const std::unique_ptr<std::uint8_t[]> zeros(new std::uint8_t[groups]);
  put_byte(static_cast<std::uint8_t>(bits), out);
  const std::size_t at = out.size(), head = header_bytes(groups, bits);
  out.resize(at + head + values.size() + 2 * bit_slack);
  auto* to = reinterpret_cast<std::uint8_t*>(out.data()) + at;
  const std::size_t size = with_group(chunk, [&]<class W, std::size_t Children>() {
    return encode_groups<W, Children>(values, chunk, most_zeros<W>(header_bits), zeros.get(), to + head);
  });
  Bytes counts(head + bit_slack);
  put_zeros(zeros.get(), groups, bits, reinterpret_cast<std::uint8_t*>(counts.data()));
  std::memcpy(to, counts.data(), head);
  out.resize(at + head + size + 1);
  out.back() = std::byte{0};
}

void decode_parent_xor(BytesView stream, const TreeChunk& chunk, std::span<std::byte> values) {
  const unsigned bits = take_byte(stream), word = static_cast<unsigned>(8 * size_of(chunk.type));
  if (bits < 1 || bits > 6) fail_damaged("counts zeros in more than 6 bits");
  const std::size_t groups = chunk.groups.parent.size(), children = children_of(chunk);
  const BytesView head = take_bytes(stream, header_bytes(groups, bits));
  const std::unique_ptr<std::uint8_t[]> zeros(new std::uint8_t[groups]);
  std::uint64_t needed = 0;
  unsigned most = 0;
  for (std::size_t g = 0; g < groups; ++g) {
    zeros[g] = static_cast<std::uint8_t>(get_bits(as_bytes(head), g * bits, bits));
    most = std::max<unsigned>(most, zeros[g]);
    needed += group_bytes(word - zeros[g], children);
  }
  if (most >= word || needed + 1 != stream.size()) fail_damaged("has not the bits that its counts of zeros say");
  with_group(chunk, [&]<class W, std::size_t Children>() {
    decode_groups<W, Children>(as_bytes(stream), zeros.get(), chunk, values);
  });
}

double parent_xor_bits(BytesView values, const TreeChunk& chunk, int header_bits, std::size_t first, std::size_t last) {
  return with_group(chunk, [&]<class W, std::size_t Children>() {
    double bits = 0;
    for (std::size_t g = first; g < last; ++g) {
      const W above = element<W>(chunk.parents.data(), static_cast<std::size_t>(chunk.groups.parent[g]));
      W all = 0;
      for (std::size_t n = 0; n < Children; ++n) all |= element<W>(values.data(), g * Children + n) ^ above;
      const unsigned kept = kept_bits(all, most_zeros<W>(header_bits));
      bits += header_bits + 8.0 * static_cast<double>(group_bytes(kept, Children));
    }
    return bits / (static_cast<double>(last - first) * Children);
  });
}

}  // namespace sidestream::trees
