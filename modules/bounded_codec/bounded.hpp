// The codec `bounded`: reals with a largest error, as stream-format.md describes its bytes.
#pragma once

#include <span>
#include <string>

#include "sidestream/extend/codec.hpp"

namespace sidestream::bounded {

/// The quantity that a bound is a part of.
enum class Relation { none, range, each };

/// The bound as the configuration writes it: `1e-3`, `range:1e-3`, `each:1e-3`.
struct Bound {
  Relation relation = Relation::none;  ///< range: the finite values of a chunk; each: each value has its own error
  double most = 0;                     ///< the largest error, or its part
};

/// The least part of each value: below, differences of neighbours soon have more steps than are coded.
inline constexpr double least_part = 1e-8;

/// Throws Error(configuration).
[[nodiscard]] Bound bound_of(const std::string& argument);

/// Encodes elements of the type float32 or float64. Returns false if the bytes would be as many as those of the values,
/// or the bound is too small for them.
[[nodiscard]] bool encode(BytesView in, Type type, const ChunkPlace& place, const Bound& bound, Bytes& out);
/// The inverse. Throws Error(file) if the bytes are damaged. Needs no bound: the bytes have all of it.
void decode(BytesView in, Type type, std::span<std::byte> out);

[[nodiscard]] CodecKind bounded_codec();

}  // namespace sidestream::bounded
