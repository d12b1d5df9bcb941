// Inner loops of predictions over a tile. Outputs never alias inputs. Each child has a row of numbers.
#pragma once

#include "amr_codec/values/prediction.hpp"

namespace sidestream::trees::prediction_loops {

/// Picks every `stride`-th number, in the order of `sequence` if that is not null.
void pick_numbers(const Index* numbers, std::size_t stride, const std::uint32_t* sequence, std::size_t count,
                  Index* out);

/// Transposes groups of `children` consecutive numbers to a row for each child.
void to_rows(const double* cells, std::size_t children, std::size_t count, Predictor::Row* rows);

/// The neighbours of parents along one axis: values and numbers; a number below 0 means that there is none.
struct Sides {
  const double *below, *above;
  const Index *below_at, *above_at;
};

/// Computes slopes along one axis, and adds how much the parents change to `change`.
void add_slopes(bool central, const double* parent, const Sides& sides, double factor, std::size_t count, double* slope,
                double* change);
/// Does the same from the parent's face to the opposite one.
void add_face_slopes(const double* parent, const double* there, const Index* there_at, double factor, std::size_t count,
                     double* slope, double* change);

/// out = parent + ((offset x * slope x + offset y * slope y) + offset z * slope z).
void along_slopes(const double* parent, const std::array<double, 3>& offset,
                  const std::array<Predictor::Row, 3>& slopes, std::size_t dimensions, std::size_t count, double* out);

/// Replaces NaN by 0: its bits differ from machine to machine.
void numbers_only(std::size_t count, double* values);

/// A row and its factor.
struct Share {
  double share;
  const double* of;
};
/// out = from + share * row of each, added in their order.
void add_shares(const double* from, const Share* shares, std::size_t number, std::size_t count, double* out);
void add_share(double share, const double* of, std::size_t count, double* to);
void subtract(const double* a, const double* b, std::size_t count, double* out);
void add(const double* a, const double* b, std::size_t count, double* out);
void add_weighted(const double* weight, const double* value, const double* offset, std::size_t count, double* sum);
/// out = ((goal - sum) - offset) / weight.
void solve_mean(const double* goal, const double* sum, const double* offset, const double* weight, std::size_t count,
                double* out);

/// The product coefficient * a * b (* c), from left to right; without c if it is null.
struct Product {
  double coefficient;
  const double *a, *b, *c;
};
/// Adds the products to `out` in their order.
void add_products(const Product* products, std::size_t number, std::size_t count, double* out);
void multiply(const double* by, std::size_t count, double* product);
void divide(const double* by, std::size_t count, double* product);
/// out = scale * a.
void scaled(double scale, const double* a, std::size_t count, double* out);
/// out += ratio * (high - low).
void add_flux(double ratio, const double* low, const double* high, std::size_t count, double* out);

}  // namespace sidestream::trees::prediction_loops
