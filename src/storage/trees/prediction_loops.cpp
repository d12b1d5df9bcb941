#include "storage/trees/prediction_loops.hpp"

#include <cmath>

#include "storage/trees/wide.hpp"

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

template <std::size_t Sons>
void rows_of(const double* __restrict cells, std::size_t count, Predictor::Row* __restrict rows) {
  for (std::size_t g = 0; g < count; ++g) {
    for (std::size_t son = 0; son < Sons; ++son) rows[son][g] = cells[g * Sons + son];
  }
}

}  // namespace

void to_rows(const double* cells, std::size_t sons, std::size_t count, Predictor::Row* rows) {
  if (sons == 8) return rows_of<8>(cells, count, rows);
  if (sons == 4) return rows_of<4>(cells, count, rows);
  rows_of<2>(cells, count, rows);
}

SIDESTREAM_WIDE void add_slopes(bool central, const double* __restrict father, const Sides& sides, double factor,
                                std::size_t count, double* __restrict slope, double* __restrict change) {
  const double* __restrict below = sides.below;
  const double* __restrict above = sides.above;
  const Index* __restrict below_at = sides.below_at;
  const Index* __restrict above_at = sides.above_at;
  for (std::size_t g = 0; g < count; ++g) {
    const bool lower = below_at[g] >= 0, upper = above_at[g] >= 0;
    const double there = father[g] - below[g] * factor, here = above[g] * factor - father[g];
    const double down = lower ? there : 0.0, up = upper ? here : 0.0;
    const double both = down + up, half = 0.5 * both;
    const double flatter = std::fabs(down) < std::fabs(up) ? down : up;
    const double along = lower && upper ? half : both;
    const double limited = down * up > 0 ? flatter : 0.0;
    slope[g] = central ? along : limited;
    change[g] += std::fabs(up - down) + 0.25 * std::fabs(both);
  }
}

SIDESTREAM_WIDE void add_face_slopes(const double* __restrict father, const double* __restrict there,
                                     const Index* __restrict there_at, double factor, std::size_t count,
                                     double* __restrict slope, double* __restrict change) {
  for (std::size_t g = 0; g < count; ++g) {
    const double along = there[g] * factor - father[g];
    slope[g] = there_at[g] >= 0 ? along : 0.0;
    change[g] += 0.5 * std::fabs(slope[g]);
  }
}

SIDESTREAM_WIDE void along_three(const double* __restrict father, const double* __restrict offset,
                                 const double* __restrict x, const double* __restrict y, const double* __restrict z,
                                 std::size_t count, double* __restrict out) {
  const double a = offset[0], b = offset[1], c = offset[2];
  for (std::size_t g = 0; g < count; ++g) out[g] = father[g] + ((a * x[g] + b * y[g]) + c * z[g]);
}

void along_slopes(const double* father, const std::array<double, 3>& offset, const std::array<Predictor::Row, 3>& slopes,
                  std::size_t dimensions, std::size_t count, double* out) {
  const Predictor::Row &x = slopes[0], &y = slopes[1], &z = slopes[2];
  switch (dimensions) {
    case 1:
      for (std::size_t g = 0; g < count; ++g) out[g] = father[g] + offset[0] * x[g];
      break;
    case 2:
      for (std::size_t g = 0; g < count; ++g) out[g] = father[g] + (offset[0] * x[g] + offset[1] * y[g]);
      break;
    default:
      along_three(father, offset.data(), x.data(), y.data(), z.data(), count, out);
  }
}

SIDESTREAM_WIDE void numbers_only(std::size_t count, double* values) {
  for (std::size_t g = 0; g < count; ++g) values[g] = values[g] == values[g] ? values[g] : 0.0;
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

SIDESTREAM_WIDE void add_two(double coefficient, const double* __restrict a, const double* __restrict b,
                             std::size_t count, double* __restrict out) {
  for (std::size_t n = 0; n < count; ++n) out[n] += coefficient * a[n] * b[n];
}

SIDESTREAM_WIDE void add_three(double coefficient, const double* __restrict a, const double* __restrict b,
                               const double* __restrict c, std::size_t count, double* __restrict out) {
  for (std::size_t n = 0; n < count; ++n) out[n] += coefficient * a[n] * b[n] * c[n];
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

SIDESTREAM_WIDE void add_flow(double ratio, const double* __restrict low, const double* __restrict high,
                              std::size_t count, double* __restrict out) {
  for (std::size_t n = 0; n < count; ++n) out[n] += ratio * (high[n] - low[n]);
}

}  // namespace sidestream::trees::prediction_loops
