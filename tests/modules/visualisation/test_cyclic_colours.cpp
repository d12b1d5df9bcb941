// Cyclic colours: pictures do not depend on where a phase jumps, on meshes of each kind.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "support/fake_lists.hpp"
#include "support/message_of.hpp"
#include "support/ranks.hpp"
#include "visualisation/kinds.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

constexpr double pi = 3.14159265358979323846;

/// The phase of a wave with vortices at the third axis, from -pi to pi or from 0 to 2 pi.
double upper(const Place& x) { return std::atan2(x[1] - 0.013, x[0] + 0.017); }
double lower(const Place& x) { return upper(x) < 0 ? upper(x) + 2 * pi : upper(x); }
double radius(const Place& x) { return std::hypot(x[0], x[1]); }

FakeDomain cube(bool curved) {
  const auto place = [](const Index3& p) {
    Place x{};
    for (std::size_t a = 0; a < 3; ++a) x[a] = -1 + 0.2 * static_cast<double>(p[a]);
    return x;
  };
  const auto field = [&](double (*f)(const Place&)) {
    return [=](auto&, const Index3& p, int) { return f(place(p)); };
  };
  std::vector<FakeField> fields{
      {"pos", [=](auto&, const Index3& p, int c) { return place(p)[static_cast<std::size_t>(c)]; }, Centering::node, 3},
      {"upper", field(upper), Centering::node},
      {"lower", field(lower), Centering::node},
      {"radius", field(radius), Centering::node}};
  if (!curved) return fake_cube(10, -1, 1, fields);
  FakeDomain domain({{0, 0, 0}, {10, 10, 10}}, std::make_shared<ArrayGeometry>(MeshKind::curvilinear), fields);
  domain.metadata.variables[0].role = Role::coordinates;
  domain.metadata.meshes[0].arrays[static_cast<std::size_t>(Role::coordinates)] = 0;
  return domain;
}

const std::string plain = "colours: twilight, outline: false, colour_bar: false, caption: none, size: [80, 80]";

Image picture(const FakeDomain& domain, const std::string& yaml) {
  return run_alone(render_kind(), yaml, domain, {domain.mesh().cells}, {.ghosts = 1}).images.begin()->second;
}

/// The number of pixels whose colours differ visibly.
std::size_t different(const Image& a, const Image& b) {
  std::size_t count = 0;
  for (std::size_t p = 0; p < a.rgba.size(); p += 4) {
    int most = 0;
    for (std::size_t c = 0; c < 3; ++c) most = std::max(most, std::abs(a.rgba[p + c] - b.rgba[p + c]));
    count += most > 6 ? 1 : 0;
  }
  return count;
}

std::string coloured(const std::string& layer, const std::string& scale) {
  return "{" + layer + ", " + scale + ", " + plain + "}";
}

const std::string cyclic = "scale: cyclic, range: [-3.141592653589793, 3.141592653589793]";
const std::string linear = "range: [-3.141592653589793, 3.141592653589793]";

}  // namespace

TEST_CASE("the same picture wherever the phase jumps") {
  for (const bool curved : {false, true}) {
    const FakeDomain domain = cube(curved);
    const auto surface = [](const std::string& phase) {
      return "isosurface: {variable: radius, values: [0.63], colour_by: " + phase + "}";
    };
    const auto slice = [](const std::string& phase) {
      return "slice: {variable: " + phase + ", normal: [0.3, 0.1, 1], origin: [0, 0, 0.07]}";
    };
    const Image round = picture(domain, coloured(surface("upper"), cyclic));
    CHECK(different(round, picture(domain, coloured(surface("lower"), cyclic))) <= 4);
    // Otherwise colours of all values lie between both sides of the jump.
    CHECK(different(round, picture(domain, coloured(surface("upper"), linear))) > 15);
    const Image flat = picture(domain, coloured(slice("upper"), cyclic));
    // In the cell with the vortex a phase has no shorter way round.
    CHECK(different(flat, picture(domain, coloured(slice("lower"), cyclic))) <= 20);
    CHECK(different(flat, picture(domain, coloured(slice("upper"), linear))) > 40);
  }
}

TEST_CASE("in cells of an unstructured mesh, too") {
  const FakeMesh mesh = FakeCubes(8, FakeCubes::Made::tetrahedra).mesh();
  const auto image = [&](double (*phase)(const Place&), const std::string& scale) {
    const FakeLists lists(mesh, 3, std::vector<int>(mesh.cells.size(), 0), 1, phase, phase);
    const std::string layer = "slice: {variable: n, axis: z, position: 0.1}, camera: {view: [0, 0, -1]}";
    return run_lists(render_kind(), coloured(layer, scale), lists).images.begin()->second;
  };
  CHECK(different(image(upper, cyclic), image(lower, cyclic)) <= 40);
  CHECK(different(image(upper, cyclic), image(upper, linear)) > 100);
}

TEST_CASE("the same bytes for every division") {
  MpiCommunicator world(test_ranks());
  const FakeDomain domain = cube(false);
  const std::string yaml = coloured(
      "isosurface: {variable: radius, values: [0.4, 0.7], colour_by: lower}, slice: {variable: upper, axis: z}",
      cyclic);
  const Image alone = picture(domain, yaml);
  const auto all =
      run_analysis(render_kind(), yaml, domain, random_division(domain.mesh().cells, 7, 3), world, {.ghosts = 1});
  if (world.rank() == 0) CHECK(all.images.begin()->second.rgba == alone.rgba);
}

TEST_CASE("what cannot go round is refused") {
  const auto refusal = [](const std::string& options) {
    const FakeDomain domain = cube(false);
    return message_of([&] {
      static_cast<void>(
          render_kind().create(fake_settings(render_kind(), "{" + options + "}", domain.metadata), domain.metadata));
    });
  };
  CHECK(contains(refusal("slice: {variable: upper, axis: z}, scale: cyclic"), "without the ends of a range"));
  CHECK(contains(refusal("slice: {variable: upper, axis: z}, scale: cyclic, range: running"), "without the ends"));
  CHECK(contains(refusal("volume: {variable: upper, opacity: [0, 1]}, " + cyclic), "opacities do not go round"));
}
