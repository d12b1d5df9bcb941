// The loops over a tile that predictions are made of. None looks at what it writes; numbers are in rows, a row for each
// child.
#pragma once

#include "storage/trees/values/prediction.hpp"

namespace sidestream::trees::prediction_loops {

/// `out` becomes every `stride`-th number, of the groups of a sequence if there is one.
void pick_numbers(const Index* numbers, std::size_t stride, const std::uint32_t* sequence, std::size_t count,
                  Index* out);

/// Of each group `children` numbers one behind the other become a row for each child.
void to_rows(const double* cells, std::size_t children, std::size_t count, Predictor::Row* rows);

/// On each side of a parent what is beside it, and its number, below 0 where there is nothing.
struct Sides {
  const double *below, *above;
  const Index *below_at, *above_at;
};

/// Slopes, and what the parents change by, added to `change`.
void add_slopes(bool central, const double* parent, const Sides& sides, double factor, std::size_t count, double* slope,
                double* change);
/// From the parent's face to the one at its other side.
void add_face_slopes(const double* parent, const double* there, const Index* there_at, double factor, std::size_t count,
                     double* slope, double* change);

/// parent + (((x of x) + (y of y)) + (z of z)).
void along_slopes(const double* parent, const std::array<double, 3>& offset,
                  const std::array<Predictor::Row, 3>& slopes, std::size_t dimensions, std::size_t count, double* out);

/// What is no number becomes 0: which of them it is differs from machine to machine.
void numbers_only(std::size_t count, double* values);

/// So much of a row.
struct Share {
  double share;
  const double* of;
};
/// out = from + the shares, one after the other.
void add_shares(const double* from, const Share* shares, std::size_t number, std::size_t count, double* out);
void add_share(double share, const double* of, std::size_t count, double* to);
void subtract(const double* a, const double* b, std::size_t count, double* out);
void add(const double* a, const double* b, std::size_t count, double* out);
void add_weighted(const double* weight, const double* value, const double* offset, std::size_t count, double* sum);
/// ((goal - sum) - offset) / weight.
void solve_mean(const double* goal, const double* sum, const double* offset, const double* weight, std::size_t count,
                double* out);

/// coefficient * a * b (* c), from left to right; two factors if c is null.
struct Product {
  double coefficient;
  const double *a, *b, *c;
};
/// out += the products, one after the other.
void add_products(const Product* products, std::size_t number, std::size_t count, double* out);
void multiply(const double* by, std::size_t count, double* product);
void divide(const double* by, std::size_t count, double* product);
/// out = scale * a.
void scaled(double scale, const double* a, std::size_t count, double* out);
/// out += ratio * (high - low).
void add_flux(double ratio, const double* low, const double* high, std::size_t count, double* out);

}  // namespace sidestream::trees::prediction_loops
