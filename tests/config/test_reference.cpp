// The manual says everything that the declarations say.
#include "config/sections.hpp"
#include "config/support.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

/// Names of all options, nested ones as paths.
void collect(std::vector<std::string>& names, const std::vector<Option>& options, const std::string& path) {
  for (const Option& option : options) {
    names.push_back(path + option.name);
    collect(names, option.options, path + option.name + (option.list ? "[]." : "."));
  }
}

void check_texts(const std::vector<Option>& options) {
  for (const Option& option : options) {
    CAPTURE(option.name);
    CHECK(!option.text.empty());
    if (!option.text.empty()) CHECK(option.text.back() == '.');
    check_texts(option.options);
  }
}

}  // namespace

TEST_CASE("every section and every option is in the manual") {
  const Registry registry = fake_registry();
  const std::string manual = reference_manual(registry);
  std::vector<std::string> names;
  for (const auto& [name, kind] : registry.analyses()) collect(names, kind.options, "");
  for (const auto& [name, kind] : registry.writers()) collect(names, kind.options, "");
  for (const Section& section : sections()) {
    CHECK(manual.find("\n## " + section.name + "\n") != std::string::npos);
    const bool map = section.options.size() == 1 && section.options[0].type == OptionType::map;
    if (!map || section.options[0].name != section.name) collect(names, section.options, "");
  }
  for (const char* name : {"placement", "output", "live"}) collect(names, section(name).options[0].options, "");
  collect(names, task_options(), "");
  for (const std::string& name : names) {
    CAPTURE(name);
    CHECK(manual.find("\n| `" + name + "` |") != std::string::npos);
  }
  for (const char* name : {"### probe", "### hdf5", "| `.vtp` |", "| `block` |"}) {
    CAPTURE(name);
    CHECK(manual.find(name) != std::string::npos);
  }
}

TEST_CASE("types, defaults and ranges are in the manual") {
  const std::string manual = reference_manual(fake_registry());
  CHECK(manual.find("| `count` | whole number | `4` | from 1 to 100 | For the tests. |") != std::string::npos);
  CHECK(manual.find("| `size` | list of 1 to 3 whole numbers | `[64, 32]` | at least 0 | For the tests. |") !=
        std::string::npos);
  CHECK(manual.find("| `memory` | amount of memory | `64 MiB` | at least 1 KiB |") != std::string::npos);
  CHECK(manual.find("| `shapes[].sphere.radius` | number | **required** |") != std::string::npos);
  CHECK(manual.find("| `max_in_flight` | whole number | `8` | from 1 to 64 |") != std::string::npos);
}

TEST_CASE("every option of the sections has a text") {
  for (const Section& section : sections()) {
    CAPTURE(section.name);
    CHECK(!section.text.empty());
    check_texts(section.options);
  }
  check_texts(task_options());
}

TEST_CASE("the examples in the manual are right") {
  Registry registry = fake_registry();
  for (const Section& section : sections()) {
    CAPTURE(section.name);
    // Examples are parts of a configuration, so the things they refer to are added.
    std::string text = section.example + "\n";
    if (section.name == "plugins") continue;  // it names a file that does not exist
    if (section.name != "meshes") text += "meshes: {grid: {size: 4}}\n";
    if (section.name != "meshes" && section.name != "variables") {
      text += "variables: {temperature: {mesh: grid}, velocity: {mesh: grid, components: 3}, density: {mesh: grid}}\n";
    }
    if (section.name == "analyses" || section.name == "outputs") continue;  // kinds of the real registry
    const Parameters parameters{{"nx", std::int64_t{4}}, {"ny", std::int64_t{4}}, {"nz", std::int64_t{4}}, {"h", 1.0}};
    CHECK_NOTHROW(static_cast<void>(read_config(*parse_document(text, "example"), registry, parameters, {})));
  }
}
