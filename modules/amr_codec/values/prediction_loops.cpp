// Inner loops of predictions, each compiled for several vector widths (SIDESTREAM_WIDE).
//
// All versions must give the same bits as each other and as the decoder in Python. So every operation is rounded by
// itself in the order that stream-format.md fixes: no fused multiply-add, no reordered sums. Selections use masks
// on the bits of numbers. This vectorises; a branch or a floating-point comparison would not.
#include "amr_codec/values/prediction_loops.hpp"

#include <bit>
#include <cmath>
#include <cstring>

#include "amr_codec/values/elements.hpp"

namespace sidestream::trees {

SIDESTREAM_WIDE void read_beside(const double* __restrict from, const Index* __restrict numbers, std::size_t count,
                                 double* __restrict out) noexcept {
  for (std::size_t n = 0; n < count; ++n) {
    const Index number = numbers[n];
    const double value = from[number < 0 ? 0 : number];
    out[n] = number < 0 ? 0.0 : value;
  }
}

SIDESTREAM_WIDE void read_beside(const float* __restrict from, const Index* __restrict numbers, std::size_t count,
                                 double* __restrict out) noexcept {
  for (std::size_t n = 0; n < count; ++n) {
    const Index number = numbers[n];
    const auto value = static_cast<double>(from[number < 0 ? 0 : number]);
    out[n] = number < 0 ? 0.0 : value;
  }
}

}  // namespace sidestream::trees

namespace sidestream::trees::prediction_loops {

void pick_numbers(const Index* __restrict numbers, std::size_t stride, const std::uint32_t* __restrict sequence,
                  std::size_t count, Index* __restrict out) {
  if (sequence == nullptr) {
    for (std::size_t g = 0; g < count; ++g) out[g] = numbers[g * stride];
  } else {
    for (std::size_t g = 0; g < count; ++g) out[g] = numbers[sequence[g] * stride];
  }
}

namespace {

template <std::size_t Children>
void rows_of(const double* __restrict cells, std::size_t count, Predictor::Row* __restrict rows) {
  for (std::size_t g = 0; g < count; ++g) {
    for (std::size_t child = 0; child < Children; ++child) rows[child][g] = cells[g * Children + child];
  }
}

}  // namespace

void to_rows(const double* cells, std::size_t children, std::size_t count, Predictor::Row* rows) {
  if (children == 8) return rows_of<8>(cells, count, rows);
  if (children == 4) return rows_of<4>(cells, count, rows);
  rows_of<2>(cells, count, rows);
}

namespace {

using Bits = std::uint64_t;

/// All bits set if the number is negative.
inline Bits missing(Index number) noexcept { return static_cast<Bits>(number >> 63); }
inline double chosen(Bits mask, double there, double elsewhere) noexcept {
  return std::bit_cast<double>((std::bit_cast<Bits>(there) & mask) | (std::bit_cast<Bits>(elsewhere) & ~mask));
}
inline Bits negative(double value) noexcept {
  return static_cast<Bits>(static_cast<std::int64_t>(std::bit_cast<Bits>(value)) >> 63);
}
/// Replaces NaN by 0; even the sign of NaN differs from machine to machine.
inline double number_or_0(double value) noexcept {
  constexpr std::int64_t infinity = 0x7ff0000000000000;
  const auto size = static_cast<std::int64_t>(std::bit_cast<Bits>(std::fabs(value)));
  return chosen(static_cast<Bits>((infinity - size) >> 63), 0, value);
}
inline double flatter_of(double down, double up) noexcept {
  const auto a = static_cast<std::int64_t>(std::bit_cast<Bits>(std::fabs(down)));
  const auto b = static_cast<std::int64_t>(std::bit_cast<Bits>(std::fabs(up)));
  return chosen(static_cast<Bits>((a - b) >> 63), down, up);
}

/// There are no branches and no floating-point comparisons. Compilers assume that comparisons may trap, and do not
/// vectorise them.
template <bool Central>
inline __attribute__((always_inline)) void slopes_of(const double* __restrict parent, const Sides& sides, double factor,
                                                     std::size_t count, double* __restrict slope,
                                                     double* __restrict change) {
  const double* __restrict below = sides.below;
  const double* __restrict above = sides.above;
  const Index* __restrict below_at = sides.below_at;
  const Index* __restrict above_at = sides.above_at;
  for (std::size_t g = 0; g < count; ++g) {
    const Bits no_lower = missing(below_at[g]), no_upper = missing(above_at[g]);
    const double down = chosen(no_lower, 0, parent[g] - below[g] * factor);
    const double up = chosen(no_upper, 0, above[g] * factor - parent[g]);
    const double both = down + up;
    if constexpr (Central) {
      slope[g] = chosen(no_lower | no_upper, 1, 0.5) * both;
    } else {
      const double a = number_or_0(down), b = number_or_0(up);
      slope[g] = chosen(negative(a) ^ negative(b), 0, flatter_of(a, b));
    }
    change[g] += std::fabs(up - down) + 0.25 * std::fabs(both);
  }
}

}  // namespace

SIDESTREAM_WIDE void add_central(const double* parent, const Sides& sides, double factor, std::size_t count,
                                 double* slope, double* change) {
  slopes_of<true>(parent, sides, factor, count, slope, change);
}

SIDESTREAM_WIDE void add_limited(const double* parent, const Sides& sides, double factor, std::size_t count,
                                 double* slope, double* change) {
  slopes_of<false>(parent, sides, factor, count, slope, change);
}

void add_slopes(bool central, const double* parent, const Sides& sides, double factor, std::size_t count, double* slope,
                double* change) {
  (central ? add_central : add_limited)(parent, sides, factor, count, slope, change);
}

SIDESTREAM_WIDE void add_face_slopes(const double* __restrict parent, const double* __restrict there,
                                     const Index* __restrict there_at, double factor, std::size_t count,
                                     double* __restrict slope, double* __restrict change) {
  for (std::size_t g = 0; g < count; ++g) {
    const double along = chosen(missing(there_at[g]), 0, there[g] * factor - parent[g]);
    slope[g] = along;
    change[g] += 0.5 * std::fabs(along);
  }
}

SIDESTREAM_WIDE void along_three(const double* __restrict parent, const double* __restrict offset,
                                 const double* __restrict x, const double* __restrict y, const double* __restrict z,
                                 std::size_t count, double* __restrict out) {
  const double a = offset[0], b = offset[1], c = offset[2];
  for (std::size_t g = 0; g < count; ++g) out[g] = parent[g] + ((a * x[g] + b * y[g]) + c * z[g]);
}

void along_slopes(const double* parent, const std::array<double, 3>& offset,
                  const std::array<Predictor::Row, 3>& slopes, std::size_t dimensions, std::size_t count, double* out) {
  const Predictor::Row &x = slopes[0], &y = slopes[1], &z = slopes[2];
  switch (dimensions) {
    case 1:
      for (std::size_t g = 0; g < count; ++g) out[g] = parent[g] + offset[0] * x[g];
      break;
    case 2:
      for (std::size_t g = 0; g < count; ++g) out[g] = parent[g] + (offset[0] * x[g] + offset[1] * y[g]);
      break;
    default:
      along_three(parent, offset.data(), x.data(), y.data(), z.data(), count, out);
  }
}

SIDESTREAM_WIDE void numbers_only(std::size_t count, double* values) {
  for (std::size_t g = 0; g < count; ++g) values[g] = values[g] == values[g] ? values[g] : 0.0;
}

namespace {

/// Eight doubles in as many registers as the processor needs for them.
using Lanes = double __attribute__((vector_size(64)));
constexpr std::size_t width = sizeof(Lanes) / sizeof(double);

/// Vectors are passed by reference, because their calling convention depends on the version of the function.
inline __attribute__((always_inline)) void load(const double* from, Lanes& lanes) noexcept {
  std::memcpy(&lanes, from, sizeof lanes);
}
inline __attribute__((always_inline)) void store(const Lanes& lanes, double* to) noexcept {
  std::memcpy(to, &lanes, sizeof lanes);
}

}  // namespace

// Keeps sums in registers while shares or products are added.
SIDESTREAM_WIDE void add_shares(const double* from, const Share* shares, std::size_t number, std::size_t count,
                                double* out) {
  std::size_t g = 0;
  for (; g + 2 * width <= count; g += 2 * width) {
    Lanes a, b, one, two;
    load(from + g, a);
    load(from + g + width, b);
    for (std::size_t n = 0; n < number; ++n) {
      const double share = shares[n].share;
      const double* const of = shares[n].of + g;
      load(of, one);
      load(of + width, two);
      a += share * one;
      b += share * two;
    }
    store(a, out + g);
    store(b, out + g + width);
  }
  for (; g < count; ++g) {
    double sum = from[g];
    for (std::size_t n = 0; n < number; ++n) sum += shares[n].share * shares[n].of[g];
    out[g] = sum;
  }
}

SIDESTREAM_WIDE void add_products(const Product* products, std::size_t number, std::size_t count, double* out) {
  std::size_t g = 0;
  for (; g + 2 * width <= count; g += 2 * width) {
    Lanes sum, next, a, b, c, d;
    load(out + g, sum);
    load(out + g + width, next);
    for (std::size_t n = 0; n < number; ++n) {
      const Product& one = products[n];
      load(one.a + g, a);
      load(one.a + g + width, b);
      c = a;
      d = b;
      if (one.b != one.a) {
        load(one.b + g, c);
        load(one.b + g + width, d);
      }
      a = one.coefficient * a * c;
      b = one.coefficient * b * d;
      if (one.c != nullptr) {
        if (one.c != one.b) {
          load(one.c + g, c);
          load(one.c + g + width, d);
        }
        a *= c;
        b *= d;
      }
      sum += a;
      next += b;
    }
    store(sum, out + g);
    store(next, out + g + width);
  }
  for (; g < count; ++g) {
    for (std::size_t n = 0; n < number; ++n) {
      const Product one = products[n];
      const double product = one.coefficient * one.a[g] * one.b[g];
      out[g] += one.c != nullptr ? product * one.c[g] : product;
    }
  }
}

SIDESTREAM_WIDE void add_share(double share, const double* __restrict of, std::size_t count, double* __restrict to) {
  for (std::size_t g = 0; g < count; ++g) to[g] += share * of[g];
}

SIDESTREAM_WIDE void subtract(const double* __restrict a, const double* __restrict b, std::size_t count,
                              double* __restrict out) {
  for (std::size_t g = 0; g < count; ++g) out[g] = a[g] - b[g];
}

SIDESTREAM_WIDE void add(const double* __restrict a, const double* __restrict b, std::size_t count,
                         double* __restrict out) {
  for (std::size_t g = 0; g < count; ++g) out[g] = a[g] + b[g];
}

SIDESTREAM_WIDE void add_weighted(const double* __restrict weight, const double* __restrict value,
                                  const double* __restrict offset, std::size_t count, double* __restrict sum) {
  for (std::size_t g = 0; g < count; ++g) sum[g] += weight[g] * value[g] + offset[g];
}

SIDESTREAM_WIDE void solve_mean(const double* __restrict goal, const double* __restrict sum,
                                const double* __restrict offset, const double* __restrict weight, std::size_t count,
                                double* __restrict out) {
  for (std::size_t g = 0; g < count; ++g) out[g] = ((goal[g] - sum[g]) - offset[g]) / weight[g];
}

SIDESTREAM_WIDE void multiply(const double* __restrict by, std::size_t count, double* __restrict product) {
  for (std::size_t n = 0; n < count; ++n) product[n] *= by[n];
}

SIDESTREAM_WIDE void divide(const double* __restrict by, std::size_t count, double* __restrict product) {
  for (std::size_t n = 0; n < count; ++n) product[n] /= by[n];
}

SIDESTREAM_WIDE void scaled(double scale, const double* __restrict a, std::size_t count, double* __restrict out) {
  for (std::size_t n = 0; n < count; ++n) out[n] = scale * a[n];
}

SIDESTREAM_WIDE void add_flux(double ratio, const double* __restrict low, const double* __restrict high,
                              std::size_t count, double* __restrict out) {
  for (std::size_t n = 0; n < count; ++n) out[n] += ratio * (high[n] - low[n]);
}

}  // namespace sidestream::trees::prediction_loops
