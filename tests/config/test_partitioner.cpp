// The partitioner of the configuration: a name, or a name with options.
#include "config/support.hpp"
#include "partition/kinds.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

const std::string rest = "meshes: {grid: {size: 8}}\nvariables: {t: {mesh: grid}}\n";

Config read_with_all(const std::string& placement) {
  Registry registry;
  register_partitioners(registry);
  return read_config(*parse_document("placement: {mode: nodes, partitioner: " + placement + "}\n" + rest, "run.yaml"),
                     registry, {{"n", std::int64_t{3}}}, {});
}

std::string wrong(const std::string& placement) {
  try {
    static_cast<void>(read_with_all(placement));
  } catch (const Error& error) {
    CHECK(error.code() == Code::configuration);
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("a name, with or without options, and what the options are if they are not given") {
  const auto stripe = [](const std::string& text) {
    const Config config = read_with_all(text);
    CHECK(config.opening.placement.partitioner == "stripe");
    return config.opening.placement.partitioner_settings.integer("width");
  };
  CHECK(stripe("stripe") == 1);
  CHECK(stripe("{stripe: {}}") == 1);
  CHECK(stripe("{stripe: }") == 1);
  CHECK(stripe("{stripe: {width: 4}}") == 4);
  CHECK(stripe("{stripe: {width: $n + 1}}") == 4);  // known at start, not at open
  CHECK(
      read_with_all("{isosurface: {variable: t, values: 1}}").opening.placement.partitioner_settings.text("variable") ==
      "t");
  Registry registry;
  register_partitioners(registry);
  const Config plain = read_config(*parse_document("placement: {mode: nodes}", "run.yaml"), registry, {}, {});
  CHECK(plain.opening.placement.partitioner == "block");
  // Opening a session needs only the name, because the kinds of plug-ins are not known yet.
  CHECK(read_opening(*parse_document("placement: {mode: nodes, partitioner: {mine: {a: 1}}}", "run.yaml"))
            .placement.partitioner == "mine");
}

TEST_CASE("errors in it name the place") {
  const auto says = [](const std::string& message, const std::string& place, const std::string& part) {
    CAPTURE(message);
    CHECK(message.rfind("run.yaml:" + place + ": ", 0) == 0);
    CHECK(message.find(part) != std::string::npos);
  };
  says(wrong("blok"), "1:39", "found the unknown partitioner 'blok', expected one of balanced, block, ");
  says(wrong("{blok: {}}"), "1:40", "did you mean 'block'?");
  says(wrong("{stripe: {with: 2}}"), "1:49", "unknown option 'with' of the partitioner 'stripe'");
  says(wrong("{stripe: 4}"), "1:48", "found '4' for the partitioner 'stripe', expected a map of options (width)");
  says(wrong("{stripe: {width: 0}}"), "1:56", "found '0' for 'width', expected a whole number at least 1");
  says(wrong("{isosurface: {variable: t}}"), "1:40", "found no 'values' for the partitioner 'isosurface'");
  says(wrong("{isosurface: {variable: p, values: 1}}"), "1:63", "expected a declared variable (t)");
  says(wrong("{isosurface: {variable: t, values: 1, component: 1}}"), "1:88", "found component 1 of the variable 't'");
  says(wrong("[block]"), "1:39", "found a list for 'partitioner'");
  says(wrong("{}"), "1:39", "found a map for 'partitioner'");
  says(wrong("{block: {}, stripe: {}}"), "1:51", "found 'stripe' beside 'block'");
}

TEST_CASE("the manual lists partitioners with their options") {
  Registry registry;
  register_partitioners(registry);
  const std::string manual = reference_manual(registry);
  for (const auto& [name, kind] : registry.partitioners()) {
    CHECK(manual.find("### " + name + "\n\n" + kind.text) != std::string::npos);
    for (const Option& option : kind.options) CHECK(manual.find("| `" + option.name + "` |") != std::string::npos);
  }
}
