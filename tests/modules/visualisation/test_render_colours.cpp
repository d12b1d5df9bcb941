// Pictures show values in the colours of the map, for each kind of mesh and each source of colour.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "data/mesh_arrays.hpp"
#include "modules/visualisation/picture_colours.hpp"
#include "support/fake_lists.hpp"
#include "support/level_worlds.hpp"
#include "visualisation/kinds.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

constexpr double nearly = 4;  ///< of 255: the error from rounding in three pictures

using Draw = std::function<CapturedResults(const std::string& yaml)>;

/// A hilly surface. All of it is visible from above, and each place gets different light.
double hill(const Place& x) { return x[2] - 0.25 * std::sin(2 * x[0]) * std::cos(2 * x[1]); }
double line(const Place& x) { return x[1] - 0.05 * std::sin(2 * x[0]); }
double across(const Place& x) { return x[0]; }

/// A layer of a picture, and how it is coloured.
struct Shown {
  std::string kind, options;
  std::string colour_by;  ///< empty: the layer's own values
  double slack;           ///< tolerance as a fraction of the range, where values are constant in cells or averaged
};

Image draw(const Draw& run, const Shown& shown, const std::string& colours, const std::string& range) {
  const std::string options = colours.empty() ? shown.options : shown.options + ", " + colours;
  const CapturedResults results =
      run("{" + shown.kind + ": {" + options + "}, " + range + "colours: plasma, " + from_above + "}");
  REQUIRE(results.images.size() == 1);
  return results.images.begin()->second;
}

/// The image with one value in all pixels of the layer, for layers that cannot have one colour. These are not lit,
/// either.
Image as_if(const Image& image, std::uint8_t value) {
  Image all = image;
  for (std::size_t p = 0; p < all.rgba.size(); p += 4) {
    const bool background = all.rgba[p] == 255 && all.rgba[p + 1] == 0 && all.rgba[p + 2] == 255;
    if (!background) std::fill_n(&all.rgba[p], 3, value);
  }
  return all;
}

/// Draws in colours, grey and black, and compares. Values go from -1 to 1 along x unless `value` says otherwise.
PictureColours look(
    const Draw& run, const Shown& shown, const std::string& range = "range: [-1, 1], ",
    const std::function<double(double, double)>& fraction = [](double x, double) { return (x + 1) / 2; }) {
  const Image image = draw(run, shown, shown.colour_by.empty() ? "" : "colour_by: " + shown.colour_by, range);
  const bool lit = shown.kind != "slice";
  const Image grey = lit ? draw(run, shown, "colour: '#c0c0c0'", range) : as_if(image, 192);
  const Image black = lit ? draw(run, shown, "colour: black", range) : as_if(image, 0);
  return compare_colours(image, grey, black, "plasma", fraction, shown.slack);
}

void check_layers(const Draw& run, const std::vector<Shown>& layers) {
  for (const Shown& shown : layers) {
    CAPTURE(shown.kind);
    CAPTURE(shown.options);
    CAPTURE(shown.colour_by);
    const PictureColours found = look(run, shown);
    CHECK(found.covered > 40);
    CHECK(found.worst < nearly);
    CHECK(found.between > 60);
  }
}

/// The same fields on any mesh whose blocks are boxes. `place` gives the position of a point.
FakeDomain boxes(int dimensions, std::shared_ptr<const Geometry> geometry,
                 const std::function<Place(Centering, const Index3&)>& place) {
  constexpr Index n = 16;
  const auto ground = dimensions == 3 ? hill : line;
  std::vector<FakeField> fields;
  const auto add = [&](const char* name, double (*value)(const Place&), Centering centering) {
    fields.push_back(
        {name, [=](const Place&, const Index3& p, int) { return value(place(reduced(centering, dimensions), p)); },
         centering});
  };
  add("ground", ground, Centering::cell);
  add("ground_n", ground, Centering::node);
  add("across", across, Centering::cell);
  add("across_n", across, Centering::node);
  fields.push_back({"pair",
                    [=](const Place&, const Index3& p, int c) { return c == 0 ? 7 : place(Centering::cell, p)[0]; },
                    Centering::cell, 2});
  fields.push_back({"pos",
                    [=](const Place&, const Index3& p, int c) {
                      return place(nodes_of(dimensions), p)[static_cast<std::size_t>(c)];
                    },
                    Centering::node, dimensions});
  FakeDomain domain({{0, 0, 0}, {n, n, dimensions == 3 ? n : 1}}, geometry, std::move(fields), dimensions);
  if (geometry->axes() == nullptr) assign_role(domain.metadata, "grid", Role::coordinates, "pos");
  return domain;
}

Place moved(double x, double y, double z) {
  const double w = 0.1 * (1 - x * x) * (1 - y * y);
  return {x + w * std::sin(3 * y + z), y + w * std::cos(2 * z - x), z};
}

/// A mesh with nodes from -1 to 1 along each axis; `at` gives the coordinate of nodes 0 to 16.
FakeDomain boxes_of(const std::string& kind, int dimensions) {
  const auto even = [](Index i) { return -1 + static_cast<double>(i) / 8; };
  const auto uneven = [=](Index i) {
    return even(i) + 0.05 * std::sin(2 * std::acos(-1.0) * static_cast<double>(i) / 16);
  };
  std::shared_ptr<const Geometry> geometry;
  if (kind == "uniform") {
    geometry = std::make_shared<UniformGeometry>(std::array{-1.0, -1.0, -1.0}, std::array{0.125, 0.125, 0.125});
  } else if (kind == "rectilinear") {
    std::vector<double> nodes;
    for (Index i = 0; i <= 16; ++i) nodes.push_back(uneven(i));
    geometry = std::make_shared<RectilinearGeometry>(Index3{0, 0, 0}, std::array{nodes, nodes, nodes});
  } else {
    geometry = std::make_shared<ArrayGeometry>(MeshKind::curvilinear);
  }
  const auto node = [=](Index i, Index j, Index k) {
    if (kind == "uniform") return Place{even(i), even(j), dimensions == 3 ? even(k) : -1};
    if (kind == "rectilinear") return Place{uneven(i), uneven(j), dimensions == 3 ? uneven(k) : -1};
    return moved(even(i), even(j), dimensions == 3 ? even(k) : 0);
  };
  return boxes(dimensions, geometry, [=](Centering centering, const Index3& p) {
    if (centering != Centering::cell) return node(p[0], p[1], p[2]);
    Place middle{};
    for (Index c = 0; c < 8; ++c) {
      const Place x = node(p[0] + (c & 1), p[1] + (c >> 1 & 1), p[2] + (c >> 2));
      for (std::size_t d = 0; d < 3; ++d) middle[d] += x[d] / 8;
    }
    return middle;
  });
}

Draw drawn(const FakeDomain& domain) {
  return [&domain](const std::string& yaml) {
    return run_alone(render_kind(), yaml, domain, even_division(domain.mesh().cells, {2, 2, 1}), {.ghosts = 1});
  };
}

constexpr double cell = 0.04;  ///< half of one of 16 cells, as a fraction of the range

}  // namespace

TEST_CASE("colours on boxes in three dimensions") {
  for (const std::string kind : {"uniform", "rectilinear", "curvilinear"}) {
    CAPTURE(kind);
    const FakeDomain domain = boxes_of(kind, 3);
    check_layers(drawn(domain),
                 {{"isosurface", "variable: ground, values: 0.1", "across", 0.002},
                  {"isosurface", "variable: ground, values: 0.1", "across_n", 0.01},
                  {"isosurface", "variable: ground, values: 0.1", "pair, colour_component: 1", 0.002},
                  {"isosurface", "variable: ground_n, values: [0.1]", "across_n", 0.002},
                  {"isosurface", "variable: ground_n, values: [-0.3, 0.1]", "across", cell},
                  {"slice", "variable: across, axis: z, position: 0", "", cell},
                  {"slice", "variable: across_n, normal: [0.1, 0.2, 1], origin: [0, 0, 0]", "", 0.002},
                  {"threshold", "variable: across, minimum: -0.5", "", cell},
                  {"threshold", "variable: ground, maximum: 0.1", "across", cell},
                  {"threshold", "variable: ground, maximum: 0.1", "across_n", cell},
                  {"clip", "variable: across, normal: [0.1, 0.2, 1], origin: [0, 0, 0], side: below", "", cell},
                  {"clip", "variable: ground, normal: [0.1, 0.2, 1], origin: [0, 0, 0]", "across_n", cell}});
  }
}

TEST_CASE("colours on boxes in two dimensions") {
  for (const std::string kind : {"uniform", "rectilinear", "curvilinear"}) {
    CAPTURE(kind);
    const FakeDomain domain = boxes_of(kind, 2);
    check_layers(drawn(domain), {{"isosurface", "variable: ground, values: 0.1", "across", 0.01},
                                 {"isosurface", "variable: ground_n, values: 0.1", "across_n", 0.01},
                                 {"threshold", "variable: ground, maximum: 0.1", "across", cell}});
  }
}

TEST_CASE("the colours of surfaces' values, and ranges that are found") {
  for (const std::string kind : {"uniform", "rectilinear"}) {
    CAPTURE(kind);
    const FakeDomain domain = boxes_of(kind, 3);
    const Draw run = drawn(domain);
    // Several values make several surfaces; the upper one hides the lower one.
    const Shown by_value{"isosurface", "variable: ground, values: [-0.5, 0.1]", "", 0};
    const auto constant = [](double low, double high) {
      return [=](double, double) { return (0.1 - low) / (high - low); };
    };
    CHECK(look(run, by_value, "range: [-1, 1], ", constant(-1, 1)).worst < nearly);
    CHECK(look(run, by_value, "", constant(-0.5, 0.1)).worst < nearly);
    // The surface ends at the middle of the last cells.
    const Shown by_field{"isosurface", "variable: ground, values: 0.1", "across", 0.01};
    const double end =
        kind == "uniform" ? 1 - 1.0 / 16 : (1 + 0.875 + 0.05 * std::sin(2 * std::acos(-1.0) * 15 / 16)) / 2;
    const auto found = [=](double x, double) { return (x + end) / (2 * end); };
    const PictureColours colours = look(run, by_field, "", found);
    CHECK(colours.worst < nearly);
    CHECK(colours.between > 60);
  }
}

TEST_CASE("colours in trees and on refinement levels") {
  const auto ground = [](const TreeCell&, const Place& x) { return hill(x); };
  TreeWorld world;
  world.origin = {-1, -1, -1};
  world.spacing = {2, 2, 2};
  world.refined = [](const TreeCell& c) { return c.level < (2 * c.index[0] < Index{1} << c.level ? 4 : 3); };
  world.value = ground;
  world.owner = [](const TreeCell& c, std::size_t blocks) { return static_cast<std::size_t>(c.index[1]) % blocks; };
  const TreeBlocks tree(world, 2);
  const std::vector<Shown> layers{{"isosurface", "variable: t, values: 0.1", "pair, colour_component: 0", 0.02},
                                  {"slice", "variable: pair, component: 0, axis: z", "", 0.07},
                                  {"threshold", "variable: t, maximum: 0.1", "pair, colour_component: 0", 0.07},
                                  {"clip", "variable: pair, component: 0, axis: z", "", 0.07}};
  MpiCommunicator self(MPI_COMM_SELF);
  SUBCASE("an octree") {
    check_layers(
        [&](const std::string& yaml) { return run_lists(render_kind(), yaml, tree.domain, tree.blocks, self); },
        layers);
  }
  SUBCASE("patches of cells and of nodes") {
    PatchWorld patches;
    patches.cells = {{0, 0, 0}, {8, 8, 8}};
    patches.origin = {-1, -1, -1};
    patches.spacing = {0.25, 0.25, 0.25};
    patches.refinement = {{2, 2, 2}};
    patches.patches = {{0, {{0, 0, 0}, {8, 8, 4}}}, {0, {{0, 0, 4}, {8, 8, 8}}}, {1, {{4, 4, 4}, {12, 12, 12}}}};
    patches.value = ground;
    const Draw run = [&](const std::string& yaml) { return run_patches(render_kind(), yaml, patches, self); };
    check_layers(run, layers);
    patches.nodes = true;
    check_layers(run, {layers[0], layers[2]});
  }
}

TEST_CASE("colours in lists of cells") {
  for (const FakeCubes::Made made : {FakeCubes::Made::hexahedra, FakeCubes::Made::tetrahedra}) {
    const FakeCubes cubes(12, made, 0.05);
    std::vector<int> block_of;
    for (std::size_t c = 0; c < cubes.mesh().cells.size(); ++c) block_of.push_back(static_cast<int>(c % 2));
    const FakeLists ground(cubes.mesh(), 3, block_of, 2, hill, across);
    check_layers([&](const std::string& yaml) { return run_lists(render_kind(), yaml, ground); },
                 {{"isosurface", "variable: n, values: 0.1", "c, colour_component: 0", 0.06},
                  {"slice", "variable: c, component: 0, axis: z, position: 0", "", 0.06},
                  {"threshold", "variable: n, maximum: 0.1", "c, colour_component: 0", 0.06},
                  {"clip", "variable: c, component: 0, axis: z, position: 0", "", 0.06}});
    const FakeLists plain(cubes.mesh(), 3, block_of, 2, across, hill);
    const Draw run = [&](const std::string& yaml) { return run_lists(render_kind(), yaml, plain); };
    check_layers(run, {{"slice", "variable: n, axis: z, position: 0", "", 0.002},
                       {"threshold", "variable: c, component: 0, maximum: 0.1", "n", 0.06}});
    const Shown seen{"isosurface", "variable: n, values: 0.1", "n", 0.001};
    const FakeLists level(cubes.mesh(), 3, block_of, 2, hill, hill);
    const PictureColours colours = look([&](const std::string& yaml) { return run_lists(render_kind(), yaml, level); },
                                        seen, "range: [-1, 1], ", [](double, double) { return 0.55; });
    CHECK(colours.covered > 40);
    CHECK(colours.worst < nearly);
  }
}

TEST_CASE("colours of particles") {
  ListDomain domain(MeshKind::points, 3);
  domain.add("pos", Type::float64, 3, Centering::node, Role::coordinates);
  domain.add("w", Type::float64, 2, Centering::node);
  std::vector<double> pos, w;
  for (int n = 0; n < 200; ++n) {
    const double x = -0.95 + 1.9 * n / 199, y = std::fmod(n * 0.618, 1.0) * 1.8 - 0.9;
    pos.insert(pos.end(), {x, y, 0.5 * std::sin(7.0 * n)});
    w.insert(w.end(), {-3, x});
  }
  std::vector<ListBlock> blocks(1);
  blocks[0].cells = blocks[0].points = 200;
  blocks[0].values = {{"pos", pos}, {"w", w}};
  MpiCommunicator self(MPI_COMM_SELF);
  check_layers([&](const std::string& yaml) { return run_lists(render_kind(), yaml, domain, blocks, self); },
               {{"particles", "mesh: m, radius: 0.06", "w, colour_component: 1", 0.035},
                {"particles", "mesh: m, pixels: 5", "w, colour_component: 1", 0.06}});
}
