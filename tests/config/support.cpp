#include "config/support.hpp"

namespace sidestream::testing {

namespace {

Option option(std::string name, OptionType type, std::string default_value = "") {
  Option made;
  made.name = std::move(name);
  made.type = type;
  made.default_value = std::move(default_value);
  made.text = "For the tests.";
  return made;
}

std::vector<Option> probe_options() {
  Option count = option("count", OptionType::integer, "4");
  count.minimum = 1;
  count.maximum = 100;
  Option size = option("size", OptionType::integer, "[64, 32]");
  size.list = true;
  size.minimum = 0;
  size.least_entries = 1;
  size.most_entries = 3;
  Option level = option("level", OptionType::real);
  level.minimum = 0;
  Option levels = option("levels", OptionType::real);
  levels.list = true;
  Option tone = option("tone", OptionType::choice, "warm");
  tone.choices = {"warm", "cold"};
  Option memory = option("memory", OptionType::bytes, "64 MiB");
  memory.minimum = 1024;
  Option variables = option("variables", OptionType::variable);
  variables.list = true;
  Option camera = option("camera", OptionType::map, "{}");
  Option direction = option("direction", OptionType::real, "[0, 0, 1]");
  direction.list = true;
  direction.least_entries = direction.most_entries = 3;
  camera.options = {direction, option("up", OptionType::text, "z")};
  Option sphere = option("sphere", OptionType::map), plane = option("plane", OptionType::map);
  Option radius = option("radius", OptionType::real);
  radius.required = true;
  sphere.options = {radius};
  plane.options = {option("offset", OptionType::real, "0")};
  Option shape = option("shape", OptionType::one_of);
  shape.options = {sphere, plane};
  Option shapes = shape;
  shapes.name = "shapes";
  shapes.list = true;
  return {count,
          size,
          level,
          levels,
          tone,
          memory,
          variables,
          camera,
          shape,
          shapes,
          option("text", OptionType::text),
          option("flag", OptionType::boolean, "false"),
          option("file", OptionType::file),
          option("mesh", OptionType::mesh),
          option("again", OptionType::schedule, "10 cycles")};
}

AnalysisKind analysis(const std::string& name, std::vector<Option> options) {
  return {name, "For the tests.", std::move(options),
          [](const Settings&, const Metadata&) { return std::unique_ptr<Task>(); }};
}

}  // namespace

Registry fake_registry() {
  Registry registry;
  registry.add(analysis("probe", probe_options()));
  Option variable = option("variable", OptionType::variable);
  variable.required = true;
  Option table = option("file", OptionType::file, "histogram.csv");
  table.choices = {".csv"};
  registry.add(analysis("histogram", {variable, table}));
  registry.add(analysis("volume", {}));
  registry.add(
      WriterKind{"hdf5",
                 "For the tests.",
                 {option("file", OptionType::file, "fields-{index:06}.h5"), option("level_times", OptionType::event)},
                 {}});
  ResultFormat tables, surfaces, arrays;
  tables.ending = ".csv";
  tables.text = "Tables.";
  tables.table = [](const std::string&, const Table&, bool, const std::string&) {};
  surfaces.ending = ".vtp";
  surfaces.text = "Surfaces.";
  surfaces.surface = [](const std::string&, const SurfaceStream&, const Iteration&, const std::string&) {};
  arrays.ending = ".dat";
  arrays.text = "Arrays.";
  arrays.data = [](const std::string&, std::span<const DataSet>, const Iteration&, const std::string&) {};
  registry.add(std::move(arrays));
  registry.add(std::move(tables));
  registry.add(std::move(surfaces));
  registry.add(PartitionerKind{"block", "Neighbours together.", {}, {}, {}, {}});
  return registry;
}

Parameters some_parameters() { return {{"n", std::int64_t{8}}, {"h", 0.5}, {"half", 2.5}}; }

Config read(const std::string& text, const Metadata& declared) {
  return read_config(*parse_document(text, "run.yaml"), fake_registry(), some_parameters(), declared);
}

Settings first_task(const std::string& text) { return read(text).tasks.at(0).settings; }

std::string probe(const std::string& options) {
  return "meshes: {grid: {size: [8, 8, 8]}}\n"
         "variables: {temperature: {mesh: grid}, pressure: {mesh: grid}}\n"
         "analyses:\n"
         "  - probe: {" +
         options + "}\n";
}

std::string error_of(const std::string& text, const Metadata& declared) {
  try {
    static_cast<void>(read(text, declared));
  } catch (const Error& error) {
    CHECK(error.code() == Code::configuration);
    return error.what();
  }
  return "no error";
}

void check_bad(const BadCase& bad, const Metadata& declared) {
  CAPTURE(bad.text);
  const std::string message = error_of(bad.text, declared);
  CAPTURE(message);
  const std::string place = "run.yaml:" + bad.place + ": ";
  CHECK(message.substr(0, place.size()) == place);
  CHECK(message.find(bad.problem) != std::string::npos);
  CHECK(message.find(bad.remedy) != std::string::npos);
  // One sentence on one line.
  CHECK(message.find('\n') == std::string::npos);
}

}  // namespace sidestream::testing
