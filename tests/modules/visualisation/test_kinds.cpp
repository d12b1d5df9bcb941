// When a run loads the module.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "config/options/document.hpp"
#include "session/opening/modules.hpp"
#include "sidestream/extend/registry.hpp"

using namespace sidestream;

namespace {

const std::string module_file = SIDESTREAM_VISUALISATION_MODULE;
/// Not there: loading it fails.
const std::string other_module = "/none/sidestream_cosmology.so", foreign_module = "/none/sidestream_foreign.so";

/// The modules of these that a configuration loads.
std::vector<std::string> loaded(const std::string& text, std::vector<std::string> files) {
  ModuleFiles modules{std::move(files), {}};
  Registry registry;
  add_needed_modules(modules, *parse_document(text, "run.yaml", ""), registry);
  return modules.files;
}

}  // namespace

TEST_CASE("only modules with kinds that the configuration names are loaded") {
  const std::vector<std::string> both{other_module, module_file};
  CHECK(loaded("analyses:\n  - slice: {variable: t}\n", both) == std::vector{module_file});
  CHECK(loaded("parameters: {n: 2}\n", both).empty());
  CHECK(loaded("live: {requests: no}\n", both).empty());
  CHECK_THROWS_WITH_AS(loaded("analyses:\n  - halos: {variable: t}\n", both),
                       doctest::Contains("sidestream_cosmology.so"), Error);
}

TEST_CASE("people may ask for analyses of every module") {
  CHECK(loaded("live: {requests: yes}\n", {module_file, foreign_module}) == std::vector{module_file});
  CHECK_THROWS_WITH_AS(loaded("live: {requests: yes}\n", {other_module}), doctest::Contains("sidestream_cosmology.so"),
                       Error);
}

TEST_CASE("a kind that no module of ours has may be in any other one") {
  CHECK_THROWS_WITH_AS(loaded("analyses:\n  - own: {variable: t}\n", {module_file, foreign_module}),
                       doctest::Contains("foreign"), Error);
}
