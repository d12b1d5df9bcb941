// The texts of derived variables: the inputs that they need, and mistakes with their places.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "config/expressions/derivation_text.hpp"
#include "support.hpp"
#include "support/message_of.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

const char* const declared = R"(meshes:
  grid: {size: [4, 4, 4]}
  flat: {size: [4, 4]}
  line: {size: [4]}
  cloud: {type: points, coordinates: places}
variables:
  rho: {mesh: grid}
  my-field: {mesh: grid, type: int32}
  velocity: {mesh: grid, components: 3}
  pair: {mesh: grid, components: 2}
  nodes: {mesh: grid, centering: node}
  flow: {mesh: flat, components: 2}
  wind: {mesh: flat, components: 3}
  t: {mesh: line}
  places: {mesh: cloud, components: 3}
  mass: {mesh: cloud, centering: node}
parameters: {gamma: 1.4}
)";

Metadata with(const std::string& derived) { return read(std::string(declared) + derived).metadata; }

std::string mistake(const std::string& text) {
  return message_of([&] { static_cast<void>(with("derived:\n  it: {expression: \"" + text + "\"}\n")); });
}

int components(const std::string& text) {
  return with("derived:\n  it: {expression: \"" + text + "\"}\n").find_variable("it")->components;
}

}  // namespace

TEST_CASE("how many components there are") {
  CHECK(components("rho") == 1);
  CHECK(components("0.5 * rho * magnitude(velocity)^2") == 1);
  CHECK(components("rho * velocity") == 3);
  CHECK(components("velocity / magnitude(velocity)") == 3);
  CHECK(components("velocity.x + velocity[2]") == 1);
  CHECK(components("(rho * velocity).y") == 1);
  CHECK(components("sqrt(velocity).z") == 1);
  CHECK(components("gradient(rho)") == 3);
  CHECK(components("gradient(velocity)") == 9);
  CHECK(components("gradient(gradient(rho))[8]") == 1);
  CHECK(components("divergence(velocity)") == 1);
  CHECK(components("curl(flow)") == 1);
  CHECK(components("vorticity(wind)") == 3);
  CHECK(components("gradient(t)") == 1);
  CHECK(components("cross(velocity, gradient(rho))") == 3);
  CHECK(components("dot(pair, pair * 2)") == 1);
  CHECK(components("'my-field' * 2") == 1);
  CHECK(components("max(rho, 0, $gamma) + x + time + pi") == 1);
  CHECK(components("rho > 1 && rho < 2 ? rho : -rho") == 1);
  CHECK(components("mass * x") == 1);
  CHECK(components("not (rho > 1 or velocity.x < 0) and rho == 2") == 1);
  CHECK(components("curl(vector(rho, 0 * rho, 2))") == 3);
}

TEST_CASE("particles on the cells of a mesh") {
  const Metadata all = with(
      "derived:\n  dark: {expression: cic(mass), mesh: grid}\n  both: rho + 2 * tsc(places[1])\n"
      "  twice: dark + ngp(cloud)\n  slope: gradient(dark)\n");
  const auto id = [&](const char* name) { return all.find_variable(name)->id; };
  const Derivation& dark = *all.find_variable("dark")->derivation;
  CHECK(all.find_variable("dark")->mesh == all.find_mesh("grid")->id);
  CHECK(all.find_variable("dark")->centering == Centering::cell);
  CHECK(dark.deposits() == std::vector<Deposit>{{all.find_mesh("cloud")->id, id("mass"), 0, Assignment::cloud}});
  CHECK(dark.particles(all) == std::vector<std::int32_t>{id("places"), id("mass")});
  const Derivation& both = *all.find_variable("both")->derivation;
  CHECK(both.inputs() == std::vector<std::int32_t>{id("rho")});
  CHECK(both.deposits() == std::vector<Deposit>{{all.find_mesh("cloud")->id, id("places"), 1, Assignment::triangle}});
  const Derivation& twice = *all.find_variable("twice")->derivation;
  CHECK(twice.deposits().size() == 2);
  CHECK(twice.inputs() == dark.inputs());
  CHECK(all.find_variable("slope")->components == 3);
  const std::vector<Selected> inputs = inputs_of({Selected(id("slope"))}, all);
  CHECK(inputs.front().variable == dark.inputs().front());
  CHECK(inputs.front().halo == 1);
  CHECK(inputs.back().halo == 0);  // particles have none
  CHECK(has_deposits({Selected(id("rho")), Selected(id("slope"))}, all));
  CHECK(!has_deposits({Selected(id("rho")), Selected(id("mass"))}, all));
  const auto of = [&](const std::string& rest) {
    return message_of([&] { static_cast<void>(with("derived:\n  it: {expression: \"" + rest + "}\n")); });
  };
  const auto says = [&](const std::string& rest, const char* why) {
    const std::string message = of(rest);
    CHECK_MESSAGE(message.find(why) != std::string::npos, message);
  };
  says("cic(mass)\"", "of a derived variable with a name, its `mesh`");
  says("cic(cloud.x)\", mesh: grid", "where 'cic' goes on");
  says("cic(mass)\", mesh: flat", "of 3 dimensions on 'flat' of 2");
  says("cic(mass)\", mesh: cloud", "no variable in the cells of 'cloud'");
  says("cic(rho)\", mesh: grid", "'rho', which is no particles'");
  says("cic(nobody)\", mesh: grid", "in which 'cic' is of 'nobody'");
  says("cic(places)\", mesh: grid", "has 3 components");
  says("cic(places[3])\", mesh: grid", "component 3");
  says("cic(mass + 1)\", mesh: grid", "where 'cic' goes on");
  says("cic()\", mesh: grid", "in which 'cic' is of ''");
  says("nodes + cic(mass)\"", "expected the cells of a uniform mesh of one level");
  says("2 * rho\", mesh: grid", "remove it");
  says("flow.x + cic(mass)\", mesh: grid", "use variables on one mesh");
  says("cix(mass)\", mesh: grid", "did you mean");
}

TEST_CASE("what a derived variable is like") {
  const Metadata all = with(
      "derived:\n  speed: magnitude(velocity)\n  energy: {expression: rho * speed^2, type: float32, unit: J}\n"
      "  steep: gradient(nodes)\n");
  const Variable& energy = *all.find_variable("energy");
  CHECK(energy.derived());
  CHECK(energy.type == Type::float32);
  CHECK(energy.unit == "J");
  CHECK(energy.centering == Centering::cell);
  CHECK(energy.derivation->inputs() == std::vector<std::int32_t>{0, 2});
  CHECK(energy.derivation->reach() == 0);
  const Variable& steep = *all.find_variable("steep");
  CHECK(steep.centering == Centering::node);
  CHECK(steep.type == Type::float64);
  CHECK(steep.derivation->reach() == 1);
  CHECK(published_part(all).variables.size() + 3 == all.variables.size());
}

TEST_CASE("what must be there for it") {
  const Metadata all = with("derived:\n  twice: gradient(divergence(velocity))\n");
  Selected wanted(all.find_variable("twice")->id, 1, ValuesBracketed{{0.5}});
  const std::vector<Selected> inputs = inputs_of({wanted}, all);
  REQUIRE(inputs.size() == 1);
  CHECK(inputs[0].variable == all.find_variable("velocity")->id);
  CHECK(inputs[0].halo == 3);
  // Its range is unknown, so that no block is left out.
  CHECK(inputs[0].part.kind == Part::Kind::all);
}

TEST_CASE("a chain of derived variables has a step for each name, whatever it doubles") {
  constexpr int count = 2000;
  std::string text = "derived:\n  d0: rho\n";
  for (int n = 1; n <= count; ++n) {
    text += fmt::format("  d{}: d{} * 0.5 + d{} * 0.5\n", n, n - 1, n - 1);
  }
  text += fmt::format("  slope: gradient(d{}) + gradient(d{})\n", count, count);
  const Metadata metadata = with(text);
  const Derivation& last = *metadata.find_variable(fmt::format("d{}", count))->derivation;
  CHECK(last.steps().size() == 3);
  CHECK(last.inputs() == std::vector<std::int32_t>{metadata.find_variable("rho")->id});
  CHECK(last.reach() == 0);
  const std::vector<DerivationStep> all = all_steps(last, metadata);
  CHECK(all.size() == count + 1);
  for (std::size_t n = 1; n < all.size(); ++n) REQUIRE(all[n].arguments == std::vector<std::size_t>{n - 1, n - 1});
  const Derivation& slope = *metadata.find_variable("slope")->derivation;
  CHECK(slope.reach() == 1);
  CHECK(slope.has_stencils());
  CHECK(all_steps(slope, metadata).size() == count + 4);
}

TEST_CASE("mistakes have their place") {
  const auto says = [](const std::string& text, const std::string& part) {
    INFO(text, ": ", mistake(text));
    CHECK(contains(mistake(text), part));
  };
  // The text begins at column 21 of line 19.
  says("rho + veloctiy.x", "run.yaml:19:27: found the unknown variable 'veloctiy'");
  says("rho + veloctiy.x", "did you mean 'velocity'?");
  says("magnitud(velocity)", "run.yaml:19:21: found the unknown function 'magnitud'");
  says("magnitud(velocity)", "did you mean 'magnitude'?");
  says("sqr(rho)", "did you mean 'sqrt'?");
  says("rho + $gama", "$gama has no value");
  says("rho +", "which ends too early");
  says("", "which ends too early");
  says("(rho + 1", "run.yaml:19:21: found '(rho + 1'");
  says("magnitude(velocity", "is not closed; add a ')'");
  says("rho + 1)", "parenthesis is not expected");
  says("rho rho", "run.yaml:19:25");
  says("rho ** 2", "write '^' for powers");
  says("rho = 2", "write '==' to compare");
  says("rho # 2", "'# 2' cannot be read");
  says("rho, rho", "run.yaml:19:2");
  says("'my-field", "this quote is not closed");
  says("rho * 1e999", "does not fit in 64 bits");
  says("velocity.w", "run.yaml:19:29");
  says("velocity[3]", "component 3 is asked for of something that has 3; expected one from 0 to 2");
  says("velocity[1", "'[' is not followed by a whole number and ']'");
  says("rho.y", "component 1 is asked for of something that has 1");
  says("velocity + pair", "joins vectors of 3 and 2 components");
  says("rho + nodes", "run.yaml:19:27: found 'rho + nodes'");
  says("rho + nodes", "'nodes' has the centering node and 'rho' cell; values at different points are not interpolated");
  says("rho + t", "'t' lies on the mesh 'line' and 'rho' on 'grid'; use variables on one mesh");
  says("x + 1", "names no variable");
  says("gradient(x) * rho", "is of no variable");
  says("t + y", "the coordinate 'y' on the mesh 'line' of 1 dimension");
  says("gradient(mass)", "points of the mesh 'cloud', which is points, do not have");
  says("curl(pair)", "of 2 components on the mesh 'grid' of 3 dimensions, expected 3");
  says("curl(t)", "of 1 component");
  says("divergence(rho)", "expected 3");
  says("dot(velocity)", "'dot' has 1 argument, expected 2");
  says("magnitude()", "'magnitude' has 0 arguments, expected 1");
  says("cross(pair, pair)", "has vectors of 2 components, expected 3");
  says("dot(velocity, pair)", "has vectors of 3 and 2 components");
  says("vector(rho)", "'vector' has 1 argument, expected at least 2");
  says("vector(velocity, rho)", "joins something of 3 components, expected numbers");
  says("sqrt(rho, rho)", "too many arguments");
  says("rho ? 1", "'?' and ':' do not go together");
  says("sqrt()", "too few arguments");
  says("atan2(rho)", "too few arguments");
  says("rho, rho", "run.yaml:19:24: found 'rho, rho' for the derived variable 'it', in which a ',' is not expected");
  says("rho * * 2", "run.yaml:19:27: found 'rho * * 2' for the derived variable 'it', in which an operator is not");
  says("magnitud(nothing)", "found the unknown function 'magnitud'");
  std::string nested = "rho";
  for (int n = 0; n < 201; ++n) nested = "magnitude(" + nested + ")";
  says(nested, "nested more than 200 deep");
  says(std::string(5000, '('), "longer than 4096 characters");
}

TEST_CASE("on unstructured meshes derivatives are of values at points and lie in cells") {
  const std::string lists = R"(
meshes: {hull: {type: unstructured, coordinates: x, connectivity: links, offsets: ends, types: kinds}}
variables:
  x: {mesh: hull, components: 3}
  links: {mesh: hull, type: int64}
  ends: {mesh: hull, type: int64}
  kinds: {mesh: hull, type: uint8}
  p: {mesh: hull, centering: node}
  v: {mesh: hull, components: 3, centering: node}
  rho: {mesh: hull}
derived:
  it: )";
  const auto derive = [&](const std::string& text) { return read(lists + text + "\n").metadata; };
  const Metadata all = derive("rho * magnitude(curl(v * p)) + dot(gradient(p), gradient(2 * p))");
  const Variable& it = *all.find_variable("it");
  CHECK(it.centering == Centering::cell);
  CHECK(it.derivation->reach() == 0);
  CHECK(it.derivation->in_cells());
  CHECK(it.derivation->like(all) == all.find_variable("kinds")->id);
  CHECK(it.derivation->arrays(all).size() == 4);
  CHECK(!derive("2 * p").find_variable("it")->derivation->in_cells());
  const auto says = [&](const std::string& text, const std::string& part) {
    CAPTURE(text);
    CHECK(contains(message_of([&] { static_cast<void>(derive(text)); }), part));
  };
  says("gradient(rho)", "derivatives of values in cells of the mesh 'hull', which is unstructured");
  says("gradient(gradient(p))", "derivatives of values in cells");
  says("cell_mean(rho)", "means of values in cells of the mesh 'hull'");
  CHECK(derive("cell_mean(v) * rho").find_variable("it")->components == 3);
  says("p * magnitude(gradient(p))", "joins values at points and in cells of the mesh 'hull'");
  says("p + rho", "joins values at points and in cells");
  says("divergence(p)", "expected 3");
  CHECK(contains(message_of([&] { static_cast<void>(with("derived: {it: cell_mean(rho)}\n")); }),
                 "expected an unstructured mesh"));
}

TEST_CASE("names") {
  const auto mistake_in = [](const std::string& section) {
    return message_of([&] { static_cast<void>(with(section)); });
  };
  CHECK(contains(mistake_in("derived: {rho: rho * 2}\n"), "is the name of a published variable too"));
  CHECK(contains(mistake_in("derived: {a: b * 2, b: rho}\n"), "unknown variable 'b'"));
  CHECK(contains(mistake_in("derived: {a: {expr: rho}}\n"), "did you mean 'expression'?"));
  CHECK(contains(mistake_in("derived: [rho]\n"), "expected a map from names to expressions"));
  CHECK(contains(mistake_in("derived: {a: {expression: rho, type: int32}}\n"), "float64"));
  CHECK(with("derived: {not: rho * 2, it: not - 1}\n").find_variable("it")->derivation->steps().front().kind ==
        DerivationStep::Kind::derived);
  // A name hides what else it may mean.
  const Metadata all = with("derived: {x: rho * 2, it: x + 1}\n");
  CHECK(all.find_variable("it")->derivation->inputs() == std::vector<std::int32_t>{0});
}

TEST_CASE("expressions in place of names: of analyses, not of outputs, whose files have names") {
  Registry registry = fake_registry();
  Option variables{.name = "variables", .type = OptionType::variable, .list = true};
  registry.add(AnalysisKind{.name = "look", .text = "For the tests.", .options = {variables}, .create = {}});
  registry.add(WriterKind{"fields", "For the tests.", {variables}, {}});
  const auto read_tasks = [&](const std::string& tasks) {
    return read_config(*parse_document(std::string(declared) + tasks, "run.yaml"), registry, {}, {});
  };
  const Config config = read_tasks("analyses: [look: {variables: [rho * 2, velocity.x, rho * 2]}]\n");
  CHECK(config.metadata.find_variable("rho * 2")->derived());
  CHECK(config.metadata.find_variable("velocity.x")->derived());
  CHECK(config.tasks[0].settings.texts("variables")[1] == "velocity.x");
  const auto mistake_in = [&](const std::string& tasks) {
    return message_of([&] { static_cast<void>(read_tasks(tasks)); });
  };
  CHECK(contains(mistake_in("outputs: [fields: {variables: rho * 2}]\n"),
                 "run.yaml:18:31: found the expression 'rho * 2' for 'variables', expected a name; give it one under"));
  CHECK(
      contains(mistake_in("analyses: [look: {variables: rho * tow}]\n"), "run.yaml:18:36: found the unknown variable"));
  CHECK(contains(mistake_in("analyses: [look: {variables: velocty}]\n"), "did you mean 'velocity'?"));
}
