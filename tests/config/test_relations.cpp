// Relations between values of trees, in the variables section and in calls, and mistakes in them.
#include <doctest/doctest.h>

#include "config/expressions/relations.hpp"
#include "data/relation_text.hpp"
#include "sidestream/error.hpp"
#include "support.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

const std::string front =
    "meshes:\n  tree: {type: octree, size: 1, refined: split}\n  grid: {size: 4}\nvariables:\n"
    "  split: {mesh: tree, type: uint8}\n  density: {mesh: tree, parent: mean}\n  pressure: {mesh: tree}\n"
    "  momentum: {mesh: tree, components: 3}\n  other: {mesh: grid}\n";

Metadata with(const std::string& last) { return read(front + "  last: {" + last + "}\n").metadata; }

/// The message of the error, without the place.
std::string wrong(const std::string& last) {
  try {
    static_cast<void>(with(last));
  } catch (const Error& error) {
    CHECK(error.code() == Code::configuration);
    return error.what();
  }
  return {};
}

void check_wrong(const std::string& last, const std::vector<std::string>& parts) {
  const std::string message = wrong(last);
  CAPTURE(last);
  CAPTURE(message);
  CHECK(message.find(":10:3: ") != std::string::npos);
  for (const std::string& part : parts) CHECK(message.find(part) != std::string::npos);
}

}  // namespace

TEST_CASE("relations are kept as they were said") {
  const Metadata metadata =
      with("mesh: tree, parent: mean of density * last + 2 * pressure, equals: 0.5 * momentum.x^2 / density");
  CHECK(metadata.variables[1].relations.parent == "mean");
  const VariableRelations& last = metadata.variables.back().relations;
  CHECK(last.parent == "mean of density * last + 2 * pressure");
  CHECK(last.equals == "0.5 * momentum.x^2 / density");
  CHECK(last.face.empty());
  CHECK(metadata.variables.front().relations.empty());
  CHECK(named_in("last", last) == std::vector<std::string>{"density", "pressure", "momentum"});
  const Metadata faces = with("mesh: tree, face: high-x, opposite: density");
  CHECK(faces.variables.back().relations.face == "high-x");
  CHECK(faces.variables.back().relations.opposite == "density");
}

// A low face has no opposite one, since relations must not lead back.
TEST_CASE("zero divergence of a low face") {
  const std::string flat =
      "meshes: {tree: {type: octree, size: [1, 1], refined: split}}\nvariables:\n  split: {mesh: tree, type: uint8}\n"
      "  left: {mesh: tree, face: low-x}\n  right: {mesh: tree, face: high-x, opposite: left}\n";
  const Metadata metadata = read(flat + "  low: {mesh: tree, face: low-y, divergence_free: [left, right]}\n").metadata;
  const VariableRelations& low = metadata.variables.back().relations;
  CHECK(low.opposite.empty());
  CHECK(low.divergence_free == std::vector<std::string>{"left", "right"});
}

TEST_CASE("wrong relations") {
  check_wrong("mesh: tree, parent: average", {"found 'average'", "expected 'mean', 'sum', or 'mean of'"});
  check_wrong("mesh: tree, parent: mean of densty * last",
              {"name 'densty', expected a variable in cells of the octree 'tree': density, pressure, momentum, last",
               "did you mean 'density'?"});
  check_wrong("mesh: tree, parent: mean of density", {"must have 'last' in exactly one product"});
  check_wrong("mesh: tree, parent: mean of last * last", {"must have 'last' in exactly one product"});
  check_wrong("mesh: tree, parent: mean of density * pressure * last", {"at most one other variable"});
  check_wrong("mesh: tree, parent: mean of last / density", {"must have 'last' in exactly one product"});
  check_wrong("mesh: tree, equals: 2 * last", {"'equals' of 'last' names itself"});
  check_wrong("mesh: tree, equals: 2 * other", {"name 'other', expected a variable in cells"});
  check_wrong("mesh: tree, equals: 2 * split", {"name 'split', expected a variable in cells"});
  check_wrong("mesh: tree, equals: 2 * momentum", {"name all of 'momentum', which has 3 components"});
  check_wrong("mesh: tree, equals: '2 * momentum[3]'", {"name component 3 of 'momentum'"});
  check_wrong("mesh: tree, equals: 2 *",
              {"found '' in '2 *' from character 4 on", "a number or the name of a variable"});
  check_wrong("mesh: tree, equals: density pressure", {"found 'pressure' in", "from character 9 on", "+, -, * or /"});
  check_wrong("mesh: tree, equals: 2 * (density + pressure)", {"from character 5 on", "a number or the name of a var"});
  for (const std::string parts :
       {"(density + pressure)", "density - (density * pressure)", "(density / pressure) * density", "density^(2)",
        "density - -pressure", "density * -pressure"}) {
    check_wrong("mesh: tree, equals: " + parts, {"a number or the name of a var", ""});
  }
  check_wrong("mesh: tree, equals: 2 * momentum.w", {"found '.w' in", "a component: .x, .y or .z"});
  check_wrong("mesh: tree, equals: sqrt(density)", {"a number or the name of a variable"});
  check_wrong("mesh: tree, equals: 2^2 * density", {"found '^2 * density' in", "+, -, * or /"});
  check_wrong("mesh: tree, equals: density < 2", {"found '< 2' in", "+, -, * or /"});
  check_wrong("mesh: tree, equals: density / 0", {"a number that can be divided by"});
  check_wrong("mesh: tree, equals: density^9", {"a power from 1 to 8"});
  check_wrong("mesh: tree, opposite: density", {"without 'face'"});
  check_wrong("mesh: tree, face: low-y", {"lies on the face low-y, but the mesh 'tree' has 1 dimensions"});
  check_wrong("mesh: tree, face: low-x, opposite: density, divergence_free: [pressure]", {"names 1 variables"});
  check_wrong("mesh: grid, parent: mean", {"only of values in cells of octrees"});
  CHECK(wrong("mesh: tree, face: left-x").find("expected one of low-x, high-x") != std::string::npos);
}

TEST_CASE("relations must not lead back") {
  const std::string loop =
      "meshes: {tree: {type: octree, size: 1, refined: split}}\nvariables:\n  split: {mesh: tree, type: uint8}\n"
      "  a: {mesh: tree, equals: b}\n  b: {mesh: tree, equals: 2 * c}\n  c: {mesh: tree, parent: mean of a * c}\n";
  try {
    static_cast<void>(read(loop));
    FAIL("nothing was noticed");
  } catch (const Error& error) {
    CHECK(std::string(error.what()).find("the relations of 'a' lead back to it") != std::string::npos);
  }
}

TEST_CASE("the words are read") {
  const auto products = parse_products("-2 * 'a b'.y * c[4] / 4 / d^2 + 1e-3");
  REQUIRE(products.size() == 2);
  CHECK(products[0].coefficient == -0.5);
  CHECK(products[0].times == std::vector<RelationFactor>{{"a b", 1}, {"c", 4}});
  CHECK(products[0].over == std::vector<RelationFactor>{{"d", -1}, {"d", -1}});
  CHECK(products[1].coefficient == 1e-3);
  CHECK(products[1].times.empty());
  CHECK(parse_parent("sum").sum);
  CHECK(parse_face("high-z").axis == 2);
  CHECK(parse_face("high-z").high);
  CHECK(!parse_face("low-y").high);
}
