// Marching cells. Points are classified as inside, outside or without a number. A cell is visited if it has both kinds
// of corners: simple shapes use a table of all cases, polyhedra are cut face by face (Polyhedron::cut), and
// two-dimensional cells give the lines that cut off their inside corners. Triangles are reversed in mirrored cells.
#include "visualisation/contour/contour_cells.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "visualisation/contour/marching_cubes_cell.hpp"
#include "visualisation/mesh/cells/cell_shapes.hpp"
#include "visualisation/mesh/field_source.hpp"

namespace sidestream {

namespace {

using Place = std::array<double, 3>;
constexpr std::size_t most_corners = 8;  ///< largest number of shapes with a table

/// State of a point: outside, inside, or without a number or a position.
enum : std::uint8_t { below = 0, inside = 1, nowhere = 2 };

bool is_finite(const Place& x) { return std::isfinite(x[0]) && std::isfinite(x[1]) && std::isfinite(x[2]); }

std::vector<std::uint8_t> states_of(const CellContour& request, double value) {
  std::vector<std::uint8_t> states(request.numbers.size());
  for (std::size_t p = 0; p < states.size(); ++p) {
    const double number = request.numbers[p];
    const bool known = std::isfinite(number) && is_finite(request.list.places()[p]);
    states[p] = !known ? nowhere : number >= value ? inside : below;
  }
  return states;
}

/// The corners of a two-dimensional cell in cyclic order.
template <class Link>
std::vector<std::size_t> round_cell(std::uint8_t type, const Link* links, std::size_t count) {
  std::vector<std::size_t> loop;
  for (std::size_t n = 0; n < count; ++n) loop.push_back(static_cast<std::size_t>(links[n]));
  if (type == vtk_pixel && loop.size() == 4) std::swap(loop[2], loop[3]);
  return loop;
}

/// True if a cell of a two-dimensional mesh is clockwise.
bool runs_backwards(const CellList& list, const std::vector<std::size_t>& loop) {
  if (list.dimensions() != 2) return false;
  double area = 0;
  for (std::size_t n = 0; n < loop.size(); ++n) {
    const Place &a = list.places()[loop[n]], &b = list.places()[loop[(n + 1) % loop.size()]];
    const Place& o = list.places()[loop[0]];
    area += (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
  }
  return area < 0;
}

/// Positive if the faces run counter-clockwise seen from outside.
double volume_in(const std::vector<Place>& corners, const Polyhedron::Faces& faces) {
  const Place& o = corners[0];
  const auto from = [&](int corner) {
    const Place& x = corners[static_cast<std::size_t>(corner)];
    return Place{x[0] - o[0], x[1] - o[1], x[2] - o[2]};
  };
  double sum = 0;
  for (const std::vector<int>& face : faces) {
    for (std::size_t n = 2; n < face.size(); ++n) {
      const Place a = from(face[0]), b = from(face[n - 1]), c = from(face[n]);
      sum +=
          a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
    }
  }
  return sum;
}

/// A polyhedron of a list: its corners are points of the block.
struct Body {
  std::vector<std::size_t> points;
  Polyhedron shape;
};

Body body_of(const CellList& list, std::size_t cell) {
  Body body;
  Polyhedron::Faces faces;
  for (const auto& loop : list.faces(cell)) {
    std::vector<int>& face = faces.emplace_back();
    for (const std::int64_t point : loop) {
      const auto p = static_cast<std::size_t>(point);
      const auto at = std::find(body.points.begin(), body.points.end(), p);
      face.push_back(static_cast<int>(at - body.points.begin()));
      if (at == body.points.end()) body.points.push_back(p);
    }
  }
  try {
    body.shape = Polyhedron(static_cast<int>(body.points.size()), aligned(std::move(faces)));
  } catch (const std::invalid_argument& error) {
    list.refuse(cell, fmt::format("is a polyhedron whose faces do not close: {}", error.what()));
  }
  return body;
}

/// Traces one value through one block.
class CellTracer {
 public:
  CellTracer(const CellContour& request, double value, Piece& triangles, Piece& lines)
      : request_(request), value_(value), triangles_(request, triangles), lines_(request, lines) {
    for (std::size_t type = 0; type < shapes_.size(); ++type) shapes_[type] = shape_of(static_cast<std::uint8_t>(type));
  }

  void trace() {
    states_ = states_of(request_, value_);
    request_.list.links().visit(
        [&](auto links) { request_.list.ends().visit([&](auto ends) { pass(links.data(), ends.data()); }); });
    triangles_.finish();
    lines_.finish();
  }

 private:
  template <class Link, class End>
  void pass(const Link* links, const End* ends) {
    const std::size_t cells = request_.list.cells();
    const std::uint8_t* states = states_.data();
    std::size_t begin = 0;
    for (std::size_t cell = 0; cell < cells; ++cell) {
      const auto end = static_cast<std::size_t>(ends[cell]);
      std::uint8_t any = 0, all = inside;
      const auto look = [&](std::size_t n) {
        const std::uint8_t state = states[static_cast<std::size_t>(links[n])];
        any |= state;
        all &= state;
      };
      if (end - begin == 4) {  // mostly tetrahedra: no loop
        look(begin), look(begin + 1), look(begin + 2), look(begin + 3);
      } else {
        for (std::size_t n = begin; n < end; ++n) look(n);
      }
      if (any == inside && all == 0 && request_.list.counts(cell)) take(cell, links + begin, end - begin);
      begin = end;
    }
  }

  template <class Link>
  void take(std::size_t cell, const Link* links, std::size_t count) {
    const std::uint8_t type = request_.list.types()[cell];
    if (const CellShape* shape = shapes_[type]) {
      triangles_.enter(cell);
      take_shape(type, *shape, links);
    } else if (type == vtk_polyhedron) {
      triangles_.enter(cell);
      take_polyhedron(cell);
    } else if (is_flat_cell(type)) {
      lines_.enter(cell);
      take_flat(round_cell(type, links, count));
    }
  }

  template <class Link>
  void take_shape(std::uint8_t type, const CellShape& shape, const Link* links) {
    std::array<std::size_t, most_corners> points{};
    std::array<Place, most_corners> corners{};
    const auto count = static_cast<std::size_t>(shape.body.corners());
    std::size_t bits = 0;
    for (std::size_t n = 0; n < count; ++n) {
      points[n] = static_cast<std::size_t>(links[n]);
      corners[n] = request_.list.places()[points[n]];
      bits |= static_cast<std::size_t>(states_[points[n]]) << n;
    }
    const bool mirrored = request_.mirrored.value_or(orientation(type, std::span(corners).first(count)) < 0);
    const bool turned = request_.reverse != mirrored;
    const CellShape::Case& what = shape.cases[bits];
    for (std::size_t t = what.first; t < what.first + std::size_t{what.count}; ++t) {
      std::array<std::int64_t, 3> triangle;
      for (std::size_t v = 0; v < 3; ++v) {
        const auto [a, b] = shape.edges[shape.triangles[t][v]];
        triangle[v] = triangles_.between(points[a], points[b], value_);
      }
      add(triangle, turned);
    }
  }

  void take_polyhedron(std::size_t cell) {
    const Body body = body_of(request_.list, cell);
    std::vector<char> is_inside;
    std::vector<Place> corners;
    for (const std::size_t point : body.points) {
      if (states_[point] == nowhere) return;
      is_inside.push_back(static_cast<char>(states_[point]));
      corners.push_back(request_.list.places()[point]);
    }
    const bool turned = request_.reverse != (volume_in(corners, body.shape.faces()) < 0);
    for (const std::array<int, 3>& edges : body.shape.cut(is_inside)) {
      std::array<std::int64_t, 3> triangle;
      for (std::size_t v = 0; v < 3; ++v) {
        const auto [a, b] = body.shape.edges()[static_cast<std::size_t>(edges[v])];
        triangle[v] = triangles_.between(body.points[static_cast<std::size_t>(a)],
                                         body.points[static_cast<std::size_t>(b)], value_);
      }
      add(triangle, turned);
    }
  }

  void add(std::array<std::int64_t, 3> triangle, bool turned) {
    if (triangle[0] == triangle[1] || triangle[1] == triangle[2] || triangle[2] == triangle[0]) return;
    if (turned) std::swap(triangle[1], triangle[2]);
    triangles_.add(triangle, triangles_.piece().triangles);
  }

  /// Applies the rule for faces in three dimensions: stretches of inside corners are cut off.
  void take_flat(const std::vector<std::size_t>& loop) {
    const std::size_t count = loop.size();
    const bool turned = request_.reverse != request_.mirrored.value_or(runs_backwards(request_.list, loop));
    const auto is_inside = [&](std::size_t n) { return states_[loop[n % count]] == inside; };
    for (std::size_t n = 0; n < count; ++n) {
      if (!is_inside(n) || is_inside(n + 1)) continue;
      std::size_t back = n + count;
      while (is_inside(back - 1)) --back;
      std::array<std::int64_t, 2> line{lines_.between(loop[n], loop[(n + 1) % count], value_),
                                       lines_.between(loop[(back - 1) % count], loop[back % count], value_)};
      if (line[0] == line[1]) continue;
      if (turned) std::swap(line[0], line[1]);
      lines_.add(line, lines_.piece().lines);
    }
  }

  const CellContour& request_;
  const double value_;
  CellVertices triangles_, lines_;
  std::array<const CellShape*, 256> shapes_{};  ///< by type
  std::vector<std::uint8_t> states_;
};

}  // namespace

std::vector<CellField> cell_fields(const std::vector<std::int32_t>& variables, const LocalInput& input,
                                   const Block& block, const CellList& list) {
  std::vector<CellField> fields;
  for (const std::int32_t id : variables) {
    const Variable& variable = input.metadata.variables.at(static_cast<std::size_t>(id));
    const BlockView* view = input.find(id, block.id);
    for (int c = 0; c < variable.components; ++c) {
      std::vector<double> values = view ? numbers_of(*view, c) : std::vector<double>{};
      if (variable.centering == Centering::cell) values = list.in_cells(std::move(values));
      fields.push_back({variable.centering, std::move(values)});
    }
  }
  return fields;
}

std::vector<Piece> contour_cells(const CellContour& request, std::span<const double> values) {
  std::vector<Piece> pieces;
  for (std::size_t v = 0; v < values.size(); ++v) {
    Piece triangles, lines;
    triangles.layer = lines.layer = static_cast<std::int32_t>(v);
    CellTracer(request, values[v], triangles, lines).trace();
    pieces.push_back(std::move(triangles));
    if (!lines.lines.empty()) pieces.push_back(std::move(lines));
  }
  return pieces;
}

Piece all_flat_cells(const CellContour& request) {
  Piece piece;
  CellVertices vertices(request, piece);
  const CellList& list = request.list;
  list.links().visit([&](auto links) {
    std::size_t begin = 0;
    for (std::size_t cell = 0; cell < list.cells(); ++cell) {
      const auto end = static_cast<std::size_t>(list.ends()[cell]);
      const std::uint8_t type = list.types()[cell];
      const auto loop =
          is_flat_cell(type) ? round_cell(type, links.data() + begin, end - begin) : std::vector<std::size_t>{};
      begin = end;
      const auto placed = [&](std::size_t point) { return is_finite(list.places()[point]); };
      if (loop.size() < 3 || !list.counts(cell) || !std::all_of(loop.begin(), loop.end(), placed)) continue;
      vertices.enter(cell);
      const bool turned = request.reverse != runs_backwards(list, loop);
      for (std::size_t n = 2; n < loop.size(); ++n) {
        std::array<std::int64_t, 3> triangle{vertices.at(loop[0]), vertices.at(loop[n - 1]), vertices.at(loop[n])};
        if (turned) std::swap(triangle[1], triangle[2]);
        vertices.add(triangle, piece.triangles);
      }
    }
  });
  vertices.finish();
  return piece;
}

void require_points(const Settings& settings, const std::string& option, const Variable& variable, const Mesh& mesh) {
  if (variable.centering != Centering::cell) return;
  if (option == "fields") {
    settings.fail(option,
                  fmt::format("'{}' lies in the cells of mesh '{}', which is unstructured; `fields` are taken to the "
                              "corners of a surface there and have to lie at points, wherever the surface's variable "
                              "lies: average '{}' to the points in the simulation, or leave it out of `fields`",
                              variable.name, mesh.name, variable.name));
  }
  settings.fail(option,
                fmt::format("'{}' lies in the cells of mesh '{}', which is unstructured; surfaces in it are made "
                            "of values at points: average it to them in the simulation, or take a slice of it",
                            variable.name, mesh.name));
}

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
