// The sentence about a declaration that differs between two clients.
#include <doctest/doctest.h>

#include <cmath>

#include "session/opening/modules.hpp"

using namespace sidestream;

namespace {

Declarations declared(double spacing = 0.1, Type type = Type::float64) {
  Declarations all;
  all.set("n", std::int64_t{8});
  all.set("h", spacing);
  Mesh mesh;
  mesh.name = "grid";
  mesh.dimensions = 2;
  mesh.cells = {{0, 0, 0}, {8, 8, 1}};
  mesh.geometry = std::make_shared<UniformGeometry>(std::array{0.0, 0.0, 0.0}, std::array{spacing, 1.0, 1.0});
  all.add_mesh(std::move(mesh));
  Variable variable;
  variable.name = "t";
  variable.type = type;
  all.add_variable("grid", variable);
  return all;
}

}  // namespace

TEST_CASE("what differs, also in the last bit") {
  const Declarations mine = declared();
  CHECK(difference_of(mine, declared()) == "");
  CHECK(difference_of(mine, declared(std::nextafter(0.1, 1))) == "$h (0.10000000000000002, here 0.1)");
  Declarations others = declared(std::nextafter(0.1, 1));
  others.parameters = mine.parameters;
  CHECK(difference_of(mine, others) == "nodes of the mesh 'grid'");
  CHECK(difference_of(mine, declared(0.1, Type::int8)) == "type of the variable 't'");
  others = declared();
  others.parameters.erase("n");
  CHECK(difference_of(mine, others) == "$n (not set, here 8)");
  CHECK(difference_of(others, mine) == "$n (8, here not set)");
  others = declared();
  others.metadata.variables.clear();
  CHECK(difference_of(mine, others) == "the variable 't' (declared only here)");
  CHECK(difference_of(others, mine) == "the variable 't' (here not declared)");
}
