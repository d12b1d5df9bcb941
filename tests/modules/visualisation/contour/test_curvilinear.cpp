// Slices and surfaces of curvilinear meshes lie where they should, are closed, and do not depend on the division.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <numbers>

#include "data/mesh_arrays.hpp"
#include "sidestream/error.hpp"
#include "support/fake_domain.hpp"
#include "support/message_of.hpp"
#include "support/ranks.hpp"
#include "support/surface_checks.hpp"
#include "visualisation/kinds.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

using Map = std::function<Vector(double, double, double)>;
using Scalar = std::function<double(const Vector&)>;

/// The position of a point on a mesh of n cells from -1 to 1 along each axis, which `map` deforms.
Vector place(const Map& map, Index n, int dimensions, Centering centering, const Index3& p) {
  const auto node = [&](Index i, Index j, Index k) {
    const auto at = [&](Index m) { return -1 + 2 * static_cast<double>(m) / static_cast<double>(n); };
    return map(at(i), at(j), dimensions == 2 ? 0 : at(k));
  };
  if (centering != Centering::cell) return node(p[0], p[1], p[2]);
  Vector sum{};
  for (int c = 0; c < 8; ++c) {
    const Vector x = node(p[0] + (c & 1), p[1] + (c >> 1 & 1), p[2] + (c >> 2));
    for (std::size_t d = 0; d < 3; ++d) sum[d] += x[d] / 8;
  }
  return sum;
}

struct Field {
  std::string name;
  Scalar value;
  Centering centering = Centering::cell;
};

FakeDomain curved(Index n, const Map& map, const std::vector<Field>& given, int dimensions = 3) {
  std::vector<FakeField> fields;
  for (const Field& field : given) {
    fields.push_back({field.name,
                      [=](const Vector&, const Index3& p, int) {
                        return field.value(place(map, n, dimensions, reduced(field.centering, dimensions), p));
                      },
                      field.centering});
  }
  fields.push_back({"pos",
                    [=](const Vector&, const Index3& p, int c) {
                      return place(map, n, dimensions, Centering::node, p)[static_cast<std::size_t>(c)];
                    },
                    Centering::node, dimensions});
  FakeDomain domain({{0, 0, 0}, {n, n, dimensions == 2 ? 1 : n}},
                    std::make_shared<ArrayGeometry>(MeshKind::curvilinear), std::move(fields), dimensions);
  assign_role(domain.metadata, "grid", Role::coordinates, "pos");
  return domain;
}

/// A deformation that keeps the faces of the cube where they are.
Vector bent(double x, double y, double z) {
  const double w = 0.1 * (1 - x * x) * (1 - y * y) * (1 - z * z);
  return {x + w * std::sin(3 * y + z), y + w * std::cos(2 * z - x), z + w * std::sin(2 * x + 3 * y)};
}
Vector mirrored(double x, double y, double z) { return bent(-x, y, z); }
/// A ring from radius 1 to 3, from z -1 to 1.
Vector ring(double x, double y, double z) {
  const double r = 2 + x, angle = std::numbers::pi * (y + 1);
  return {r * std::cos(angle), r * std::sin(angle), z};
}
Vector bent_square(double x, double y, double) {
  const double w = 0.1 * (1 - x * x) * (1 - y * y);
  return {x + w * std::sin(3 * y), y + w * std::cos(2 * x), 0};
}

double radius(const Vector& x) { return norm(x); }
double linear(const Vector& x) { return 2 * x[0] - 3 * x[1] + 0.5 * x[2] + 1; }

Surface surface_of(const CapturedResults& results) {
  REQUIRE(results.surfaces.size() == 1);
  return results.surfaces.begin()->second;
}

Surface make(const AnalysisKind& kind, const std::string& yaml, const FakeDomain& domain, const Division& division) {
  return surface_of(run_alone(kind, yaml, domain, division, {.ghosts = 1, .partials = 2}));
}

std::vector<Division> divisions(const Box& cells) {
  return {{cells},
          even_division(cells, {2, 1, 1}),
          even_division(cells, {1, 1, 3}),
          random_division(cells, 5, 2),
          random_division(cells, 8, 3)};
}

double length_of(const Surface& s) {
  double sum = 0;
  for (const auto& [a, b] : s.lines) sum += norm(minus(s.points[b], s.points[a]));
  return sum;
}

}  // namespace

TEST_CASE("a sphere closes, encloses its volume, and its normals point outwards") {
  for (const Centering centering : {Centering::cell, Centering::node}) {
    for (const Map& map : {Map(bent), Map(mirrored)}) {
      const FakeDomain domain = curved(24, map, {{"r", radius, centering}, {"a", linear, Centering::node}});
      const Scalar falling = [](const Vector& x) { return -norm(x); };
      const FakeDomain inverse = curved(24, map, {{"r", falling, centering}});
      const Surface s = make(isosurface_kind(), "{variable: r, values: [0.7], fields: [a]}", domain,
                             random_division(domain.mesh().cells, 5, 2));
      const Edges edges = edges_of(s);
      CHECK(edges.sound);
      CHECK(edges.rim == 0);
      CHECK(euler_characteristic(s) == 2);
      // Lower values are inside, and triangles are counter-clockwise seen from them.
      CHECK(volume(s) == doctest::Approx(-4.0 / 3 * std::numbers::pi * 0.343).epsilon(0.01));
      CHECK(volume(make(isosurface_kind(), "{variable: r, values: [-0.7]}", inverse, {domain.mesh().cells})) > 1.3);
      REQUIRE(s.point_data.size() == 3);
      REQUIRE(s.point_data[2].name == "normals");
      for (std::size_t p = 0; p < s.points.size(); ++p) {
        const Vector& x = s.points[p];
        CHECK(norm(x) == doctest::Approx(0.7).epsilon(0.01));
        CHECK(s.point_data[0].values[p] == doctest::Approx(linear(x)).epsilon(0.02));
        const double* n = &s.point_data[2].values[3 * p];
        CHECK(dot({n[0], n[1], n[2]}, x) / norm(x) < -0.995);
      }
    }
  }
}

TEST_CASE("a slice has the area of the cut, reaches the faces, and has values that are linear where the field is") {
  for (const Centering centering : {Centering::cell, Centering::node}) {
    const FakeDomain domain = curved(12, bent, {{"a", linear, centering}});
    for (const char* plane : {"axis: z, position: 0.1", "axis: x, position: 0", "axis: y, position: -1",
                              "normal: [0, 0, -2], origin: [0, 0, 0.3]", "normal: [1, 1, 0], origin: [0, 0, 0]"}) {
      const Surface s = make(slice_kind(), fmt::format("{{variable: a, {}}}", plane), domain,
                             random_division(domain.mesh().cells, 5, 2));
      const std::string_view name = plane;
      if (name.find("-1") != std::string_view::npos) {
        CHECK(s.triangles.empty());  // the mesh is on one side of it
        continue;
      }
      CHECK(edges_of(s).sound);
      CHECK(area(s) == doctest::Approx(name.starts_with("normal: [1") ? 4 * std::sqrt(2.0) : 4.0).epsilon(1e-12));
      const Vector up = name.starts_with("normal: [0")   ? Vector{0, 0, -1}
                        : name.starts_with("normal: [1") ? Vector{1, 1, 0}
                        : name.starts_with("axis: x")    ? Vector{1, 0, 0}
                                                         : Vector{0, 0, 1};
      for (std::size_t t = 0; t < s.triangles.size(); ++t) CHECK(dot(spanned(s, t), up) > -1e-15);
      for (std::size_t p = 0; p < s.points.size(); ++p) {
        const Vector& x = s.points[p];
        if (centering == Centering::cell && std::max({std::fabs(x[0]), std::fabs(x[1]), std::fabs(x[2])}) > 0.9)
          continue;
        CHECK(s.point_data[0].values[p] == doctest::Approx(linear(x)));
      }
    }
  }
}

TEST_CASE("a ring that meets itself is cut twice") {
  const FakeDomain domain = curved(32, ring, {{"a", linear, Centering::node}});
  const Surface s = make(slice_kind(), "{variable: a, normal: [1, 1, 0], origin: [0, 0, 0]}", domain,
                         random_division(domain.mesh().cells, 8, 2));
  CHECK(parts(s) == 2);
  CHECK(area(s) == doctest::Approx(8).epsilon(0.01));
  const Surface plane = make(slice_kind(), "{variable: a, axis: z, position: 0}", domain, {domain.mesh().cells});
  CHECK(area(plane) == doctest::Approx(8 * std::numbers::pi).epsilon(0.01));
}

TEST_CASE("a mesh of two dimensions has lines, and along z it is drawn as it is") {
  for (const Centering centering : {Centering::cell, Centering::node}) {
    const FakeDomain domain = curved(40, bent_square, {{"r", radius, centering}}, 2);
    for (const Division& division : {Division{domain.mesh().cells}, even_division(domain.mesh().cells, {3, 2, 1})}) {
      const Surface s = make(isosurface_kind(), "{variable: r, values: 0.6}", domain, division);
      CHECK(s.triangles.empty());
      CHECK(length_of(s) == doctest::Approx(2 * std::numbers::pi * 0.6).epsilon(0.003));
      double inside = 0;
      for (const auto& [a, b] : s.lines) {
        inside += 0.5 * (s.points[a][0] * s.points[b][1] - s.points[a][1] * s.points[b][0]);
      }
      CHECK(inside == doctest::Approx(-std::numbers::pi * 0.36).epsilon(0.003));  // lower values are on the right
      const Surface cut = make(slice_kind(), "{variable: r, axis: x, position: 0.1}", domain, division);
      CHECK(length_of(cut) == doctest::Approx(2));
      const Surface all = make(slice_kind(), "{variable: r, axis: z}", domain, division);
      CHECK(area(all) == doctest::Approx(4));
      for (std::size_t t = 0; t < all.triangles.size(); ++t) CHECK(spanned(all, t)[2] > 0);
    }
  }
}

TEST_CASE("the same bytes for every division, on every number of servers") {
  MpiCommunicator world(test_ranks());
  for (const Centering centering : {Centering::cell, Centering::node}) {
    const FakeDomain domain = curved(10, bent, {{"r", radius, centering}, {"a", linear, Centering::cell}});
    const std::pair<AnalysisKind, std::string> all[] = {
        {isosurface_kind(), "{variable: r, values: [0.3, 0.8], fields: [a]}"},
        {slice_kind(), "{variable: r, axis: y, position: 0.1, fields: [a]}"},
        {slice_kind(), "{variable: r, normal: [1, -2, 0.7], origin: [0, 0, 0]}"},
    };
    const std::string scene =
        "{slice: {variable: a, axis: z, position: 0.2}, isosurface: {variable: r, values: [0.3, 0.8]}, size: [90, 70]}";
    const CapturedResults picture = run_alone(render_kind(), scene, domain, {domain.mesh().cells});
    for (const Division& division : divisions(domain.mesh().cells)) {
      const CapturedResults made = run_analysis(render_kind(), scene, domain, division, world, {.partials = 2});
      if (world.rank() == 0) CHECK(picture.images.begin()->second.rgba == made.images.begin()->second.rgba);
    }
    for (const auto& [kind, yaml] : all) {
      const Surface reference = make(kind, yaml, domain, {domain.mesh().cells});
      CHECK(!reference.triangles.empty());
      for (const Division& division : divisions(domain.mesh().cells)) {
        const CapturedResults made = run_analysis(kind, yaml, domain, division, world, {.ghosts = 1, .partials = 2});
        if (world.rank() == 0) CHECK(same_bits(reference, surface_of(made)));
      }
    }
  }
}

TEST_CASE("nothing is where values or places are missing, and one cell is enough") {
  const Map torn = [](double x, double y, double z) {
    Vector at = bent(x, y, z);
    if (x == 0 && y == 0) at[1] = std::nan("");
    return at;
  };
  const FakeDomain domain =
      curved(8, torn, {{"k", [](const Vector& x) { return std::isnan(x[1]) ? 0 : x[2]; }, Centering::node}});
  for (const Division& division : divisions(domain.mesh().cells)) {
    const Surface s = make(isosurface_kind(), "{variable: k, values: 0.1, normals: true}", domain, division);
    CHECK(area(s) == doctest::Approx(4 - 4.0 / 16).epsilon(0.05));
    for (const Vector& x : s.points) CHECK(std::isfinite(x[0] + x[1] + x[2]));
    for (const double n : s.point_data[1].values) CHECK(std::isfinite(n));
    CHECK(area(make(slice_kind(), "{variable: k, axis: z, position: 0.1}", domain, division)) ==
          doctest::Approx(4 - 4.0 / 16).epsilon(0.05));
  }
  const FakeDomain one = curved(1, bent, {{"a", linear, Centering::node}, {"c", linear, Centering::cell}});
  CHECK(area(make(slice_kind(), "{variable: a, axis: z, position: 0}", one, {one.mesh().cells})) == 4);
  CHECK(area(make(slice_kind(), "{variable: c, axis: z, position: 0}", one, {one.mesh().cells})) == 4);
  CHECK(make(isosurface_kind(), "{variable: c, values: 1}", one, {one.mesh().cells}).triangles.empty());
  const FakeDomain absent = curved(8, bent, {{"a", linear, Centering::node}});
  const Division halves = even_division(absent.mesh().cells, {2, 1, 1});
  const Surface s =
      surface_of(run_alone(slice_kind(), "{variable: a, axis: z, position: 0.1}", absent, halves, {.absent = {1}}));
  CHECK(area(s) == doctest::Approx(2).epsilon(0.05));
}

TEST_CASE("a picture goes by where the mesh is, or by the domain that is given") {
  const auto picture = [](const Map& map, const std::string& options) {
    const FakeDomain domain = curved(8, map, {{"r", radius, Centering::node}});
    const std::string scene =
        "{slice: {variable: r, axis: z, position: 0, range: [0, 5]}, caption: none, size: [64, 64]";
    return run_alone(render_kind(), scene + options + "}", domain, {domain.mesh().cells}).images.begin()->second.rgba;
  };
  const Map twice = [](double x, double y, double z) { return Vector{2 * x, 2 * y, 2 * z}; };
  const Map straight = [](double x, double y, double z) { return Vector{x, y, z}; };
  CHECK(picture(straight, "") == picture(straight, ", domain: [-1, -1, -1, 1, 1, 1]"));
  CHECK(picture(twice, "") == picture(twice, ", domain: [-2, -2, -2, 2, 2, 2]"));
  CHECK(picture(twice, "") != picture(twice, ", domain: [-1, -1, -1, 1, 1, 1]"));
  CHECK(contains(message_of([&] { picture(straight, ", domain: [0, 0, 1, 1, 1, 0]"); }), "found 1 to 0 on axis z"));
}

TEST_CASE("what cannot be had is said") {
  const FakeDomain domain = curved(4, bent, {{"a", linear, Centering::node}});
  const auto refusal = [&](const std::string& yaml) {
    return message_of([&] { make(slice_kind(), yaml, domain, {domain.mesh().cells}); });
  };
  CHECK(refusal("{variable: a, axis: z}").find("only its coordinates say; write where the plane is, as `position`") !=
        std::string::npos);
  CHECK(refusal("{variable: a, normal: [1, 1, 0]}").find("as `origin`") != std::string::npos);
}
