// The module as a plug-in: its kinds, and how it registers them where some exist already.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

#include "session/opening/modules.hpp"
#include "sidestream/extend/registry.hpp"

using namespace sidestream;

TEST_CASE("the module has the kinds that the build says it has") {
  std::set<std::string> said;
  for (const ModuleKind& known : module_kinds()) {
    if (known.module == std::string("cosmology")) said.insert(known.kind);
  }
  Registry registry;
  add_modules({SIDESTREAM_COSMOLOGY_MODULE}, registry);
  std::set<std::string> found;
  for (const auto& [name, kind] : registry.analyses()) found.insert(name);
  CHECK(found == said);
  CHECK(found.size() == 5);
}

TEST_CASE("kinds of the program and of its plug-ins take precedence") {
  Registry registry;
  AnalysisKind mine;
  mine.name = "halos";
  mine.text = "The program's own.";
  registry.add(mine);
  add_modules({SIDESTREAM_COSMOLOGY_MODULE}, registry);
  CHECK(registry.analyses().at("halos").text == "The program's own.");
  CHECK(registry.analyses().contains("power_spectrum"));
}
