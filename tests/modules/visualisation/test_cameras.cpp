// Several cameras in one analysis: each has the picture that it would have in an analysis of its own, however blocks
// and servers are divided. Angles, paths, Cinema databases, and sentences for what is wrong.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "modules/visualisation/level_surfaces.hpp"
#include "support/fake_domain.hpp"
#include "support/message_of.hpp"
#include "support/ranks.hpp"
#include "visualisation/kinds.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

double hills(const std::array<double, 3>& x, const Index3&, int c) {
  return std::sin(5 * x[0] + c) * std::cos(4 * x[1]) + 0.7 * std::sin(3 * x[2] - x[0]);
}

const std::vector<FakeField> fields{{"hills", hills}, {"nodes", hills, Centering::node}};

const std::vector<std::string> scenes{
    "isosurface: {variable: hills, values: [0.1, 0.5]}, slice: {variable: nodes, axis: z}, size: [90, 70]",
    "isosurface: {variable: nodes, values: [0.2], colour_by: nodes, opacity: 0.5}, size: [80, 80], samples: 1, axes: true",
    "volume: {variable: hills, opacity: [0, 0, 0.1, 0.4]}, threshold: {variable: hills, minimum: 1}, size: [70, 90], "
    "range: running, domain: [-1, -1, -1, 1, 1.5, 1]"};

const std::vector<std::string> cameras{
    "view: [1, 2, -1], zoom: 1.2", "position: [3, 0.2, 0.4], focus: [0, 0, 0.1]",
    "phi: 200, theta: 35, projection: parallel",
    "path: [{time: 0, position: [0, 0, 5], up: [0, 1, 0]}, {time: 1, position: [4, 0, "
    "1], up: [0, 0, 1]}]"};

Image only(const CapturedResults& results) { return results.images.begin()->second; }
bool same(const Image& a, const Image& b) { return a.width == b.width && a.height == b.height && a.rgba == b.rgba; }

/// All cameras in one analysis, each with a file.
std::string together(const std::string& scene) {
  std::string list;
  for (std::size_t c = 0; c < cameras.size(); ++c) {
    list += fmt::format("{}{{{}, file: c{}.png}}", c > 0 ? ", " : "", cameras[c], c);
  }
  return "{" + scene + ", camera: [" + list + "]}";
}
std::string alone(const std::string& scene, std::size_t camera) {
  return "{" + scene + ", camera: {" + cameras[camera] + "}}";
}

const std::string plain = "size: [60, 60], caption: none, colour_bar: false";
const std::string slice = "slice: [{variable: hills, axis: z}, {variable: nodes, axis: x, position: 0.3}], ";

/// The picture of one camera at a time.
Image shown(const std::string& camera, const Iteration& iteration = {}) {
  const FakeDomain domain = fake_cube(8, -1, 1, fields);
  return only(run_alone(render_kind(), "{" + slice + plain + ", camera: {" + camera + "}}", domain,
                        {domain.mesh().cells}, {.iteration = iteration}));
}

std::string refusal(const std::string& options) {
  const FakeDomain domain = fake_cube(4, -1, 1, fields);
  return message_of([&] {
    static_cast<void>(render_kind().create(
        fake_settings(render_kind(), "{slice: {variable: hills, axis: z}, " + options + "}", domain.metadata),
        domain.metadata));
  });
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("each of several cameras has the picture of an analysis of its own") {
  MpiCommunicator world(test_ranks());
  const FakeDomain domain = fake_cube(11, -1, 1, fields);
  const Box& cells = domain.mesh().cells;
  const Iteration iteration{3, 30, 0.25};
  for (const std::string& scene : scenes) {
    CAPTURE(scene);
    std::vector<Image> singles;
    for (std::size_t c = 0; c < cameras.size(); ++c) {
      singles.push_back(only(run_alone(render_kind(), alone(scene, c), domain, {cells}, {.iteration = iteration})));
    }
    for (const Division& division : {even_division(cells, {2, 1, 3}), random_division(cells, 7, 5)}) {
      for (const std::size_t partials : {1, 2}) {
        const CapturedResults all = run_analysis(render_kind(), together(scene), domain, division, world,
                                                 {.ghosts = 1, .partials = partials, .iteration = iteration});
        if (world.rank() != 0) continue;
        REQUIRE(all.images.size() == cameras.size());
        for (std::size_t c = 0; c < cameras.size(); ++c) {
          CAPTURE(c);
          CHECK(same(all.images.at(fmt::format("c{}.png", c)), singles[c]));
        }
      }
    }
  }
}

TEST_CASE("several cameras see trees and patches as one does") {
  MpiCommunicator self(MPI_COMM_SELF), world(test_ranks());
  const AnalysisKind kind = render_kind();
  const std::string scene =
      "isosurface: {variable: t, values: [0.1]}, volume: {variable: t, opacity: [0, 0.3], values: [0, 0.2]}, size: [80, "
      "64]";
  const TreeWorld ball = ball_world(3, 3, 5);
  const TreeBlocks whole(ball, 1), parts(ball, 6);
  const CapturedResults trees = run_lists(kind, together(scene), parts.domain, parts.blocks, world, 2);
  const PatchWorld patches = patch_world(3);
  const CapturedResults levels = run_patches(kind, together(scene), patches, world, 2);
  for (std::size_t c = 0; c < cameras.size(); ++c) {
    CAPTURE(c);
    const Image tree = only(run_lists(kind, alone(scene, c), whole.domain, whole.blocks, self));
    const Image level = only(run_patches(kind, alone(scene, c), patches, self));
    if (world.rank() != 0) continue;
    CHECK(same(trees.images.at(fmt::format("c{}.png", c)), tree));
    CHECK(same(levels.images.at(fmt::format("c{}.png", c)), level));
  }
}

TEST_CASE("angles place the camera on a sphere about the domain") {
  const double reach = 0.94 * std::tan(15 * std::acos(-1.0) / 180);
  const double distance = std::sqrt(3.0) * std::sqrt(1 + reach * reach) / reach;
  struct Case {
    std::string angles;
    std::array<double, 3> direction, up;
  };
  const std::vector<Case> cases{{"phi: 0", {1, 0, 0}, {0, 0, 1}},
                                {"phi: 90", {0, 1, 0}, {0, 0, 1}},
                                {"phi: -90", {0, -1, 0}, {0, 0, 1}},
                                {"phi: 540, theta: 0", {-1, 0, 0}, {0, 0, 1}},
                                {"theta: 90", {0, 0, 1}, {-1, 0, 0}},
                                {"theta: -90", {0, 0, -1}, {1, 0, 0}},
                                {"phi: 90, theta: 90", {0, 0, 1}, {0, -1, 0}},
                                {"phi: 90, up: [0, 1, 0]", {1, 0, 0}, {0, 1, 0}},
                                {"phi: 0, up: [0, 1, 0]", {0, 0, 1}, {0, 1, 0}},
                                {"phi: 0, up: [1, 0, 0]", {0, 1, 0}, {1, 0, 0}}};
  for (const Case& one : cases) {
    CAPTURE(one.angles);
    const auto& d = one.direction;
    const std::string position = fmt::format("position: [{}, {}, {}], up: [{}, {}, {}]", d[0] * distance,
                                             d[1] * distance, d[2] * distance, one.up[0], one.up[1], one.up[2]);
    const Image placed = shown(position), turned = shown(one.angles);
    std::size_t different = 0;
    for (std::size_t n = 0; n < placed.rgba.size(); ++n) different += placed.rgba[n] != turned.rgba[n] ? 1 : 0;
    CHECK(different < 40);  // of 14400: the distance is rounded
  }
  CHECK(!same(shown("phi: 30, theta: 20"), shown("phi: 30, theta: 21")));
  // Once around is the same picture, bit for bit.
  CHECK(same(shown("phi: 30, theta: 20"), shown("phi: 390, theta: 20")));
}

TEST_CASE("a camera on a path is at its places at their times, and in between in between") {
  const std::string path =
      "path: [{time: 1, position: [4, 0, 0], focus: [0, 0, 0]}, {time: 3, position: [0, 4, 2], focus: [0, 0, 0.5]}]";
  const auto at = [&](const std::string& camera, std::int64_t cycle, double time) {
    return shown(camera, {cycle, cycle, time});
  };
  const Image first = shown("position: [4, 0, 0], focus: [0, 0, 0]");
  const Image last = shown("position: [0, 4, 2], focus: [0, 0, 0.5]");
  CHECK(same(at(path, 0, -7), first));
  CHECK(same(at(path, 0, 1), first));
  CHECK(same(at(path, 0, 2), shown("position: [2, 2, 1], focus: [0, 0, 0.25]")));
  CHECK(same(at(path, 0, 3), last));
  CHECK(same(at(path, 0, 99), last));
  const std::string turning = "theta: 20, path: [{cycle: 0, phi: 0}, {cycle: 100, phi: 360}, {cycle: 110, phi: 370}]";
  CHECK(same(at(turning, 25, 0), shown("phi: 90, theta: 20")));
  CHECK(same(at(turning, 100, 0), shown("phi: 0, theta: 20")));
  CHECK(same(at(turning, 105, 0), shown("phi: 5, theta: 20")));
  CHECK(same(at("view: [1, 0, 0], path: [{time: 0, zoom: 1}, {time: 2, zoom: 2}]", 0, 1),
             shown("view: [1, 0, 0], zoom: 1.5")));
  // A flight past the focus, very near.
  const std::string past = "path: [{time: 0, position: [-4, 0, 0]}, {time: 2, position: [4, 0, 0.001]}]";
  CHECK(at(past, 0, 1).rgba.size() == 60 * 60 * 4);
}

TEST_CASE("a Cinema database lists the pictures of all views") {
  MpiCommunicator world(test_ranks());
  const FakeDomain domain = fake_cube(6, -1, 1, fields);
  const auto rows = [&](const std::string& camera) {
    const CapturedResults results =
        run_analysis(render_kind(), "{" + slice + plain + ", file: a.cdb, camera: " + camera + "}", domain,
                     even_division(domain.mesh().cells, {1, 2, 2}), world, {.iteration = {2, 20, 0.5}});
    if (world.rank() == 0) CHECK(results.images.size() == results.tables.at("a.cdb").rows());
    return world.rank() == 0 ? results.tables.at("a.cdb") : Table();
  };
  const auto check = [&](const Table& table, const std::vector<std::string>& names,
                         const std::vector<std::vector<Table::Cell>>& expected) {
    if (world.rank() != 0) return;
    CHECK(table.names() == names);
    REQUIRE(table.rows() == expected.size());
    for (std::size_t r = 0; r < expected.size(); ++r) {
      for (std::size_t c = 0; c < names.size(); ++c) CHECK(table.at(r, c) == expected[r][c]);
    }
  };
  check(rows("{view: [1, 0, 0]}"), {"FILE"}, {{""}});
  check(rows("{phi: [0, 90], theta: [-45, 10]}"), {"phi", "theta", "FILE"},
        {{0.0, -45.0, "phi0_theta-45"},
         {90.0, -45.0, "phi90_theta-45"},
         {0.0, 10.0, "phi0_theta10"},
         {90.0, 10.0, "phi90_theta10"}});
  check(rows("[{name: top, view: [0, 0, -1]}, {view: [1, 0, 0]}]"), {"camera", "FILE"}, {{"top", "top"}, {"1", "1"}});
  check(rows("[{name: wide, phi: [0, 90]}, {name: near, phi: 0, zoom: 2}]"), {"camera", "phi", "theta", "FILE"},
        {{"wide", 0.0, 0.0, "wide_phi0"}, {"wide", 90.0, 0.0, "wide_phi90"}, {"near", 0.0, 0.0, "near"}});
  check(rows("{theta: [0, 30], path: [{time: 0, phi: 0}, {time: 1, phi: 90}]}"), {"phi", "theta", "FILE"},
        {{45.0, 0.0, "theta0"}, {45.0, 30.0, "theta30"}});
  const Table mixed = rows("[{name: turn, phi: [0, 60]}, {name: still, view: [1, 0, 0]}]");
  if (world.rank() == 0) {
    CHECK(mixed.names() == std::vector<std::string>{"camera", "phi", "theta", "FILE"});
    CHECK(mixed.at(1, 1) == Table::Cell(60.0));
    CHECK(std::isnan(std::get<double>(mixed.at(2, 1))));
  }
  check(rows("{path: [{time: 0, phi: 0}, {time: 1, phi: 90}]}"), {"phi", "theta", "FILE"}, {{45.0, 0.0, ""}});
}

TEST_CASE("what is wrong with cameras is said") {
  struct Case {
    std::string options, part;
  };
  const std::vector<Case> cases{
      {"camera: [{phi: 0}, {phi: 90}]", "found the file 'frame-{index:05}.png' for two cameras"},
      {"camera: [{phi: 0, file: 'a-{index}.png'}, {phi: 90, file: 'a-{index}.png'}]",
       "'a-{index}.png' for two cameras"},
      {"camera: {phi: [0, 90]}", "write for example `file: views.cdb`"},
      {"camera: {phi: 0, file: b.png}, file: a.cdb", "remove it"},
      {"file: 'a-{index}.cdb'", "remove the field"},
      {"camera: {phi: [0, 10, 0]}, file: a.cdb", "found one direction twice in 'phi'"},
      {"camera: {phi: [0, 360]}, file: a.cdb", "found one direction twice in 'phi'"},
      {"camera: {phi: [-90, 270]}, file: a.cdb", "found one direction twice in 'phi'"},
      {"camera: {path: [{time: 0, view: [1, 0, 0]}, {time: 2, view: [-1, 0, 0]}]}", "looks nowhere between 0 and 2"},
      {"camera: {path: [{time: 0, position: [9, 9, 9], focus: [0, 0, 0]}, {time: 2, position: [-3, -3, -3], focus: [0, 0, 0]}]}",
       "looks nowhere between 0 and 2"},
      {"camera: {file: a.cdb}", "found the Cinema database 'a.cdb' for one camera"},
      {"camera: {phi: 0, view: [1, 0, 0]}", "found both 'view' and the angles"},
      {"camera: {phi: 0, position: [1, 0, 0]}", "found both 'position' and the angles"},
      {"camera: [{name: a}, {name: a}], file: a.cdb", "found the camera 'a' twice"},
      {"camera: {name: a/b}, file: a.cdb", "found 'a/b' as the name of a camera"},
      {"camera: {theta: 91}", "'theta'"},
      {"camera: {phi: .nan}", "'phi'"},
      {"camera: {path: [{time: 0, phi: 0}]}", "'path'"},
      {"camera: {path: [{time: 0, phi: 0}, {time: 0, phi: 1}]}", "found 0 in a path after 0"},
      {"camera: {path: [{time: 0, phi: 0}, {cycle: 1, phi: 1}]}", "found 'time' and 'cycle' in one path"},
      {"camera: {path: [{phi: 0}, {phi: 1}]}", "both or neither of 'time' and 'cycle'"},
      {"camera: {path: [{time: 0, phi: 0}, {time: 1, theta: 1}]}", "with theta in a path that begins with phi"},
      {"camera: {path: [{time: 0}, {time: 1}]}", "without a position, direction, angle or zoom"},
      {"camera: {zoom: 2, path: [{time: 0, zoom: 1}, {time: 1, zoom: 2}]}",
       "found 'zoom' for the camera and in its path"},
      {"camera: {view: [1, 0, 0], path: [{time: 0, phi: 1}, {time: 1, phi: 2}]}", "found both 'view' and the angles"},
      {"camera: {path: [{time: 0, position: [0, 0, 0]}, {time: 1, position: [1, 0, 0]}]}", "so it looks nowhere"}};
  for (const Case& one : cases) {
    CAPTURE(one.options);
    const std::string said = refusal(one.options);
    CAPTURE(said);
    CHECK(has(said, one.part));
  }
  std::string many = "0";
  for (int n = 1; n < 5000; ++n) many += fmt::format(", {}", 0.05 * n);
  CHECK(has(refusal("camera: {phi: [" + many + "]}, file: a.cdb"), "more than 4096 views"));
}
