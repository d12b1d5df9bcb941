// Averages at points from cells of many blocks. PointSums keeps the numbers that cells give to each point. Points on
// the rim of a block may have cells in other blocks; the rim consists of the faces with only one cell. Their numbers go
// to the server that owns the point's number (modulo the number of servers). It sorts and averages them, and the means
// of points with several blocks are gathered by all. slopes_of_cells fits a linear function to the corners of each cell
// by least squares (normal equations, solved by Cramer's rule).
#include "visualisation/mesh/cells/point_averages.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sidestream/kit/base/records.hpp"
#include "visualisation/mesh/cells/cell_shapes.hpp"
#include "visualisation/mesh/repeated_points.hpp"

namespace sidestream {
namespace {

/// The mean of component `c` of tuples of `width` numbers; NaN if there are none.
double mean_of(std::span<const double> numbers, std::size_t width, std::size_t c) {
  std::vector<double> values;
  for (std::size_t n = c; n < numbers.size(); n += width) {
    if (std::isnan(numbers[n])) return numbers[n];
    values.push_back(numbers[n]);
  }
  std::sort(values.begin(), values.end());
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? std::numeric_limits<double>::quiet_NaN() : sum / static_cast<double>(values.size());
}

/// The points of a face, ascending: two cells that share a face have equal lists.
using Face = std::vector<std::int64_t>;

void add_face(Face points, std::vector<Face>& faces) {
  std::sort(points.begin(), points.end());
  faces.push_back(std::move(points));
}

/// Adds the faces of a three-dimensional cell. Returns false for other cells; all of their points are then on the rim.
bool add_faces(const CellList& list, std::size_t cell, std::int64_t begin, std::vector<Face>& faces) {
  const std::uint8_t type = list.types()[cell];
  if (type == vtk_polyhedron) {
    for (const auto& loop : list.faces(cell)) add_face(loop, faces);
    return true;
  }
  const CellShape* shape = shape_of(type);
  if (shape == nullptr) return false;
  for (const auto& corners : shape->body.faces()) {
    Face points;
    for (const int corner : corners) points.push_back(static_cast<std::int64_t>(list.link(begin + corner)));
    add_face(std::move(points), faces);
  }
  return true;
}

/// The numbers that one block gave to one point of its rim.
struct Given {
  std::int64_t name = 0;
  std::array<double, 3> place{};
  std::vector<double> numbers;
};

std::vector<Given> read_given(BytesView bytes) {
  std::vector<Given> all;
  for (ByteReader in(bytes); !in.at_end();) {
    Given& given = all.emplace_back();
    in.get(given.name);
    in.get(given.place);
    in.get(given.numbers);
  }
  return all;
}

}  // namespace

SeamMeans::SeamMeans(BytesView bytes, std::size_t width) : width_(width) {
  if (bytes.empty()) return;
  ByteReader in(bytes);
  in.get(names_);
  in.get(places_);
  in.get(means_);
  in.get(reach_);
}

const double* SeamMeans::find(std::int64_t name, const std::array<double, 3>& place) const {
  const auto [first, last] = std::equal_range(names_.begin(), names_.end(), name);
  if (first == last) return nullptr;
  PointsOfOneNumber same(reach_);
  for (auto n = first - names_.begin(); n < last - names_.begin(); ++n) {
    same.add(places_[static_cast<std::size_t>(n)], n);
  }
  const std::int64_t known = same.at(place);
  return known < 0 ? nullptr : &means_[width_ * static_cast<std::size_t>(known)];
}

PointSums::PointSums(const CellList& list, std::size_t width) : list_(list), width_(width), given_(list.points()) {}

void PointSums::add(std::size_t cell, std::span<const double> numbers) {
  for (std::int64_t n = cell == 0 ? 0 : list_.end(cell - 1); n < list_.end(cell); ++n) {
    std::vector<double>& given = given_[list_.link(n)];
    given.insert(given.end(), numbers.begin(), numbers.end());
  }
}

/// Marks the points of faces that only one cell here has.
std::vector<char> PointSums::rim() const {
  std::vector<char> rim(list_.points(), 0);
  std::vector<Face> faces;
  for (std::size_t cell = 0; cell < list_.cells(); ++cell) {
    const std::int64_t begin = cell == 0 ? 0 : list_.end(cell - 1);
    if (!list_.counts(cell) || add_faces(list_, cell, begin, faces)) continue;
    for (std::int64_t n = begin; n < list_.end(cell); ++n) rim[list_.link(n)] = 1;
  }
  std::sort(faces.begin(), faces.end());
  for (std::size_t n = 0; n < faces.size(); ++n) {
    const bool twice = (n > 0 && faces[n - 1] == faces[n]) || (n + 1 < faces.size() && faces[n + 1] == faces[n]);
    if (twice) continue;
    for (const std::int64_t p : faces[n]) rim[static_cast<std::size_t>(p)] = 1;
  }
  return rim;
}

Bytes PointSums::seams() const {
  if (!list_.numbered_points()) return {};
  const std::vector<char> on_rim = rim();
  ByteWriter out;
  for (std::size_t p = 0; p < given_.size(); ++p) {
    if (!on_rim[p] || given_[p].empty()) continue;
    out.put(list_.point_name(p));
    out.put(list_.places()[p]);
    out.put(given_[p]);
  }
  return out.take();
}

std::vector<double> PointSums::means(const SeamMeans& seams) const {
  std::vector<double> means;
  for (std::size_t p = 0; p < given_.size(); ++p) {
    const double* shared = list_.numbered_points() ? seams.find(list_.point_name(p), list_.places()[p]) : nullptr;
    for (std::size_t c = 0; c < width_; ++c) means.push_back(shared ? shared[c] : mean_of(given_[p], width_, c));
  }
  return means;
}

namespace {

/// The numbers that blocks gave to the points that this server owns, by number and then place.
std::vector<Given> given_here(std::span<const Bytes> partials, Communicator& servers) {
  const auto count = static_cast<std::uint64_t>(servers.size());
  std::vector<ByteWriter> to(count);
  for (const Bytes& partial : partials) {
    for (const Given& given : read_given(partial)) {
      ByteWriter& out = to[static_cast<std::uint64_t>(given.name) % count];
      out.put(given.name);
      out.put(given.place);
      out.put(given.numbers);
    }
  }
  std::vector<Bytes> sent;
  for (ByteWriter& out : to) sent.push_back(out.take());
  std::vector<Given> here;
  for (const Bytes& bytes : servers.all_to_all(sent)) {
    for (Given& given : read_given(bytes)) here.push_back(std::move(given));
  }
  std::sort(here.begin(), here.end(), [](const Given& a, const Given& b) {
    return a.name != b.name ? a.name < b.name : order_of(a.place, b.place) < 0;
  });
  return here;
}

/// A point, and the numbers that all blocks gave to it.
struct Sum {
  Given all;
  int blocks = 0;
};

/// The points of `given`, by number and then place.
std::vector<Sum> sums_of(std::vector<Given> given, double reach) {
  std::vector<Sum> sums;
  PointsOfOneNumber same(reach);
  for (Given& next : given) {
    if (sums.empty() || sums.back().all.name != next.name) same.clear();
    const std::int64_t known = same.at(next.place);
    if (known < 0) {
      same.add(next.place, static_cast<std::int64_t>(sums.size()));
      sums.push_back({std::move(next), 1});
      continue;
    }
    Sum& sum = sums[static_cast<std::size_t>(known)];
    ++sum.blocks;
    sum.all.numbers.insert(sum.all.numbers.end(), next.numbers.begin(), next.numbers.end());
  }
  return sums;
}

}  // namespace

Bytes join_seams(std::span<const Bytes> partials, std::size_t width, Communicator& servers) {
  std::vector<Given> given = given_here(partials, servers);
  double reach = 0;
  for (const Given& one : given) reach = reach_of(std::span(&one.place, 1), reach);
  servers.maximum(std::span(&reach, 1));
  ByteWriter mine;
  for (const Sum& sum : sums_of(std::move(given), reach)) {
    if (sum.blocks < 2) continue;
    mine.put(sum.all.name);
    mine.put(sum.all.place);
    for (std::size_t c = 0; c < width; ++c) mine.put(mean_of(sum.all.numbers, width, c));
  }
  std::vector<Given> all;
  for (const Bytes& bytes : servers.all_gather(mine.bytes())) {
    for (ByteReader in(bytes); !in.at_end();) {
      Given& point = all.emplace_back();
      in.get(point.name);
      in.get(point.place);
      in.get_all(point.numbers, width);
    }
  }
  // All points of one number are from one server, in order.
  std::stable_sort(all.begin(), all.end(), [](const Given& a, const Given& b) { return a.name < b.name; });
  std::vector<std::int64_t> names;
  std::vector<std::array<double, 3>> places;
  std::vector<double> means;
  for (const Given& point : all) {
    names.push_back(point.name);
    places.push_back(point.place);
    means.insert(means.end(), point.numbers.begin(), point.numbers.end());
  }
  ByteWriter out;
  out.put(names);
  out.put(places);
  out.put(means);
  out.put(reach);
  return out.take();
}

PointSums sums_of_cells(const CellList& list, const std::vector<double>& in_cells) {
  PointSums sums(list, 1);
  for (std::size_t cell = 0; cell < list.cells(); ++cell) {
    if (list.counts(cell)) sums.add(cell, std::span(&in_cells[cell], 1));
  }
  return sums;
}

PointSums slopes_of_cells(const CellList& list, const std::vector<double>& at_points) {
  PointSums sums(list, 3);
  std::int64_t begin = 0;
  for (std::size_t cell = 0; cell < list.cells(); begin = list.end(cell++)) {
    const std::uint8_t type = list.types()[cell];
    if (!list.counts(cell) || (shape_of(type) == nullptr && type != vtk_polyhedron)) continue;
    const auto count = static_cast<double>(list.end(cell) - begin);
    std::array<double, 4> mean{};  // means of position and value
    const auto corner = [&](std::int64_t n) {
      const std::size_t p = list.link(n);
      const auto& x = list.places()[p];
      return std::array<double, 4>{x[0], x[1], x[2], at_points[p]};
    };
    for (std::int64_t n = begin; n < list.end(cell); ++n) {
      const auto x = corner(n);
      for (std::size_t d = 0; d < 4; ++d) mean[d] += x[d] / count;
    }
    std::array<std::array<double, 4>, 3> a{};  // three normal equations with their right sides
    for (std::int64_t n = begin; n < list.end(cell); ++n) {
      auto x = corner(n);
      for (std::size_t d = 0; d < 4; ++d) x[d] -= mean[d];
      for (std::size_t r = 0; r < 3; ++r) {
        for (std::size_t c = 0; c < 4; ++c) a[r][c] += x[r] * x[c];
      }
    }
    const auto determinant = [&](std::size_t i, std::size_t j, std::size_t k) {
      return a[0][i] * (a[1][j] * a[2][k] - a[1][k] * a[2][j]) - a[0][j] * (a[1][i] * a[2][k] - a[1][k] * a[2][i]) +
             a[0][k] * (a[1][i] * a[2][j] - a[1][j] * a[2][i]);
    };
    const double whole = determinant(0, 1, 2);
    const std::array<double, 3> slope{determinant(3, 1, 2) / whole, determinant(0, 3, 2) / whole,
                                      determinant(0, 1, 3) / whole};
    if (std::isfinite(slope[0] + slope[1] + slope[2])) sums.add(cell, slope);
  }
  return sums;
}

}  // namespace sidestream
