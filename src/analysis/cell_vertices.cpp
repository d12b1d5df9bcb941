#include "analysis/cell_vertices.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "analysis/tracer.hpp"

namespace sidestream {

namespace {

/// A surface passes about as many cells as a plane, and some folds.
std::size_t expected_vertices(std::size_t cells) {
  const double side = std::cbrt(static_cast<double>(cells));
  return static_cast<std::size_t>(4 * side * side);
}

}  // namespace

CellVertices::CellVertices(const CellContour& request, Piece& piece)
    : request_(request),
      piece_(piece),
      apart_(std::any_of(request.fields.begin(), request.fields.end(),
                         [](const CellField& field) { return field.centering == Centering::cell; })),
      known_(apart_ ? 0 : expected_vertices(request.list.cells())) {}

void CellVertices::enter(std::size_t cell) {
  cell_ = cell;
  name_ = request_.list.cell_name(cell);
  if (apart_ && !name_) name_ = request_.list.own_name(cell);
  first_ = vertices_.size();
}

std::int64_t CellVertices::between(std::size_t p, std::size_t q, double value) {
  if (request_.list.point_name(q) < request_.list.point_name(p)) std::swap(p, q);
  const double t = crossing(request_.numbers[p], request_.numbers[q], value);
  if (request_.merge_at_points && (t == 0 || t == 1)) return at(t == 0 ? p : q);
  return vertex(p, q, t);
}

std::int64_t CellVertices::vertex(std::size_t a, std::size_t b, double t) {
  const auto fresh = static_cast<std::int64_t>(vertices_.size());
  if (apart_) {
    for (std::size_t n = first_; n < vertices_.size(); ++n) {
      if (vertices_[n].a == a && vertices_[n].b == b) return static_cast<std::int64_t>(n);
    }
  } else {
    const std::uint64_t pair = static_cast<std::uint64_t>(a) << 32 | static_cast<std::uint64_t>(b);
    const std::int64_t number = known_.find_or_add(pair, fresh);
    if (number != fresh) return number;
  }
  vertices_.push_back({a, b, t, cell_});
  const auto& places = request_.list.places();
  piece_.points.push_back(mix(places[a], places[b], t));
  if (apart_) {
    piece_.keys.push_back(*name_);
    piece_.others.push_back(fresh - static_cast<std::int64_t>(first_));
  } else {
    piece_.keys.push_back(request_.list.point_name(a));
    piece_.others.push_back(request_.list.point_name(b));
  }
  return fresh;
}

void CellVertices::finish() {
  piece_.data.resize(request_.fields.size());
  for (std::size_t f = 0; f < request_.fields.size(); ++f) {
    const CellField& field = request_.fields[f];
    std::vector<double>& data = piece_.data[f];
    data.reserve(vertices_.size());
    for (const Vertex& v : vertices_) {
      if (field.values.empty()) {
        data.push_back(std::numeric_limits<double>::quiet_NaN());
      } else {
        data.push_back(field.centering == Centering::cell ? field.values[v.cell]
                                                          : mix(field.values[v.a], field.values[v.b], v.t));
      }
    }
  }
}

}  // namespace sidestream
