#include "visualisation/contour/cell_vertices.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "visualisation/contour/marching_cubes_cell.hpp"

namespace sidestream {

constexpr int part_shift = 32;  ///< the bits below it count the vertices of one part of a cell

CellVertices::CellVertices(const CellContour& request, Piece& piece)
    : request_(request),
      piece_(piece),
      apart_(std::any_of(request.fields.begin(), request.fields.end(),
                         [](const CellField& field) { return field.centering == Centering::cell; })) {}

void CellVertices::enter(std::size_t cell) {
  cell_ = cell;
  name_ = request_.list.cell_name(cell);
  if (apart_ && !name_) name_ = request_.list.own_name(cell);
  part_ = request_.list.part(cell);
  first_ = vertices_.size();
}

std::int64_t CellVertices::between(std::size_t p, std::size_t q, double value) {
  if (request_.list.comes_before(q, p)) std::swap(p, q);
  const auto t = [&] { return crossing(request_.numbers[p], request_.numbers[q], value); };
  if (!request_.merge_at_points) {
    const std::int64_t known = find(p, q);
    return known >= 0 ? known : add_vertex(p, q, t());
  }
  const double where = t();
  return where == 0 ? at(p) : where == 1 ? at(q) : vertex(p, q, where);
}

std::int64_t CellVertices::vertex(std::size_t a, std::size_t b, double t) {
  const std::int64_t known = find(a, b);
  return known >= 0 ? known : add_vertex(a, b, t);
}

std::int64_t CellVertices::find(std::size_t a, std::size_t b) const noexcept {
  if (apart_) {
    for (std::size_t n = first_; n < vertices_.size(); ++n) {
      if (vertices_[n].a == a && vertices_[n].b == b) return static_cast<std::int64_t>(n);
    }
    return -1;
  }
  std::int64_t n = last_.empty() ? -1 : last_[a];
  while (n >= 0 && vertices_[static_cast<std::size_t>(n)].b != b) n = vertices_[static_cast<std::size_t>(n)].next;
  return n;
}

std::int64_t CellVertices::add_vertex(std::size_t a, std::size_t b, double t) {
  const auto fresh = static_cast<std::int64_t>(vertices_.size());
  if (!apart_ && last_.empty()) last_.assign(request_.list.points(), -1);
  vertices_.push_back({a, b, t, cell_, apart_ ? -1 : std::exchange(last_[a], fresh)});
  const auto& places = request_.list.places();
  piece_.points.push_back(mix(places[a], places[b], t));
  if (apart_) {
    piece_.keys.push_back(*name_);
    piece_.others.push_back(part_ << part_shift | (fresh - static_cast<std::int64_t>(first_)));
  } else {
    piece_.keys.push_back(request_.list.point_name(a));
    piece_.others.push_back(request_.list.point_name(b));
  }
  return fresh;
}

/// The normal points towards lower numbers; without a slope, along z.
std::array<double, 3> CellVertices::normal_at(const Vertex& v) const {
  std::array<double, 3> n;
  double squares = 0;
  for (std::size_t d = 0; d < 3; ++d) {
    n[d] = -mix(request_.slopes[3 * v.a + d], request_.slopes[3 * v.b + d], v.t);
    squares += n[d] * n[d];
  }
  const double length = std::sqrt(squares);
  if (!(length > 0) || !std::isfinite(length)) return {0, 0, 1};
  for (double& one : n) one /= length;
  return n;
}

void CellVertices::finish() {
  if (!request_.slopes.empty()) {
    for (const Vertex& v : vertices_) piece_.normals.push_back(normal_at(v));
  }
  piece_.data.resize(request_.fields.size());
  for (std::size_t f = 0; f < request_.fields.size(); ++f) {
    const CellField& field = request_.fields[f];
    std::vector<double>& data = piece_.data[f];
    data.reserve(vertices_.size());
    for (const Vertex& v : vertices_) {
      if (field.values.empty()) {
        data.push_back(std::numeric_limits<double>::quiet_NaN());
      } else {
        data.push_back(field.centering == Centering::cell
                           ? field.values[v.cell]
                           : mix(field.values[v.a], field.values[v.b], v.t, request_.period));
      }
    }
  }
}

}  // namespace sidestream
