// Further properties of a mesh: periodic axes, refinement, and fixed blocks.
#include "client/declarations.hpp"
#include "config/support.hpp"

using namespace sidestream;
using namespace sidestream::testing;

TEST_CASE("periodic, refinement and fixed") {
  const Config config = read(
      "meshes:\n  a: {size: [4, 4, 4], periodic: [x, z], refinement: [2, 4x2x1], fixed: true}\n"
      "  b: {size: [4, 4], refinement: [2, 3x1, 3x1x5], periodic: y}\n  c: {size: 4}\n");
  const auto& meshes = config.metadata.meshes;
  CHECK(meshes[0].periodic == std::array{true, false, true});
  CHECK(meshes[0].refinement == std::vector<Index3>{{2, 2, 2}, {4, 2, 1}});
  CHECK(meshes[0].fixed);
  CHECK(meshes[0].ratio_to(0) == Index3{1, 1, 1});
  CHECK(meshes[0].ratio_to(2) == Index3{8, 4, 2});
  CHECK(meshes[1].refinement ==
        std::vector<Index3>{{2, 2, 1}, {3, 1, 1}, {3, 1, 1}});  // an axis that the mesh does not use is not refined
  CHECK(meshes[1].periodic == std::array{false, true, false});
  CHECK(meshes[2].periodic == std::array{false, false, false});
  CHECK(meshes[2].refinement.empty());
  CHECK(!meshes[2].fixed);
}

TEST_CASE("errors in them name the place") {
  const auto wrong = [](const std::string& options, const std::string& place, const std::string& part) {
    check_bad({"meshes: {a: {size: [4, 4], " + options + "}}", place, part, ""});
  };
  wrong("periodic: [x, z]", "1:38", "found the axis z in 'periodic' of a mesh of 2 dimensions");
  wrong("periodic: true", "1:38", "found 'true' for 'periodic'");
  for (const char* ratio : {"0", "2x2x2x2", "two", "2x", "2x2x2x", "-2", "1025", "2x2x0", "''"}) {
    wrong(std::string("refinement: [2, ") + ratio + "]", "1:40", "in 'refinement', expected a number from 1 to 1024");
  }
}

TEST_CASE("two ratios are for two axes") {
  check_bad({"meshes: {a: {size: [4, 4, 4], refinement: 2x2}}", "1:43",
             "found '2x2' in 'refinement', expected a number from 1 to 1024 or one for each axis",
             "write '2' or '2x2x1'"});
}

TEST_CASE("a program and the file must agree about them; servers learn them from the program") {
  Declarations declared;
  Mesh mesh;
  mesh.name = "a";
  mesh.cells = {{0, 0, 0}, {4, 4, 4}};
  mesh.geometry = std::make_shared<UniformGeometry>(std::array{0.0, 0.0, 0.0}, std::array{1.0, 1.0, 1.0});
  mesh.periodic = {false, true, false};
  mesh.refinement = {{2, 2, 2}, {3, 1, 2}};
  mesh.fixed = true;
  declared.add_mesh(mesh);
  declared.add_variable("b", {});
  const Metadata decoded = Declarations::decode(declared.encode()).metadata;
  CHECK(decoded.meshes[0].periodic == mesh.periodic);
  CHECK(decoded.meshes[0].refinement == mesh.refinement);
  CHECK(decoded.meshes[0].fixed);
  CHECK(decoded.meshes[1].name == "b");
  CHECK(!decoded.meshes[1].fixed);
  Metadata one;
  one.meshes = {decoded.meshes[0]};
  const std::string same = "meshes: {a: {size: [4, 4, 4], periodic: y, refinement: [2, 3x1x2], fixed: true}}";
  CHECK(error_of(same, one) == "no error");
  for (const char* other :
       {"periodic: y", "periodic: y, refinement: [2, 3x1x2]", "refinement: [2, 3x1x2], fixed: true"}) {
    CHECK(error_of(std::string("meshes: {a: {size: [4, 4, 4], ") + other + "}}", one).find("declares differently") !=
          std::string::npos);
  }
}
