// Every type of option, in a kind that has them all.
#include "config/support.hpp"

using namespace sidestream;
using namespace sidestream::testing;

TEST_CASE("defaults") {
  const Settings settings = first_task(probe(""));
  CHECK(settings.integer("count") == 4);
  CHECK(settings.integers("size") == std::vector<std::int64_t>{64, 32});
  CHECK(settings.text("tone") == "warm");
  CHECK(settings.integer("memory") == 64 << 20);
  CHECK(!settings.boolean("flag"));
  CHECK(settings.text("again") == "10 cycles");
  CHECK(settings.has("count"));
  CHECK(!settings.given("count"));
  // A map with an empty default has the defaults of its options.
  CHECK(settings.has("camera"));
  CHECK(!settings.given("camera"));
  CHECK(settings.map("camera").reals("direction") == std::vector<double>{0, 0, 1});
  CHECK(settings.map("camera").text("up") == "z");
}

TEST_CASE("options without value") {
  const Settings settings = first_task(probe(""));
  for (const char* name : {"level", "levels", "variables", "shape", "shapes", "text", "file", "mesh"}) {
    CAPTURE(name);
    CHECK(!settings.has(name));
    CHECK(!settings.given(name));
  }
  CHECK(settings.text("text").empty());
  CHECK(settings.reals("levels").empty());
  CHECK(settings.ones_of("shapes").empty());
}

TEST_CASE("values of every type") {
  const Settings settings = first_task(
      probe("count: $n * 2, size: [1, $n, 1e2], level: $h, levels: [1, 2.5, -3e-1], tone: cold, memory: 1 MB, "
            "variables: [pressure, temperature], camera: {direction: [1, 0, $h], up: \"x\"}, shape: {sphere: "
            "{radius: 2}}, "
            "shapes: [{plane: {offset: 1}}, plane, {sphere: {radius: 3}}, {plane: }], text: 12, flag: true, "
            "file: 'a-{cycle:06}.csv', mesh: grid, again: 30 s"));
  CHECK(settings.given("count"));
  CHECK(settings.integer("count") == 16);
  CHECK(settings.integers("size") == std::vector<std::int64_t>{1, 8, 100});
  CHECK(settings.real("level") == 0.5);
  CHECK(settings.reals("levels") == std::vector<double>{1, 2.5, -0.3});
  CHECK(settings.text("tone") == "cold");
  CHECK(settings.integer("memory") == 1'000'000);
  CHECK(settings.texts("variables") == std::vector<std::string>{"pressure", "temperature"});
  CHECK(settings.map("camera").reals("direction") == std::vector<double>{1, 0, 0.5});
  CHECK(settings.map("camera").text("up") == "x");
  CHECK(settings.one_of("shape").first == "sphere");
  CHECK(settings.one_of("shape").second.real("radius") == 2);
  const auto shapes = settings.ones_of("shapes");
  REQUIRE(shapes.size() == 4);
  CHECK(shapes[0].second.real("offset") == 1);
  CHECK(shapes[1].first == "plane");
  CHECK(shapes[1].second.real("offset") == 0);
  CHECK(shapes[2].first == "sphere");
  CHECK(shapes[3].second.real("offset") == 0);
  CHECK(settings.text("text") == "12");
  CHECK(settings.boolean("flag"));
  CHECK(settings.text("file") == "a-{cycle:06}.csv");
  CHECK(settings.text("mesh") == "grid");
}

TEST_CASE("a single value counts as a list of one") {
  const Settings settings = first_task(probe("size: 7, variables: pressure, shapes: {plane: {}}"));
  CHECK(settings.integers("size") == std::vector<std::int64_t>{7});
  CHECK(settings.texts("variables") == std::vector<std::string>{"pressure"});
  CHECK(settings.ones_of("shapes").size() == 1);
}

TEST_CASE("places of options") {
  const Settings settings = first_task(probe("count: 5, camera: {up: y}"));
  CHECK(settings.where().text() == "run.yaml:4:5");
  CHECK(settings.where("count").text() == "run.yaml:4:20");
  CHECK(settings.where("tone").text() == "run.yaml:4:5");
  CHECK(settings.map("camera").where("up").text() == "run.yaml:4:36");
  CHECK_THROWS_WITH_AS(settings.fail("count", "too many"), "run.yaml:4:20: too many", Error);
  CHECK_THROWS_WITH_AS(settings.fail("tone", "too warm"), "run.yaml:4:5: too warm", Error);
}

TEST_CASE("wrong values") {
  const std::vector<BadCase> cases{
      {probe("cuont: 1"), "4:13",
       "found the unknown option 'cuont' of the analysis 'probe', expected one of name, every",
       "did you mean 'count'?"},
      {probe("zzz: 1"), "4:13", "found the unknown option 'zzz'", "correct or remove it"},
      {probe("count: abc"), "4:20", "where 'abc' cannot be read", "expected a number"},
      {probe("count: 2.5"), "4:20", "found '2.5' for 'count', expected a whole number from 1 to 100",
       "write it without fraction"},
      {probe("count: $half"), "4:20", "found '$half' for 'count', expected a whole number", "its value is 2.5"},
      {probe("count: $n / 3"), "4:20", "found '$n / 3' for 'count'", "change it to come out whole"},
      {probe("count: 0"), "4:20", "expected a whole number from 1 to 100", "change it"},
      {probe("count: 101"), "4:20", "found '101' for 'count'", "change it"},
      {probe("count: [1]"), "4:20", "found a list for 'count'", "write a single value"},
      {probe("count: {a: 1}"), "4:20", "found a map for 'count'", "write a single value"},
      {probe("count: "), "4:13", "found nothing for 'count'", "write one or remove the line"},
      {probe("count: $m"), "4:20", "$m has no value for 'count' (set are: $h, $half, $n)", "--set m=VALUE"},
      {probe("count: '2 + $m'"), "4:25", "$m has no value", "let the program set it"},
      {probe("size: []"), "4:19",
       "found 0 entries for 'size', expected a list of 1 to 3 whole numbers, each at least 0", "add the missing ones"},
      {probe("size: [1, 2, 3, 4]"), "4:19", "found 4 entries for 'size'", "remove some"},
      {probe("size: [1, -2]"), "4:23", "found '-2' for 'size', expected a whole number at least 0", "change it"},
      {probe("size: [1, [2]]"), "4:23", "found a list for 'size'", "write a single value"},
      {probe("level: -0.5"), "4:20", "expected a number at least 0", "change it"},
      {probe("level: .nan"), "4:20", "where '.nan' cannot be read", "expected a number"},
      {probe("levels: [1, x]"), "4:25", "where 'x' cannot be read", "expected a number"},
      {probe("tone: hot"), "4:19", "found 'hot' for 'tone', expected one of warm, cold", "write one of them"},
      {probe("tone: wram"), "4:19", "expected one of warm, cold", "did you mean 'warm'?"},
      {probe("memory: 4 parsecs"), "4:21", "found '4 parsecs' for 'memory'", "such as '64 MiB'"},
      {probe("memory: 1000"), "4:21", "expected an amount of memory at least 1 KiB", "change it"},
      {probe("variables: [pressure, temprature]"), "4:35",
       "found 'temprature' for 'variables', expected a declared variable (temperature, pressure)",
       "did you mean 'temperature'?"},
      {probe("variables: flux"), "4:24", "found 'flux' for 'variables'", "declare it under 'variables:'"},
      {probe("mesh: gird"), "4:19", "expected a declared mesh (grid)", "did you mean 'grid'?"},
      {probe("mesh: other"), "4:19", "expected a declared mesh (grid)", "declare it under 'meshes:'"},
      {probe("camera: [1]"), "4:21", "found a list for 'camera', expected a map of options", "direction, up"},
      {probe("camera: {direction: [1, 0]}"), "4:33", "found 2 entries for 'direction', expected a list of 3 numbers",
       "add the missing ones"},
      {probe("camera: {upp: 1}"), "4:22", "found the unknown option 'upp' of 'camera'", "did you mean 'up'?"},
      {probe("shape: {cube: {}}"), "4:21", "found 'cube' for 'shape', expected a map with one key out of sphere, plane",
       "write one of them"},
      {probe("shape: {sphere: {radius: 1}, plane: {}}"), "4:20", "found a map for 'shape'", "remove all but one"},
      {probe("shape: []"), "4:20", "found a list for 'shape'", "write one of them"},
      {probe("shape: {sphere: {}}"), "4:29", "found no 'radius' for 'sphere', expected a number", "add 'radius: ...'"},
      {probe("shape: shpere"), "4:20", "found 'shpere' for 'shape'", "did you mean 'sphere'?"},
      {probe("shapes: [plane, {plne: {}}]"), "4:30", "found 'plne' for 'shapes'", "did you mean 'plane'?"},
      {probe("flag: 1"), "4:19", "found '1' for 'flag', expected true or false", "write true or false"},
      {probe("text: [a]"), "4:19", "found a list for 'text', expected a text", "write a single value"},
      {probe("file: 'a-{step}.csv'"), "4:19", "found the file name 'a-{step}.csv', whose field '{step}' is not known",
       "expected {index}, {cycle}, {time} or {server}"},
      {probe("file: 'a-{cycle.csv'"), "4:19", "in which a '{' is never closed", "write '{{' for a brace"},
      {probe("file: ''"), "4:19", "found an empty file name", "expected one such as 'image-{index:05}.png'"},
      {probe("file: a.cvs"), "4:19",
       "found the file name 'a.cvs' with the ending '.cvs', expected one of .csv, .dat, .vtp", "did you mean '.csv'?"},
      {probe("file: a"), "4:19", "with the ending ''", "change the ending"},
      {probe("file: a.CSV"), "4:19",
       "found the file name 'a.CSV' with the ending '.CSV', expected one of .csv, .dat, .vtp", "did you mean '.csv'?"},
      {probe("flag: true}\n  - histogram: {variable: temperature, file: a.vtp"), "5:46",
       "found the file name 'a.vtp' with the ending '.vtp', expected one of .csv;", "change the ending"},
      {probe("flag: true}\n  - histogram: {variable: temperature, file: a.dat"), "5:46",
       "found the file name 'a.dat' with the ending '.dat', expected one of .csv;", "change the ending"},
      {probe("again: 0"), "4:20", "found '0' for 'again'", "write one"},
      {probe("again: 5 furlongs"), "4:20", "expected a schedule such as 5, '10 cycles'", "write one of these"},
  };
  for (const BadCase& bad : cases) check_bad(bad);
}
