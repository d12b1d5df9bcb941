// The form in which the values of a variable are stored in one iteration; the same for all blocks.
#pragma once

#include <string>

#include "sidestream/extend/communicator.hpp"
#include "sidestream/kit/storage/codecs/precision.hpp"

namespace sidestream {

struct FiniteExtremes;

/// Representation of 16-bit reals in a format: their bits, or the same numbers in 32 bits.
enum class HalfAs { bits, float32 };

/// The form of stored values: as published, or reduced. If any value of the iteration cannot keep the bound of a
/// precision, that precision is not applied at all; `why_full` then gives the reason.
struct StoredForm {
  StoredForm() = default;
  explicit StoredForm(Type published) : from(published), type(published) {}
  /// `extremes`: extremes of all values in this iteration, if the precision needs them.
  StoredForm(const Precision& precision, Type published, const FiniteExtremes& extremes, HalfAs half);

  Precision precision{};
  Type from = Type::float64;  ///< type of the published values
  Type type = Type::float64;  ///< type of stored values; uint16 for the bits of 16-bit reals
  bool is_half = false;       ///< stored values are the bits of 16-bit reals
  bool is_scaled = false;     ///< value = offset + scale * number; the lowest number of the type represents NaN
  double scale = 1, offset = 0;
  std::string why_full{};

  [[nodiscard]] bool is_full() const noexcept { return precision.kind == Precision::Kind::full; }
  /// The stored values: the published ones, or reduced ones in `made`. Packing with zfp is left to the caller.
  [[nodiscard]] BytesView apply(BytesView published, Bytes& made) const;

 private:
  void keep_full(std::string why);
  void choose_scale(const FiniteExtremes& extremes);
};

}  // namespace sidestream
